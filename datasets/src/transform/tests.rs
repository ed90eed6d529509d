//! Transformations and their inverses.

use super::*;

#[test]
fn transformations_of_columns() {
    let text = "a=b=yeo-johnson";
    let own: TransformOfColumn = text.parse().unwrap();
    assert_eq!(
        (own.column.as_str(), own.value),
        ("a=b", TransformName::YeoJohnson)
    );
    assert_eq!(own.to_string(), text);
    let error = |text: &str| text.parse::<TransformOfColumn>().unwrap_err().to_string();
    assert_eq!(
        error("price=sqrt"),
        "\"sqrt\" is not a transformation; choose log, box-cox, yeo-johnson, quantile or none"
    );
    assert!(error("price").contains("COLUMN=TRANSFORM"));
}

fn powers() -> Vec<Transform> {
    let each = [0.0, 1e-9, 0.3, 1.0, 1.7, 2.0];
    let both = each.map(|power| [Transform::BoxCox { power }, Transform::YeoJohnson { power }]);
    both.into_iter().flatten().chain([Transform::Log]).collect()
}

/// Points where all transformations, or those of all numbers, are defined.
fn points(transform: &Transform) -> &'static [f64] {
    match transform.name() {
        TransformName::Log | TransformName::BoxCox => &[1e-3, 0.4, 1.0, 2.5, 30.0],
        _ => &[-40.0, -1.0, -1e-9, 0.0, 1e-9, 0.7, 12.0],
    }
}

#[test]
fn golden_values() {
    // (y, λ, value, log derivative), in 50 digits.
    let cases = [
        (-1.5, 0.5, -1.9685647168069829, 0.45814536593707755),
        (-0.2, 2.0, -0.18232155679395462, -0.18232155679395462),
        (0.0, 1.3, 0.0, 0.0),
        (0.7, 0.0, 0.5306282510621704, -0.5306282510621704),
        (2.4, 1.6, 3.803394315472378, 0.7342652589732694),
        (-3.0, 0.0, -7.5, 1.3862943611198906),
    ];
    for (value, power, transformed, log_slope) in cases {
        let own = Transform::YeoJohnson { power };
        assert!(
            (own.apply(value) - transformed).abs() < 1e-14,
            "{value}, {power}"
        );
        assert!(
            (own.log_slope(value) - log_slope).abs() < 1e-14,
            "{value}, {power}"
        );
    }
}

#[test]
fn inverses_and_slopes() {
    let quantile = TransformName::Quantile.fit(&[3.0, -1.0, 3.0, 0.5, 7.0, 100.0]);
    for own in powers().into_iter().chain([quantile]) {
        for &value in points(&own) {
            let transformed = own.apply(value);
            // The power may lose as many digits as the value has before the point.
            let back = own.invert(transformed);
            assert!(
                (back - value).abs() <= 1e-11 * (1.0 + value.abs()),
                "{own}: {back}, {value}"
            );
            let step = 1e-6 * (value.abs() + 0.1);
            let ends = [value - step, value + step].map(|near| own.apply(near));
            let slope = (ends[1] - ends[0]) / (2.0 * step);
            let is_smooth = own.name() != TransformName::Quantile;
            // Central differences of step 1e-6 have about nine digits.
            assert!(
                !is_smooth || (own.log_slope(value).exp() / slope - 1.0).abs() < 1e-6,
                "{own} at {value}: {slope}"
            );
        }
        assert!(own.is_possible());
    }
}

#[test]
fn quantiles_are_shares() {
    let own = TransformName::Quantile.fit(&[3.0, -1.0, 3.0, 0.5]);
    // The two equal values share their ranks.
    let shares = [-1.0, 0.5, 3.0].map(|value| own.apply(value));
    assert_eq!(shares, [0.125, 0.375, 0.75]);
    // Between and beyond, lines go on.
    assert_eq!(own.apply(1.75), 0.5625);
    assert!((own.apply(5.5) - 1.125).abs() < 1e-15);
    assert_eq!(own.apply(-2.5), -0.125);
    let many: Vec<f64> = (0..5000).map(|row| f64::from(row).sqrt()).collect();
    let Transform::Quantile { values, .. } = TransformName::Quantile.fit(&many) else {
        panic!("not a quantile transformation");
    };
    assert_eq!(
        (values.len(), values[0], values[999]),
        (1000, 0.0, many[4999])
    );
    // The share of smaller values, up to half a row.
    let own = TransformName::Quantile.fit(&many);
    assert!((own.apply(many[1234]) - 1234.5 / 5000.0).abs() < 1e-3);
    assert_eq!(TransformName::Quantile.fit(&[2.0, 2.0]).apply(5.0), 3.5);
}

/// A power whose likelihood is higher than at all other powers, to the last digits that the likelihood has.
#[test]
fn powers_of_the_highest_likelihood() {
    // Quantiles of a normal distribution up to 1e-4, by bisection of
    // log(Φ(z)/Φ(−z)) ≈ 1.5976z + 0.07056z³ (Bowling et al., 2009).
    let normal = |share: f64| {
        let (mut low, mut high) = (-5.0f64, 5.0f64);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            match 1.5976 * middle + 0.07056 * middle.powi(3) < (share / (1.0 - share)).ln() {
                true => low = middle,
                false => high = middle,
            }
        }
        low
    };
    let z: Vec<f64> = (0..400)
        .map(|row| normal((f64::from(row) + 0.5) / 400.0))
        .collect();
    for power in [0.0, 0.4, 1.0, 1.5] {
        let box_cox = Transform::BoxCox { power };
        let values: Vec<f64> = z.iter().map(|z| box_cox.invert(6.0 + 1.5 * z)).collect();
        let Transform::BoxCox { power: found } = TransformName::BoxCox.fit(&values) else {
            panic!("not a Box-Cox transformation");
        };
        // Symmetric values keep the power, up to the approximation.
        assert!((found - power).abs() < 0.02, "{found}, {power}");
        let best = log_likelihood(&values, &Transform::BoxCox { power: found });
        for step in 0..=200 {
            let other = Transform::BoxCox {
                power: f64::from(step) / 100.0,
            };
            assert!(
                best >= log_likelihood(&values, &other) - 1e-6,
                "{other} beats {found}"
            );
        }
    }
    for power in [0.3, 1.0, 1.6] {
        let own = Transform::YeoJohnson { power };
        let values: Vec<f64> = z.iter().map(|z| own.invert(0.8 * z)).collect();
        let Transform::YeoJohnson { power: found } = TransformName::YeoJohnson.fit(&values) else {
            panic!("not a Yeo-Johnson transformation");
        };
        assert!((found - power).abs() < 0.02, "{found}, {power}");
    }
    // Constant values decide nothing, and no number is lost.
    assert!(TransformName::BoxCox.fit(&[3.0, 3.0]).is_possible());
}
