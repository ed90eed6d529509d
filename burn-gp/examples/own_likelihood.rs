//! A user-defined likelihood: Laplace noise, which is robust to outliers:
//! `cargo run --release -p burn-gp --example own_likelihood`

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use burn_gp::{
    likelihoods::{AnyLikelihood, Likelihood, LikelihoodDefinition, LikelihoodDescription},
    parameter::Positive,
    prelude::*,
    rand::{Rng, RngExt},
};
use serde::{Deserialize, Serialize};

/// `p(y | f) = exp(−|y − f|/b)/(2b)`
#[derive(Module, Debug)]
pub struct Laplace {
    scale: Positive,
}

impl Likelihood for Laplace {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("laplace")
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        let scale = self.scale.value().unsqueeze::<3>();
        let distance = (targets.unsqueeze::<3>() - function).abs();
        -distance / scale.clone() - (scale * 2.0).log()
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let variance = self.scale.value().square() * 2.0;
        let variance = variance.unsqueeze::<3>().expand(function.shape());
        (function, variance)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let scale = self.scale.to_vec()[0];
        let draw = |_| {
            let uniform: f64 = random.random_range(-0.5..0.5);
            -scale * uniform.signum() * (1.0 - 2.0 * uniform.abs()).ln()
        };
        let noise: Vec<f64> = (0..function.shape().num_elements()).map(draw).collect();
        let options = (&function.device(), function.dtype());
        let noise = Tensor::<1>::from_data(noise.as_slice(), options);
        noise.reshape(function.shape()) + function
    }
}

/// The configuration of the likelihood, as stored in model files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaplaceConfig {
    scale: f64,
}

impl LikelihoodDefinition for LaplaceConfig {
    fn set_for_data(&mut self, noise: f64, _classes: usize) {
        self.scale = (noise / 2.0).sqrt();
    }

    fn init(&self, options: TensorCreationOptions) -> AnyLikelihood {
        let scale = Positive::new(&[self.scale], options);
        Laplace { scale }.into()
    }
}

burn_gp::register!(Likelihood, "laplace", LaplaceConfig, "Laplace noise");

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Every seventh target is far too large.
    let x: Vec<f64> = (0..150).map(|i| f64::from(i) / 25.0).collect();
    let outlier = |index: usize| if index.is_multiple_of(7) { 4.0 } else { 0.0 };
    let rows = x.iter().enumerate();
    let y: Vec<f64> = rows.map(|(index, x)| x.sin() + outlier(index)).collect();

    let error = |likelihood: LikelihoodConfig| -> Result<f64, burn_gp::Error> {
        let gp = SvgpConfig::new(StationaryConfig::rbf(), likelihood)
            .with_inducing(16)
            .fit(&x, &y, &Fit::adam(0.05).steps(500).batch_size(150))?;
        let predicted = gp.predict(&x)?;
        let means = predicted.predictions().function_mean.iter();
        let errors = means.zip(&x).map(|(mean, x)| (mean - x.sin()).abs());
        Ok(errors.sum::<f64>() / x.len() as f64)
    };
    let gaussian = error(GaussianConfig::default().into())?;
    let laplace = error(LikelihoodConfig::from(LaplaceConfig { scale: 0.3 }))?;
    println!(
        "mean error of the function: Gaussian noise {gaussian:.3}, Laplace noise {laplace:.3}"
    );
    assert!(laplace < 0.5 * gaussian);
    Ok(())
}
