//! What the runs of an experiment with deep models have in common, and what differs with the number
//! of layers and the posterior.

use burn_gp::ops::Stationary;
use serde::Serialize;

use crate::arguments::{
    InitializerName, InversionName, LayerOptions, LikelihoodName, MeanName, ModelName,
    PosteriorName, PseudoObservationOptions, RunOptions, ScheduleName, name_of,
};
use crate::experiment::{CommonOptions, options::Place};
use crate::kernel_expression::KernelExpression;
use crate::parameter_options::ValuesOption;

/// Jitter of the covariances that are factored with some.
const JITTER: f64 = 1e-6;

/// The residual at which the inversions of R-SVGP stop.
const TOLERANCE: f64 = 1e-9;

/// The first variance of pseudo-observations in deep models. In single precision it is more.
///
/// The authors' program starts at 1e-6, which is where parameters end here.
const PSEUDO_NOISE: f64 = 2e-6;

/// Lengthscales of every layer of a deep model start here.
const LENGTHSCALE: f64 = 2.0;

/// Standard deviations of inducing variables, times those of the prior, at the start.
const DEVIATION: f64 = 0.01;

/// The depths of all experiments.
pub(super) const DEPTHS: [usize; 3] = [1, 2, 3];

/// What an experiment says of all its runs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Protocol {
    /// Inducing points of each layer.
    pub inducing: usize,
    /// Rows in a batch.
    pub batch_size: usize,
    /// Steps of Adam.
    pub steps: usize,
    /// Its learning rate.
    pub learning_rate: f64,
    /// Functions of a layer before the last; as many as inputs, at most 30, if absent.
    pub width: Option<usize>,
    /// Variance of the kernels before the last layer at the start.
    pub hidden_variance: f64,
    /// Steps without a lower loss after which the learning rate of a deep model goes down.
    pub plateau: Option<usize>,
    /// Noise variance at the start, with one layer.
    pub shallow_noise: f64,
    /// Noise variance at the start, with several.
    pub deep_noise: f64,
}

impl Protocol {
    /// The options of a run of `depth` layers with `posterior`.
    pub fn options(
        &self,
        common: &CommonOptions,
        place: Place,
        depth: usize,
        posterior: PosteriorName,
    ) -> RunOptions {
        let is_deep = depth > 1;
        let noise = if is_deep {
            self.deep_noise
        } else {
            self.shallow_noise
        };
        let single = posterior.single_layer();
        RunOptions {
            model: Some(ModelName::DeepGp),
            kernel: Some(KernelExpression::of_unit_lengthscale(
                Stationary::SquaredExponential,
            )),
            isotropic: Some(false),
            set: is_deep.then(|| first_lengthscales(depth)),
            mean: Some(MeanName::Zero),
            likelihood: Some(LikelihoodName::Gaussian),
            noise: Some(noise),
            inducing: Some(self.inducing),
            initializer: Some(InitializerName::KMeans),
            jitter: single.has_jitter().then_some(JITTER),
            pseudo_observations: pseudo_observations(is_deep, single),
            layers: self.layers(depth, posterior),
            data_dir: common.data_dir(),
            test_fraction: Some(0.1),
            steps: Some(self.steps),
            batch_size: Some(self.batch_size),
            learning_rate: Some(self.learning_rate),
            schedule: Some(ScheduleName::Constant),
            plateau: self.plateau.filter(|_| is_deep),
            dtype: Some(place.dtype),
            device: Some(place.device),
            ..RunOptions::default()
        }
    }

    fn layers(&self, depth: usize, posterior: PosteriorName) -> LayerOptions {
        let common = LayerOptions {
            posterior: Some(posterior),
            layers: Some(depth),
            ..LayerOptions::default()
        };
        match depth {
            1 => common,
            _ => LayerOptions {
                width: self.width,
                hidden_variance: Some(self.hidden_variance),
                hidden_deviation: Some(DEVIATION),
                output_deviation: Some(DEVIATION),
                samples: Some(1),
                ..common
            },
        }
    }
}

/// What l-svgp and inverse-free alone are told.
fn pseudo_observations(is_deep: bool, model: ModelName) -> PseudoObservationOptions {
    let is_relaxed = model == ModelName::InverseFree;
    PseudoObservationOptions {
        pseudo_noise: (is_deep && model.has_pseudo_observations()).then_some(PSEUDO_NOISE),
        inversion: is_relaxed.then_some(InversionName::LogLinear),
        inversion_tolerance: is_relaxed.then_some(TOLERANCE),
        ..PseudoObservationOptions::default()
    }
}

fn first_lengthscales(depth: usize) -> Vec<ValuesOption> {
    let hidden = (0..depth - 1).map(|layer| format!("hidden.{layer}"));
    let places = hidden.chain(["output".to_owned()]);
    places
        .map(|place| ValuesOption {
            path: format!("layers.{place}.kernel.lengthscale"),
            values: vec![LENGTHSCALE],
        })
        .collect()
}

/// What the paper calls a posterior; others have the names of the program.
pub(super) fn title(posterior: PosteriorName) -> String {
    match posterior {
        PosteriorName::Whitened => "W-SVGP".into(),
        PosteriorName::LSvgp => "L-SVGP".into(),
        PosteriorName::InverseFree => "R-SVGP".into(),
        other => name_of(other),
    }
}
