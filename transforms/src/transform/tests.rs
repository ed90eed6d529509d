//! Transformations and their inverses.

use super::*;

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

/// Box and Cox: (y, λ, value, log derivative), in 50 digits.
#[test]
fn golden_values_of_box_cox() {
    let cases = [
        (0.2, 0.3, -1.276_553_790_933_301_2, 1.126_606_538_703_870_3),
        (4.8, 0.3, 2.003_100_346_808_244_7, -1.098_031_142_539_691_7),
        (0.07, 0.0, -2.659_260_036_932_778, 2.659_260_036_932_778),
        (7.0, 2.0, 24.0, 1.945_910_149_055_313_3),
    ];
    for (value, power, transformed, log_slope) in cases {
        let own = Transform::BoxCox { power };
        let errors = [
            own.apply(value) - transformed,
            own.log_slope(value) - log_slope,
        ];
        assert!(
            errors.iter().all(|error| error.abs() < 1e-14),
            "{errors:?} at {value}, {power}"
        );
    }
}

#[test]
fn limits_below_the_values_that_a_transformation_takes() {
    let (log, root) = (Transform::Log, Transform::BoxCox { power: 0.5 });
    assert_eq!((log.lowest(), root.lowest()), (f64::NEG_INFINITY, -2.0));
    assert_eq!(root.apply_or_limit(0.0), -2.0);
    assert!((root.apply_or_limit(1e-20) + 2.0).abs() < 1e-9);
    for own in [&log, &root, &Transform::BoxCox { power: 0.0 }] {
        assert_eq!(own.apply_or_limit(-3.0), f64::NEG_INFINITY);
        assert_eq!(own.apply_or_limit(2.5), own.apply(2.5));
        assert!(own.apply_or_limit(f64::NAN).is_nan());
        assert_eq!(own.invert(f64::NEG_INFINITY), 0.0);
    }
    let all = Transform::YeoJohnson { power: 1.4 };
    assert_eq!(
        (all.lowest(), all.apply_or_limit(-3.0)),
        (f64::NEG_INFINITY, all.apply(-3.0))
    );
}
