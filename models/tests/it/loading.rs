//! Saved models are read whatever their kernels and posteriors are, and in both precisions.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inference::ActionStart,
    kernels::{Kernel, KernelConfig, LinearConfig, StationaryConfig},
    likelihoods::GaussianConfig,
    means::MeanConfig,
    parameter::numbers,
    process::CovarianceShape,
    variational::{
        InverseFreeConfig, LSvgpConfig, OrthogonallyDecoupledConfig, Parameterization,
        PosteriorConfig, SolveGpConfig, UnwhitenedConfig, WhitenedConfig,
    },
};
use burn_gp_models::{
    ActionsConfig, ComputationAwareConfig, DeepGpConfig, Fit, FitModel, Fitted, InducingConfig,
    LayerConfig, ModelConfig, SvgpConfig,
};

burn_gp_core::kernel! {
    /// Brownian motion in both directions from zero, `½v·(|x| + |x′| − |x − x′|)`, for one input.
    pub struct Wandering, WanderingConfig = "wandering", "Brownian motion in both directions" {
        variance = 1.0,
    }
}

impl Kernel for Wandering {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        let (x1, x2) = (x1, x2.transpose());
        let sum = x1.clone().abs() + x2.clone().abs() - (x1 - x2).abs();
        sum * (self.variance.value() * 0.5).unsqueeze()
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        x.abs().squeeze_dim::<2>(2) * self.variance.value().unsqueeze()
    }
}

/// Kernels whose functions are zero at the origin.
fn vanishing_kernels() -> [KernelConfig; 3] {
    let linear = || KernelConfig::from(LinearConfig::default());
    let product = KernelConfig::from(StationaryConfig::rbf()).times(linear());
    [linear(), product, WanderingConfig::default().into()]
}

fn posteriors() -> Vec<PosteriorConfig> {
    let mut all: Vec<PosteriorConfig> = vec![
        LSvgpConfig::default().into(),
        InverseFreeConfig::default().into(),
    ];
    for covariance in [CovarianceShape::Full, CovarianceShape::Diagonal] {
        all.push(WhitenedConfig { covariance }.into());
        all.push(UnwhitenedConfig { covariance }.into());
        for parameterization in [Parameterization::Whitened, Parameterization::Unwhitened] {
            let solve = SolveGpConfig {
                covariance,
                parameterization,
            };
            let odvgp = OrthogonallyDecoupledConfig {
                covariance,
                parameterization,
                ..Default::default()
            };
            all.extend([solve.into(), odvgp.into()]);
        }
    }
    all
}

/// One layer with a shared and with a separate kernel, and two layers.
fn models(kernel: &KernelConfig, posterior: &PosteriorConfig) -> [ModelConfig; 3] {
    let orthogonal = if posterior.has_orthogonal_set() { 2 } else { 0 };
    let inducing = InducingConfig::new(4).with_orthogonal(orthogonal);
    let noise = || GaussianConfig::new(0.1);
    let svgp = SvgpConfig::new(kernel.clone(), noise())
        .with_posterior(posterior.clone())
        .with_inducing(inducing.clone());
    let layer = LayerConfig::new(kernel.clone())
        .with_posterior(posterior.clone())
        .with_inducing(inducing);
    let hidden = layer.clone().with_mean(MeanConfig::identity());
    [
        svgp.clone().into(),
        svgp.with_separate_kernels().into(),
        DeepGpConfig::new(layer, noise())
            .with_hidden(1, hidden)
            .into(),
    ]
}

fn fitted(config: &ModelConfig, dtype: DType) -> Fitted {
    let inputs: Vec<f64> = (0..20).map(|row| 0.3 + f64::from(row) / 4.0).collect();
    let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
    let fit = Fit::new().steps(3).on((&Device::default(), dtype));
    (config.fit(&inputs, &targets, &fit)).unwrap_or_else(|error| panic!("{config:?}: {error}"))
}

const NEW: [f64; 3] = [0.0, 2.2, 7.0];

/// Asserts that the model predicts the same after it was saved and loaded, and returns what was loaded.
#[track_caller]
fn assert_same(what: &str, model: &Fitted) -> Fitted {
    let folder = temp_dir::TempDir::new().unwrap();
    model.save(folder.path()).unwrap();
    let loaded = Fitted::load(folder.path(), &Device::default())
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let [expected, found] = [model, &loaded].map(|model| model.predict(NEW).unwrap());
    assert_eq!(expected.predictions(), found.predictions(), "{what}");
    loaded
}

#[test]
fn models_with_kernels_that_vanish_at_the_origin_are_loaded() {
    for kernel in vanishing_kernels() {
        for posterior in posteriors() {
            for config in models(&kernel, &posterior) {
                assert_same(&format!("{config:?}"), &fitted(&config, DType::F64));
            }
        }
        let actions = ActionsConfig::Blocks {
            count: 4,
            at_most: false,
            start: ActionStart::Eigenvectors,
            seed: 0,
            rows: Default::default(),
        };
        let config = ModelConfig::from(ComputationAwareConfig::new(kernel).with_actions(actions));
        assert_same(&format!("{config:?}"), &fitted(&config, DType::F64));
    }
}

/// The floor of pseudo-observations depends on the precision. A model keeps that of its training.
#[test]
fn pseudo_observations_are_loaded_in_another_precision() {
    let kernel = StationaryConfig::matern52().into();
    let posteriors: [PosteriorConfig; 2] = [
        LSvgpConfig::default().into(),
        InverseFreeConfig::default().into(),
    ];
    for (saved, other) in [(DType::F64, DType::F32), (DType::F32, DType::F64)] {
        for posterior in &posteriors {
            for config in models(&kernel, posterior) {
                let what = format!("{saved:?} as {other:?}, {config:?}");
                let model = fitted(&config, saved);
                let folder = temp_dir::TempDir::new().unwrap();
                model.save(folder.path()).unwrap();
                let loaded = Fitted::load(folder.path(), (&Device::default(), other))
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                let [expected, found] = [&model, &loaded].map(|gp| gp.predict(NEW).unwrap());
                assert_eq!(found.mean().dtype(), other, "{what}");
                let deviations = numbers(expected.standard_deviation());
                let means = numbers(expected.mean())
                    .into_iter()
                    .zip(numbers(found.mean()));
                for ((expected, found), deviation) in means.zip(deviations) {
                    // Rounding to single precision, times the condition number of the matrices.
                    let error = (expected - found).abs() / deviation;
                    assert!(
                        error < 2e-2,
                        "{what}: {found}, not {expected} ± {deviation}"
                    );
                }
                // It goes into a file of its new precision and comes back.
                let again = assert_same(&what, &loaded);
                assert_eq!(again.place().1, other, "{what}");
            }
        }
    }
}
