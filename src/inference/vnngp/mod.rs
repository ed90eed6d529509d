//! Any likelihood with one latent function, by independent inducing values at all inputs on neighbors.

mod input_index;
mod mean_field;
mod prior;
mod process;

use std::sync::Arc;

use burn::{module::Module, tensor::Tensor};

pub use process::VnngpProcess;

use super::{
    VecchiaSettings, check_rows,
    parts::parts,
    vecchia::{Observations, indices},
};
use crate::{
    inducing::first_equal_rows,
    kernels::KernelModule,
    likelihoods::AnyLikelihood,
    means::AnyMean,
    ops::{Jitter, NotPositiveDefinite, numbers},
    parameter::{Part, Priors, Role, vector},
    process::{Marginals, WithMean},
    variational::Evaluation,
};
use mean_field::{MeanField, Terms};
use prior::{Prior, PriorCache};

/// The variational nearest-neighbor Gaussian process: any likelihood with one latent function, trained on mini-batches
/// (L. Wu, G. Pleiss and J. Cunningham, *Variational Nearest Neighbor Gaussian Process*, arXiv:2202.01694).
///
/// There is an inducing value at each of the M distinct training inputs, and these are independent in the posterior,
/// `q(u) = Π N(μ_j, s_j²)`. In the prior, each is conditioned on the nearest of those before it, as in
/// [`Vecchia`](super::Vecchia): `p(u_j | u_{n(j)}) = N(b_jᵀu_{n(j)}, F_j)`. All terms of the evidence lower bound are then
/// those of single rows:
///
/// ```text
/// ELBO = Σ_i E_{q(f_i)}[log p(y_i | f_i)] − Σ_j KL_j
/// KL_j = ½[log F_j − log s_j² − 1 + (s_j² + Σ_k b_jk²s_k² + (μ_j − Σ_k b_jk μ_k)²)/F_j]
/// ```
///
/// so that a batch costs time and memory proportional to its rows times m, after N·m³ once for b and F. The function at a
/// training input is its inducing value; rows with equal inputs share one.
///
/// # The kernel is given
///
/// b and F are constants: this objective does not train the kernel. Its gap to the log evidence,
/// `½(Σ_j log Λ_jj − log|Λ|)` for the precision Λ of the exact posterior, grows with the number of rows per
/// lengthscale, so its maximum is at much too short lengthscales, or at no function at all. Take the kernel, and the
/// parameters of the likelihood, from [`VecchiaLaplace`](super::VecchiaLaplace) on a sample of the rows.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor, TensorData};
/// use burn_gp_core::{
///     inference::{VecchiaSettings, Vnngp}, kernels::StationaryKernel,
///     likelihoods::LikelihoodConfig, means::ZeroMean, ops::{Jitter, Stationary}, process::Process,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let options = (&device, DType::F64);
/// let kernel = StationaryKernel::new(Stationary::Matern32, &[1.0], 1.0, options);
/// let likelihood = LikelihoodConfig::poisson().init(options);
/// let column = |values: Vec<f64>| {
///     Tensor::<2>::from_data(TensorData::new(values, [40, 1]), options)
/// };
/// let x = column((0..40).map(|row| f64::from(row) / 10.0).collect());
/// let (neighbors, jitter) = (VecchiaSettings::default(), Jitter::for_precision(DType::F64));
/// let model = Vnngp::new(kernel, ZeroMean::new(1), likelihood, x.clone(), neighbors, jitter);
/// let model = model.with_prior_moments()?;
/// let counts = column((0..40).map(|row| if row < 20 { 1.0 } else { 8.0 }).collect());
/// // The bound, and an estimate of it from half of the rows.
/// let bound: f64 = model.objective(x.clone(), counts.clone(), 40)?.into_scalar();
/// let half = |all: Tensor<2>| all.narrow(0, 0, 20);
/// let estimate: f64 = model.objective(half(x), half(counts), 40)?.into_scalar();
/// assert!(bound < 0.0 && estimate < 0.0);
/// let process = model.condition();
/// let new = Tensor::<2>::from_data([[0.55]], options);
/// assert_eq!(process.marginals(new).mean.dims(), [1, 1]);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct Vnngp<K: Module> {
    kernel: K,
    mean: AnyMean,
    likelihood: AnyLikelihood,
    posterior: Part<MeanField>,
    /// The number of training rows at each input with an inducing value, `[M]`.
    #[module(skip)]
    rows: Arc<[u32]>,
    #[module(skip)]
    neighbors: VecchiaSettings,
    #[module(skip)]
    jitter: Jitter,
    #[module(skip)]
    known: PriorCache,
    #[module(skip)]
    priors: Priors,
}

