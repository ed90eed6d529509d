//! Fitted powers and quantiles.

use super::*;

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
