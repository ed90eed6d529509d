//! Random values and texts for every public function. Only documented panics may occur.

#[path = "../../tests/random_inputs/search.rs"]
mod search;

use burn_gp_transforms::{Transform, TransformName};
use proptest::prelude::*;
use search::{no_panic, search};

/// Values of every kind, often extreme ones.
fn number() -> impl Strategy<Value = f64> {
    const CORNERS: &[f64] = &[
        0.0,
        -0.0,
        1.0,
        1e-320,
        1e300,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    prop_oneof![
        2 => proptest::sample::select(CORNERS),
        1 => -2.0..2.0f64,
        1 => any::<f64>(),
    ]
}

fn name() -> impl Strategy<Value = TransformName> {
    proptest::sample::select(&TransformName::ALL[..])
}

#[test]
fn fitted_transformations() {
    let inputs = (name(), proptest::collection::vec(number(), 0..12), number());
    search(20_000, inputs, |(name, values, other)| {
        let fitted = no_panic(&["not all of which it takes"], || name.fit(&values))?;
        let Some(own) = fitted else { return Ok(()) };
        // Other values have no ascending quantiles.
        if values.iter().all(|value| value.is_finite()) {
            prop_assert!(own.is_possible(), "{own:?}");
        }
        for value in values.into_iter().chain([other]) {
            let transformed = no_panic(&[], || {
                let _ = (own.log_slope(value), own.invert(value));
                own.apply_or_limit(value)
            })?;
            prop_assert!(!value.is_nan() || transformed.is_some_and(f64::is_nan));
        }
        Ok(())
    });
}

/// Files may have any values; only possible ones are used.
#[test]
fn files() {
    let power = number().prop_map(|power| Transform::BoxCox { power });
    let quantiles = proptest::collection::vec((number(), number()), 0..4).prop_map(|points| {
        let (values, shares) = points.into_iter().unzip();
        Transform::Quantile { values, shares }
    });
    let inputs = (prop_oneof![power, quantiles], number());
    search(20_000, inputs, |(own, value)| {
        if no_panic(&[], || own.is_possible())? == Some(true) {
            no_panic(&[], || {
                (own.apply(value), own.invert(value), own.log_slope(value))
            })?;
            let text = serde_json::to_string(&own).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Transform>(&text).unwrap(), &own);
        }
        Ok(())
    });
}

#[test]
fn names() {
    search(2000, "[a-z-]{0,12}|log|box-cox", |text| {
        if let Some(Ok(name)) = no_panic(&[], || text.parse::<TransformName>())? {
            prop_assert_eq!(name.to_string(), text);
        }
        Ok(())
    });
}