parts!(Vnngp<K: KernelModule>, AnyLikelihood);

impl<K: KernelModule> Vnngp<K> {
    /// Creates a model with the given prior and likelihood for training rows with inputs, `[N, D]`. The inducing values
    /// have the means of the prior and standard deviation one; start training from
    /// [`with_prior_moments`](Self::with_prior_moments). `jitter` is added to the variances of the function, relative to
    /// their mean; it never escalates.
    ///
    /// The order of the rows matters as for [`Vecchia`](super::Vecchia).
    ///
    /// # Panics
    ///
    /// If there are no inputs, the likelihood has several latent functions, or a number of neighbors is zero.
    #[track_caller]
    pub fn new(
        kernel: K,
        mean: impl Into<AnyMean>,
        likelihood: impl Into<AnyLikelihood>,
        inputs: Tensor<2>,
        neighbors: VecchiaSettings,
        jitter: Jitter,
    ) -> Self {
        let [rows, dimensions] = inputs.dims();
        assert!(
            rows > 0 && dimensions > 0,
            "Vnngp: inputs [{rows}, {dimensions}]; expected at least one row and one column"
        );
        let first = first_equal_rows(&numbers(inputs.clone().without_autodiff()), dimensions);
        let mut counts = vec![0; rows];
        first.iter().for_each(|&row| counts[row] += 1);
        let distinct = (0..rows).filter(|&row| counts[row] > 0);
        let distinct = indices(distinct, &inputs);
        counts.retain(|&count| count > 0);
        let inputs = inputs.select(0, distinct).detach();
        let parts = (mean.into(), likelihood.into());
        Self::at_distinct_inputs(kernel, parts, (inputs, counts), (neighbors, jitter))
    }

    /// The model with an inducing value at each of the inputs, `[M, D]`, and the number of training rows there.
    ///
    /// # Panics
    ///
    /// If there are no inputs, the likelihood has several latent functions, or a number of neighbors is zero.
    #[track_caller]
    pub fn at_distinct_inputs(
        kernel: K,
        (mean, likelihood): (AnyMean, AnyLikelihood),
        (inputs, counts): (Tensor<2>, Vec<u32>),
        (neighbors, jitter): (VecchiaSettings, Jitter),
    ) -> Self {
        let [rows, _] = inputs.dims();
        assert!(rows > 0, "Vnngp: no inputs; expected at least one");
        let posterior = MeanField::standard(inputs);
        let description = likelihood.description();
        assert!(
            description.latents == 1,
            "Vnngp: the {} likelihood has {} latent functions; expected one",
            description.name,
            description.latents
        );
        let VecchiaSettings {
            neighbors: training,
            prediction_neighbors: prediction,
        } = neighbors;
        assert!(
            training > 0 && prediction > 0,
            "Vnngp: {training} neighbors, {prediction} in predictions; expected at least one each"
        );
        Self {
            kernel,
            mean,
            likelihood,
            posterior: Part::new(Role::Posterior, posterior),
            rows: counts.into(),
            neighbors,
            jitter,
            known: PriorCache::default(),
            priors: Priors::default(),
        }
    }

    /// The same model with the means of the prior, and the standard deviations of independent values that are nearest
    /// to the prior in divergence.
    ///
    /// # Errors
    ///
    /// When an input is not finite, the covariance of the neighbors of a row cannot be factored, or rounding exceeds a
    /// conditional variance. The batch member is the row among the distinct ones.
    pub fn with_prior_moments(self) -> Result<Self, NotPositiveDefinite> {
        let deviations = self.prior()?.independent_deviations();
        let mean = self.posterior.mean().without_autodiff();
        let deviations = vector(&deviations, (&mean.device(), mean.dtype()));
        Ok(self.with_moments(mean.zeros_like(), deviations))
    }

    /// The same model with other means, less those of the prior, and standard deviations of the inducing values, `[M]`
    /// each.
    ///
    /// # Panics
    ///
    /// If these are not M.
    #[track_caller]
    pub fn with_moments(mut self, mean: Tensor<1>, deviation: Tensor<1>) -> Self {
        let ([rows], found) = (
            self.posterior.mean().dims(),
            [mean.dims(), deviation.dims()],
        );
        assert!(
            found == [[rows]; 2],
            "Vnngp::with_moments: means and standard deviations {found:?}; expected [{rows}]"
        );
        let posterior = self.posterior.into_inner();
        self.posterior = Part::new(Role::Posterior, posterior.with_moments(mean, deviation));
        self
    }

