//! A user-defined posterior, a Gaussian with independent inducing variables, in any sparse model:
//! `cargo run --release -p burn-gp --example own_posterior`

use burn::module::Module;
use burn_gp::{
    inducing::AnyInducing,
    ops::{Jitter, NotPositiveDefinite},
    prelude::*,
    process::{CovarianceShape, VariationalGaussian},
    variational::{
        AnyPosterior, InducingGaussians, Parameterization, Posterior, PosteriorConfig,
        PosteriorDefinition, PosteriorInit, WhitenedConfig,
    },
};
use serde::{Deserialize, Serialize};

/// `q(v) = Π_m N(v_m | μ_m, s_m²)` over whitened inducing variables `v = L⁻¹u`. Its marginals, its KL
/// divergence and its predictions follow from the methods below.
#[derive(Module, Debug)]
pub struct MeanField {
    inducing: AnyInducing,
    distribution: VariationalGaussian,
    #[module(skip)]
    jitter: Jitter,
}

impl InducingGaussians for MeanField {
    fn sets(&self) -> Vec<(&AnyInducing, &VariationalGaussian)> {
        vec![(&self.inducing, &self.distribution)]
    }

    fn parameterization(&self) -> Parameterization {
        Parameterization::Whitened
    }

    fn jitter(&self) -> Jitter {
        self.jitter
    }
}

/// The configuration of the posterior, as stored in model files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeanFieldConfig {}

impl PosteriorDefinition for MeanFieldConfig {
    fn build(
        &self,
        sets: Vec<AnyInducing>,
        start: &PosteriorInit<'_>,
    ) -> Result<AnyPosterior, NotPositiveDefinite> {
        let (shape, parameterization) = (CovarianceShape::Diagonal, Parameterization::Whitened);
        let set = start
            .inducing_sets(sets, shape, parameterization)?
            .swap_remove(0);
        let (inducing, distribution) = set.into_parts();
        let jitter = start.jitter;
        let posterior = MeanField {
            inducing,
            distribution,
            jitter,
        };
        Ok(posterior.into())
    }
}

burn_gp::register!(
    Posterior,
    "mean-field",
    MeanFieldConfig,
    "Independent whitened inducing variables"
);

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 12.0).collect();
    let y: Vec<f64> = x.iter().map(|x| x.sin() + 0.1 * (37.0 * x).cos()).collect();
    let with = |posterior: PosteriorConfig| {
        SvgpConfig::new(StationaryConfig::rbf(), GaussianConfig::default())
            .with_inducing(12)
            .with_posterior(posterior)
            .fit(&x, &y, &Fit::adam(0.05).steps(200).batch_size(100))
    };
    let own = with(MeanFieldConfig {}.into())?;
    let covariance = CovarianceShape::Diagonal;
    let library = with(WhitenedConfig { covariance }.into())?;

    // The same posterior from the library takes the same steps.
    let (own, library) = (own.predict(&x)?, library.predict(&x)?);
    let gap = |a: Tensor<2>, b: Tensor<2>| (a - b).abs().max().into_scalar::<f64>();
    let means = gap(own.mean(), library.mean());
    let variances = gap(own.variance(), library.variance());
    println!("largest difference of means {means:.1e}, of variances {variances:.1e}");
    assert!(means < 1e-8 && variances < 1e-8);
    // With 12 inducing points, the small fast wave looks like noise.
    let means = own.predictions().mean.iter();
    let errors = means.zip(&x).map(|(mean, x)| (mean - x.sin()).abs());
    assert!(errors.fold(0.0, f64::max) < 0.2);
    Ok(())
}
