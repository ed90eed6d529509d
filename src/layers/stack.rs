//! Stacked layers: deep Gaussian processes.

use burn::{module::Module, tensor::Tensor};
use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

use super::{AnyLayer, LayerNoise};
use crate::{
    ops::NotPositiveDefinite,
    parameter::HostInteger,
    process::{AnyProcess, Marginals, Process},
    variational::Evaluation,
};

/// A deep Gaussian process, `f(x) = f_L(f_{L−1}(… f_1(x)))`, with a posterior for each layer.
///
/// Inference is doubly stochastic: every hidden layer is replaced by draws from its marginals at
/// the draws of the previous layer, `f_l = μ_l(f_{l−1}) + σ_l(f_{l−1})∘ε`, and the KL divergences
/// of all layers are added (H. Salimbeni and M. Deisenroth, *Doubly Stochastic Variational
/// Inference for Deep Gaussian Processes*, arXiv:1705.08933, section 3). Without hidden layers it
/// is just the output layer.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{
///     inducing::InducingPoints,
///     kernels::StationaryConfig,
///     layers::{GpLayer, LayerNoise, Stack},
///     means::ZeroMean,
///     ops::{Jitter, Stationary},
///     process::{CovarianceShape, VariationalGaussian},
///     variational::Whitened,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let layer = |functions| {
///     let kernel = StationaryConfig::new(Stationary::Matern52).init(2, &device);
///     let points = Tensor::from_data([[0.0, 0.0], [1.0, 1.0]], &device);
///     let distribution =
///         VariationalGaussian::standard(2, functions, CovarianceShape::Full, &device);
///     let jitter = Jitter::for_precision(DType::F32);
///     let posterior = Whitened::new(InducingPoints::new(points), distribution, jitter);
///     GpLayer::new(kernel, ZeroMean::new(functions), posterior)
/// };
/// let noise = LayerNoise { training: 4, ..LayerNoise::default() };
/// let stack = Stack::new(vec![layer(2)], layer(1), noise);
/// let values = stack.evaluate(Tensor::ones([5, 2], &device))?;
/// // Four draws of the hidden layer for each of five rows.
/// assert_eq!((values.samples, values.marginals.mean.dims()), (4, [20, 1]));
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct Stack {
    hidden: Vec<AnyLayer>,
    output: AnyLayer,
    /// The number of steps so far, which determines the noise.
    steps: HostInteger,
    #[module(skip)]
    noise: LayerNoise,
}

/// The output of the last layer.
#[derive(Clone, Debug)]
pub struct Propagation {
    /// The marginals of the last layer at `samples` draws of the previous layer, `[S·N, P]`. The
    /// first N rows belong to the first draw.
    pub marginals: Marginals,
    /// The number of draws per data point, S; one if there are no hidden layers.
    pub samples: usize,
    /// The KL divergences of all layers from their priors, summed, `[1]`.
    pub kl: Tensor<1>,
}

/// A conditioned [`Stack`].
pub struct StackProcess {
    hidden: Vec<Box<dyn Process + Send + Sync>>,
    output: Box<dyn Process + Send + Sync>,
    noise: LayerNoise,
}

impl Stack {
    /// Creates a stack from hidden layers, in order, and an output layer.
    ///
    /// # Panics
    ///
    /// If a number of draws is zero.
    #[track_caller]
    pub fn new(
        hidden: Vec<impl Into<AnyLayer>>,
        output: impl Into<AnyLayer>,
        noise: LayerNoise,
    ) -> Self {
        assert!(
            noise.training > 0 && noise.prediction > 0,
            "Stack: {} draws in training, {} in prediction; both must be at least 1",
            noise.training,
            noise.prediction
        );
        let output = output.into();
        let steps = HostInteger::new(0, &output.devices()[0]);
        Self {
            hidden: hidden.into_iter().map(Into::into).collect(),
            output,
            steps,
            noise,
        }
    }

    /// The hidden layers.
    pub fn hidden(&self) -> &[AnyLayer] {
        &self.hidden
    }

    /// The output layer.
    pub fn output(&self) -> &AnyLayer {
        &self.output
    }

    /// The number of draws from the hidden layers.
    pub fn noise(&self) -> LayerNoise {
        self.noise
    }

    /// The maximum number of rows a kernel evaluates per input of a training step. Memory is
    /// proportional to it.
    pub fn rows_per_input(&self) -> usize {
        let hidden = self.hidden.iter().map(|layer| layer.rows_per_input()).max();
        let drawn = hidden.map_or(1, |rows| rows * self.noise.training);
        drawn.max(self.output.rows_per_input())
    }

