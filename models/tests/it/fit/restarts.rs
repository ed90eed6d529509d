//! Training from several initial values.

use burn_gp_core::parameter::{Bounds, ParameterConfig, Prior, Priors};

use super::*;

/// A sine with a period of six inputs, whose evidence has a second optimum: a long lengthscale, and all of the sine
/// in the noise.
fn sine() -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let noise = |x: f64| 0.3 * (37.0 * x).sin();
    let y = x.iter().map(|x| (PI * x / 3.0).sin() + noise(*x)).collect();
    (x, y)
}

/// A start from which training ends in that optimum.
fn far_start() -> ExactConfig {
    ExactConfig::new(StationaryConfig::rbf().with_lengthscale(3.0))
        .with_likelihood(GaussianConfig::new(3.0))
}

fn options() -> Fit {
    Fit::new()
        .default_priors(false)
        .on((&Device::default(), DType::F64))
}

#[test]
fn restarts_find_a_better_optimum() -> Result<(), Error> {
    let (x, y) = sine();
    let alone = far_start().fit(&x, &y, &options())?;
    assert!(alone.restart_losses().is_empty());
    let best = far_start().fit(&x, &y, &options().restarts(20).seed(1))?;
    let losses = best.restart_losses();
    assert_eq!(losses.len(), 21);
    let configured = losses[0].expect("a loss");
    let least = losses
        .iter()
        .flatten()
        .copied()
        .fold(f64::INFINITY, f64::min);
    assert!(least < configured - 0.1, "{losses:?}");
    // The returned model is the one with the smallest loss: its predictions follow the sine.
    let error = |fitted: &Fitted| -> Result<f64, Error> {
        let predicted = fitted.predict(&x)?;
        let mean = predicted.predictions().mean.iter();
        let sum: f64 = (mean.zip(&x))
            .map(|(mean, x)| (mean - (PI * x / 3.0).sin()).powi(2))
            .sum();
        Ok((sum / x.len() as f64).sqrt())
    };
    let (alone, best) = (error(&alone)?, error(&best)?);
    assert!(alone > 0.6 && best < 0.3, "errors {alone} and {best}");
    Ok(())
}

#[test]
fn the_seed_decides_about_restarts() -> Result<(), Error> {
    let (x, y) = sine();
    let losses = |seed| -> Result<Vec<Option<f64>>, Error> {
        let fit = options().steps(3).restarts(2).seed(seed);
        Ok(far_start().fit(&x, &y, &fit)?.restart_losses().to_vec())
    };
    assert_eq!(losses(1)?, losses(1)?);
    assert_ne!(losses(1)?, losses(2)?);
    Ok(())
}

/// Frozen parameters keep their values, and draws stay within bounds and follow priors. Without steps, the losses
/// are those of the initial values.
#[test]
fn restarts_respect_the_configuration() -> Result<(), Error> {
    let (x, y) = sine();
    let narrow = Prior::LogNormal {
        mean: 0.0,
        deviation: 1e-9,
    };
    let parameters = ParameterConfig {
        bounds: [("kernel.variance".to_owned(), Bounds::between(0.999, 1.001))].into(),
        priors: Priors([("kernel.lengthscale".to_owned(), narrow)].into()),
        frozen: vec!["likelihood".to_owned()],
        ..ParameterConfig::default()
    };
    let largest_change = |parameters: &ParameterConfig| -> Result<f64, Error> {
        let config = ExactConfig::new(StationaryConfig::rbf().with_lengthscale(1.0))
            .with_parameters(parameters.clone());
        let fitted = config.fit(&x, &y, &options().steps(0).restarts(5))?;
        let losses: Vec<f64> = fitted.restart_losses().iter().flatten().copied().collect();
        assert_eq!(losses.len(), 6);
        let changes = losses.iter().map(|loss| (loss - losses[0]).abs());
        Ok(changes.fold(0.0, f64::max))
    };
    // The variance can differ by a thousandth, which changes the losses by hundredths; free values change them by
    // much more.
    let (held, free) = (
        largest_change(&parameters)?,
        largest_change(&ParameterConfig::default())?,
    );
    assert!(
        held < 0.05 && free > 0.5,
        "changes of the loss by {held} and {free}"
    );
    Ok(())
}

#[test]
fn mini_batches_restart_too() -> Result<(), Error> {
    let fit = Fit::adam(0.05).steps(20).batch_size(10).restarts(2);
    let fitted = svgp(GaussianConfig::default()).fit(inputs(), targets(), &fit)?;
    let losses = fitted.restart_losses();
    assert_eq!(losses.iter().flatten().count(), 3, "{losses:?}");
    assert_ne!(losses[0], losses[1]);
    Ok(())
}