    /// The same model without training of the kernel, the mean function and the likelihood.
    pub fn with_frozen_hyperparameters(self) -> Self {
        Self {
            kernel: self.kernel.no_grad(),
            mean: self.mean.no_grad(),
            likelihood: self.likelihood.no_grad(),
            ..self
        }
    }

    /// The numbers of neighbors.
    pub fn neighbors(&self) -> VecchiaSettings {
        self.neighbors
    }

    /// The distinct inputs, `[M, D]`.
    pub fn inputs(&self) -> Tensor<2> {
        self.posterior.inputs()
    }

    /// The means, less those of the prior, and the standard deviations of the inducing values, `[M]` each.
    pub fn moments(&self) -> [Tensor<1>; 2] {
        [self.posterior.mean(), self.posterior.deviation()]
    }

    fn prior(&self) -> Result<Arc<Prior>, NotPositiveDefinite> {
        let inputs = self.posterior.inputs().without_autodiff();
        (self.known).prior(&self.kernel.valid(), inputs, self.neighbors, self.jitter)
    }

    /// KL_j of each inducing value, `[M]`; see the type.
    ///
    /// # Errors
    ///
    /// Same as [`with_prior_moments`](Self::with_prior_moments).
    pub fn divergences(&self) -> Result<Tensor<1>, NotPositiveDefinite> {
        let all: Vec<usize> = (0..self.rows.len()).collect();
        let prior = self.prior()?;
        Ok(self.posterior.terms(&prior.conditionals, &all).divergences)
    }

    /// The marginals of the function at training inputs, `[R, 1]` each, and the share of these rows in the divergence:
    /// KL_j, divided by the number of training rows with this input.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[R, D]`, of training rows
    ///
    /// # Errors
    ///
    /// Same as [`divergences`](Self::divergences).
    ///
    /// # Panics
    ///
    /// If there is no training row with an input.
    #[track_caller]
    pub fn evaluate(&self, inputs: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        let prior = self.prior()?;
        let places = prior.index.places(&inputs);
        let Terms {
            marginals: Marginals { mean, variance },
            divergences,
        } = self.posterior.terms(&prior.conditionals, &places);
        let share = |&place: &usize| f64::from(self.rows[place]).recip();
        let shares: Vec<f64> = places.iter().map(share).collect();
        let shares = vector(&shares, (&divergences.device(), divergences.dtype()));
        Ok(Evaluation {
            marginals: Marginals {
                mean: self.mean.add_to(mean, inputs),
                variance,
            },
            kl: (divergences * shares).sum(),
        })
    }

    /// The evidence lower bound of `data_count` training rows, estimated from R of them, `[1]`: N/R times the terms of
    /// these rows. It is unbiased if they are drawn uniformly, and the bound itself for all rows.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[R, D]`, `targets`: `[R, T]` for the T columns that the likelihood takes
    ///
    /// # Errors
    ///
    /// Same as [`divergences`](Self::divergences).
    ///
    /// # Panics
    ///
    /// If there is no training row with an input, or the likelihood takes another number of columns.
    #[track_caller]
    pub fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let [rows, _] = inputs.dims();
        let Evaluation { marginals, kl } = self.evaluate(inputs)?;
        let expected = self.likelihood.expected_log_density(targets, marginals);
        Ok((expected.sum() - kl) * (data_count as f64 / rows as f64))
    }

    /// The process given the inducing values, on the device without autodiff. [Likelihood
    /// predictions](crate::likelihoods::Likelihood::predict) turn its marginals into those of targets.
    pub fn condition(&self) -> WithMean<VnngpProcess<K>> {
        let this = self.valid();
        let inputs = this.posterior.inputs();
        let jitter = this.kernel.diagonal_at(inputs.clone()).mean() * self.jitter.initial;
        let mean = this.posterior.mean().unsqueeze_dim(1);
        let most = self.neighbors.prediction_neighbors;
        let observed = Observations::new(this.kernel, jitter, [inputs, mean], most);
        let process = VnngpProcess::new(observed, this.posterior.deviation());
        WithMean::new(process, this.mean)
    }
}
