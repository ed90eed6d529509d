//! Layers on layers: deep Gaussian processes.

use burn::{
    module::{Module, Param, ParamId},
    tensor::{Int, Tensor},
};
use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

use super::{Layer, LayerNoise, Predictive};
use crate::{
    ops::NotPositiveDefinite,
    process::{Marginals, Process},
    variational::Evaluation,
};

/// A deep Gaussian process, `f(x) = f_L(f_{L−1}(… f_1(x)))`, with a posterior for each layer.
///
/// Doubly stochastic: every hidden layer is replaced by draws from its marginals at the draws of the
/// layer before, `f_l = μ_l(f_{l−1}) + σ_l(f_{l−1})∘ε`, and the divergences of all layers are added
/// up (H. Salimbeni and M. Deisenroth, *Doubly Stochastic Variational Inference for Deep Gaussian
/// Processes*, arXiv:1705.08933, section 3). Without a hidden layer it is its output layer.
#[derive(Module, Debug)]
pub struct Stack<H: Module, O: Module> {
    hidden: Vec<H>,
    output: O,
    /// The steps made, `[1]`: they choose the noise.
    steps: Param<Tensor<1, Int>>,
    #[module(skip)]
    noise: LayerNoise,
}

/// What comes out of the last layer.
#[derive(Clone, Debug)]
pub struct Propagation {
    /// The marginals of the last layer at `samples` draws of the layer before it, `[S·N, P]`: those
    /// of all data at the first draw come first.
    pub marginals: Marginals,
    /// The draws of each datum, S; one where nothing is drawn.
    pub samples: usize,
    /// The sum of the layers' divergences from their priors, `[1]`.
    pub kl: Tensor<1>,
}

/// A conditioned [`Stack`].
#[derive(Clone, Debug)]
pub struct StackProcess<P, R> {
    hidden: Vec<P>,
    output: R,
    noise: LayerNoise,
}

impl<H: Layer, O: Layer> Stack<H, O> {
    /// The layers from the first to the one before the last, and the last.
    ///
    /// # Panics
    ///
    /// If there are to be no draws.
    #[track_caller]
    pub fn new(hidden: Vec<H>, output: O, noise: LayerNoise) -> Self {
        assert!(
            noise.training > 0 && noise.prediction > 0,
            "Stack: {} draws in training, {} in prediction; both are at least 1",
            noise.training,
            noise.prediction
        );
        let steps = Tensor::zeros([1], &output.devices()[0]);
        Self {
            hidden,
            output,
            steps: Param::initialized(ParamId::new(), steps),
            noise,
        }
    }

    /// The layers before the last.
    pub fn hidden(&self) -> &[H] {
        &self.hidden
    }

    /// The last layer.
    pub fn output(&self) -> &O {
        &self.output
    }

    /// How often layers are drawn from.
    pub fn noise(&self) -> LayerNoise {
        self.noise
    }

    /// How many rows a kernel sees at most for each input of a training step, of which memory grows
    /// with the number.
    pub fn rows_per_input(&self) -> usize {
        let hidden = self.hidden.iter().map(Layer::rows_per_input).max();
        let drawn = hidden.map_or(1, |rows| rows * self.noise.training);
        drawn.max(self.output.rows_per_input())
    }

    /// The last layer's marginals at `x`, `[N, D]`, and the divergence, with the noise of the
    /// current step.
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
        let step: i64 = self.steps.val().into_scalar();
        let mut random = self.noise.of_step(step as u64);
        let (mut values, mut kls) = (x, Vec::new());
        for (index, layer) in self.hidden.iter().enumerate() {
            let Evaluation { mut marginals, kl } = layer.evaluate(values)?;
            if index == 0 && samples > 1 {
                // The first layer's inputs are the same for all draws.
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
    pub fn condition(&self) -> Result<StackProcess<H::Process, O::Process>, NotPositiveDefinite> {
        let hidden = self.hidden.iter().map(Layer::condition);
        Ok(StackProcess {
            hidden: hidden.collect::<Result<_, _>>()?,
            output: self.output.condition()?,
            noise: self.noise,
        })
    }

    /// The stack after an optimizer's step: every layer brings up to date what it keeps, and the
    /// next step has noise of its own.
    pub fn after_step(self) -> Self {
        let hidden = self.hidden.into_iter().map(Layer::after_step);
        Self {
            hidden: hidden.collect(),
            output: self.output.after_step(),
            steps: self.steps.map(|steps| steps + 1),
            noise: self.noise,
        }
    }

    /// The stack with whatever its layers keep between steps up to date.
    pub fn refreshed(self) -> Self {
        let hidden = self.hidden.into_iter().map(Layer::refreshed);
        Self {
            hidden: hidden.collect(),
            output: self.output.refreshed(),
            ..self
        }
    }
}

impl<P: Process, R: Process> StackProcess<P, R> {
    /// The processes of the layers before the last.
    pub fn hidden(&self) -> &[P] {
        &self.hidden
    }

    /// The process of the last layer.
    pub fn output(&self) -> &R {
        &self.output
    }

    /// The means of every layer at `x`, `[N, D]`, each layer at the means of the one before: what a
    /// plot of the layers shows.
    pub fn layer_means(&self, x: Tensor<2>) -> Vec<Tensor<2>> {
        let mut means: Vec<Tensor<2>> = Vec::new();
        for layer in &self.hidden {
            let inputs = means.last().cloned().unwrap_or_else(|| x.clone());
            means.push(layer.marginals(inputs).mean);
        }
        let inputs = means.last().cloned().unwrap_or(x);
        means.push(self.output.marginals(inputs).mean);
        means
    }
}

impl<P: Process, R: Process> Predictive for StackProcess<P, R> {
    /// A component for each draw of the layers before the last, at noise that is the same for all
    /// rows ([`LayerNoise`]). Each row has its own mixture; that of several rows together is in
    /// [`draws`](Self::draws).
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
        (hidden.max().unwrap_or(1)).max(self.output.rows_per_input())
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