    /// The marginals of the output layer at `x`, `[N, D]`, and the KL divergence, with the noise of
    /// the current step.
    ///
    /// # Errors
    ///
    /// When a covariance cannot be factored.
    pub fn evaluate(&self, x: Tensor<2>) -> Result<Propagation, NotPositiveDefinite> {
        let samples = if self.hidden.is_empty() {
            1
        } else {
            self.noise.training
        };
        let mut random = self.noise.of_step(self.steps.get() as u64);
        let (mut values, mut kls) = (x, Vec::new());
        for (index, layer) in self.hidden.iter().enumerate() {
            let Evaluation { mut marginals, kl } = layer.evaluate(values)?;
            if index == 0 && samples > 1 {
                // All draws share the inputs of the first layer.
                marginals.mean = marginals.mean.repeat_dim(0, samples);
                marginals.variance = marginals.variance.repeat_dim(0, samples);
            }
            values = marginals.draw(&mut random); // [S·N, W]
            kls.push(kl);
        }
        let Evaluation { marginals, kl } = self.output.evaluate(values)?;
        let kl = (kls.into_iter()).fold(kl, |sum, term| sum + term);
        Ok(Propagation {
            marginals,
            samples,
            kl,
        })
    }

    /// The process for prediction, on the device without autodiff.
    ///
    /// # Errors
    ///
    /// When a covariance cannot be factored.
    pub fn condition(&self) -> Result<StackProcess, NotPositiveDefinite> {
        let hidden = self.hidden.iter().map(|layer| layer.condition());
        Ok(StackProcess {
            hidden: hidden.collect::<Result<_, _>>()?,
            output: self.output.condition()?,
            noise: self.noise,
        })
    }

    /// Updates the state of every layer after an optimizer step, and moves on to the noise of the
    /// next step.
    pub fn after_step(&mut self) {
        self.layers_mut().for_each(|layer| layer.after_step());
        self.steps = self.steps.plus(1);
    }

    /// Recomputes the state that the layers keep between steps.
    pub fn synchronize(&mut self) {
        self.layers_mut().for_each(|layer| layer.synchronize());
    }

    fn layers_mut(&mut self) -> impl Iterator<Item = &mut AnyLayer> {
        self.hidden.iter_mut().chain([&mut self.output])
    }
}

impl AnyProcess for StackProcess {
    /// One component per draw of the hidden layers, with noise that all rows share
    /// ([`LayerNoise`]). The mixture describes each row separately; [`draws`](Self::draws) gives
    /// joint samples.
    fn components(&self, x: Tensor<2>) -> Vec<Marginals> {
        let Some((first, rest)) = self.hidden.split_first() else {
            return vec![self.output.marginals(x)];
        };
        let first = first.marginals(x);
        let mut noise = self.noise.of_prediction();
        let draws = (0..self.noise.prediction).map(|draw| {
            let mut values = noise.values(draw, 0, first.clone());
            for (layer, process) in (1..).zip(rest) {
                values = noise.values(draw, layer, process.marginals(values));
            }
            self.output.marginals(values)
        });
        draws.collect()
    }

    fn rows_per_input(&self) -> usize {
        let hidden = self.hidden.iter().map(Process::rows_per_input);
        (hidden.max().unwrap_or(1)).max(Process::rows_per_input(&self.output))
    }

    fn layer_means(&self, x: Tensor<2>) -> Vec<Tensor<2>> {
        let mut means: Vec<Tensor<2>> = Vec::new();
        for layer in &self.hidden {
            let inputs = means.last().cloned().unwrap_or_else(|| x.clone());
            means.push(layer.marginals(inputs).mean);
        }
        let inputs = means.last().cloned().unwrap_or(x);
        means.push(self.output.marginals(inputs).mean);
        means
    }

    fn has_hidden_layers(&self) -> bool {
        !self.hidden.is_empty()
    }

    fn draws(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        if self.hidden.is_empty() {
            return self.output.sample(x, samples, seed);
        }
        let [rows, _] = x.dims();
        if rows == 0 || samples == 0 {
            let functions = (self.components(x.clone()).first())
                .map_or(0, |component| component.mean.dims()[1]);
            let options = (&x.device(), x.dtype());
            return Ok(Tensor::zeros([samples, functions, rows], options));
        }
        let mut seeds = ChaCha8Rng::seed_from_u64(seed);
        let draw_one = |_| {
            let mut values = x.clone();
            for layer in &self.hidden {
                let draw = layer
                    .sample(values, 1, seeds.next_u64())?
                    .squeeze_dim::<2>(0); // [W, N]
                values = draw.transpose();
            }
            self.output.sample(values, 1, seeds.next_u64())
        };
        let draws: Result<Vec<_>, _> = (0..samples).map(draw_one).collect();
        Ok(Tensor::cat(draws?, 0))
    }
}
