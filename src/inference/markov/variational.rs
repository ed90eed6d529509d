//! Any likelihood over time, by Gaussian sites.

use std::sync::Arc;

use burn::{
    module::Module,
    tensor::{Tensor, TensorData},
};

use super::{
    ConditionError, MarkovProcess, check_rows,
    density::log_density,
    epsilon,
    expected_density::ExpectedDensity,
    failure, form, in_order,
    sites::{SiteProblem, SiteSolution},
    system,
    timeline::{Timeline, TimelineCache},
    times,
};
use crate::{
    inference::parts::parts,
    kernels::{KernelModule, NoStateSpace},
    likelihoods::AnyLikelihood,
    means::AnyMean,
    ops::{NotPositiveDefinite, numbers},
    parameter::Priors,
    process::WithMean,
};

/// Gaussian-process models over time with any likelihood of one latent function, in time linear in the rows: labels,
/// counts, positive numbers, outliers. The posterior is the best Gaussian one (conjugate-computation variational
/// inference: M. Khan and W. Lin, arXiv:1703.04265; P. Chang et al., *Fast Variational Learning in State-Space Gaussian
/// Process Models*, arXiv:2007.05994):
///
/// ```text
/// q(f) ∝ p(f)·Π N(ỹ_i | f_i, r̃_i)          sites in the place of the factors of the likelihood
/// log p(y) ≥ log Z(ỹ, r̃) + Σ E_q[log p(y_i | f_i)] − Σ E_q[log N(ỹ_i | f_i, r̃_i)]
/// 1/r̃ = −2∂E_q[log p]/∂V,   ỹ/r̃ = ∂E_q[log p]/∂m + m/r̃         at the largest bound
/// ```
///
/// Each evaluation finds the sites by natural gradients, from the prior, so that the objective is a function of the
/// parameters; every iteration is a pass of [`Markov`](super::Markov)'s filter and smoother over the sites. At the
/// largest bound the gradient is that of log Z with the sites held, and that of the expected log densities with q held.
///
/// Where the log density is not concave in the function (Student-t, beta), 1/r̃ may be negative. If the filter cannot
/// take such a site because the values before it alone do not determine the function well enough, all sites get
/// positive variances; the bound is then a little lower, and its gradient misses a small term.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor, TensorData};
/// use burn_gp_core::{
///     inference::MarkovVariational, kernels::StationaryKernel, likelihoods::LikelihoodConfig, means::ZeroMean,
///     ops::Stationary, process::Process,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let place = (&Device::default(), DType::F64);
/// let kernel = StationaryKernel::new(Stationary::Matern32, &[1.0], 1.0, place);
/// let likelihood = LikelihoodConfig::poisson().init(place);
/// let model = MarkovVariational::new(kernel, ZeroMean::new(1), likelihood)?;
/// let column = |values: Vec<f64>| Tensor::<2>::from_data(TensorData::new(values, [40, 1]), place);
/// let times = column((0..40).map(|row| f64::from(row) / 10.0).collect());
/// let counts = column((0..40).map(|row| if row < 20 { 1.0 } else { 8.0 }).collect());
/// let process = model.condition(times, counts)?;
/// let new = Tensor::<2>::from_data([[0.5], [3.5]], place);
/// let rates = model.likelihood().predict(process.marginals(new)).mean;
/// let rates: Vec<f64> = rates.into_data().iter().collect();
/// assert!(rates[0] < 2.0 && rates[1] > 6.0);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct MarkovVariational<K: Module> {
    kernel: K,
    mean: AnyMean,
    likelihood: AnyLikelihood,
    #[module(skip)]
    priors: Priors,
    #[module(skip)]
    known: TimelineCache,
}

parts!(MarkovVariational<K: KernelModule>, AnyLikelihood);

/// The sites of a model without autodiff.
struct Found {
    timeline: Arc<Timeline>,
    density: ExpectedDensity,
    solution: SiteSolution,
}

impl<K: KernelModule> MarkovVariational<K> {
    /// Creates a model with the given prior and likelihood.
    ///
    /// # Errors
    ///
    /// [`NoStateSpace`] when the kernel is not a linear state-space model.
    ///
    /// # Panics
    ///
    /// If the likelihood has several latent functions.
    #[track_caller]
    pub fn new(
        kernel: K,
        mean: impl Into<AnyMean>,
        likelihood: impl Into<AnyLikelihood>,
    ) -> Result<Self, NoStateSpace> {
        let likelihood = likelihood.into();
        let description = likelihood.description();
        assert!(
            description.latents == 1,
            "MarkovVariational: the {} likelihood has {} latent functions; expected one",
            description.name,
            description.latents
        );
        kernel.state_space()?;
        Ok(Self {
            kernel,
            mean: mean.into(),
            likelihood,
            priors: Priors::default(),
            known: TimelineCache::default(),
        })
    }

    /// The evidence lower bound.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, 1]`, `targets`: `[N, T]` for the T columns that the likelihood takes
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When the variance of a site given those before it has the wrong sign or is not finite. The batch member is the
    /// row.
    ///
    /// # Panics
    ///
    /// If there is more than one input, or the likelihood takes another number of columns.
    #[track_caller]
    pub fn full_objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        self.check_shapes(&inputs, &targets);
        let dtype = targets.dtype();
        let [points, plain] = [&inputs, &targets].map(|tensor| tensor.clone().without_autodiff());
        let Found {
            timeline,
            density,
            solution,
        } = self.valid().sites(&points, plain)?;
        let kernel = form(&self.kernel);
        let (device, precise) = kernel.place();
        let (targets, noise) = (solution.sites.targets(), solution.sites.noise());
        let rows = targets.len();
        let inputs = if device.is_autodiff() {
            points.clone().autodiff()
        } else {
            points.clone()
        };
        let mean = in_order(self.mean.forward(inputs), &timeline).cast(precise); // [1, N, 1]
        let targets = TensorData::new(targets, [1, rows, 1]);
        let targets = Tensor::<3>::from_data(targets, (&device, precise));
        let plain = (&device.clone().without_autodiff(), precise);
        let noise = Tensor::<1>::from_data(noise.as_slice(), plain);
        let evidence = log_density(&kernel, &timeline, noise, targets - mean)
            .map_err(|error| failure(error, &timeline, dtype))?
            .cast(dtype);
        let correction = Tensor::<1>::from_data([solution.correction()], (&points.device(), dtype));
        if !device.is_autodiff() {
            return Ok(evidence + correction);
        }
        // Zero, with the gradient of the likelihood's parameters.
        let (means, variances) = (&solution.means, &solution.variances);
        let expected = density.tracked(&self.likelihood, means, variances);
        let change = expected.clone() - expected.detach();
        Ok(evidence + correction.autodiff() + change)
    }

    /// The process given the data, on the device without autodiff. [Likelihood
    /// predictions](crate::likelihoods::Likelihood::predict) turn its marginals into those of targets.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, 1]`, `targets`: `[N, T]` for the T columns that the likelihood takes
    ///
    /// # Errors
    ///
    /// When an input is not finite, a target is impossible, or the variance of a site given those before it has the
    /// wrong sign or is not finite.
    ///
    /// # Panics
    ///
    /// If there is more than one input, or the likelihood takes another number of columns.
    #[track_caller]
    pub fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<WithMean<MarkovProcess<K>>, ConditionError> {
        self.check_shapes(&inputs, &targets);
        ConditionError::check_inputs(&inputs)?;
        self.likelihood.description().check_tensor(&targets)?;
        let this = self.valid();
        let (inputs, targets) = (inputs.inner(), targets.inner());
        let Found {
            timeline, solution, ..
        } = this.sites(&inputs, targets)?;
        let place = form(&this.kernel).place();
        let place = (&place.0, place.1);
        let noise = Tensor::<1>::from_data(solution.sites.noise().as_slice(), place);
        let targets = timeline.in_rows(&solution.sites.targets(), 1);
        let targets = Tensor::<1>::from_data(targets.as_slice(), place).unsqueeze_dim::<2>(1);
        let residual = targets - this.mean.forward(inputs).cast(place.1);
        let process = MarkovProcess::new(this.kernel, noise, residual, timeline)?;
        Ok(WithMean::new(process, this.mean))
    }

    /// The sites of a model without autodiff, in the order of time.
    fn sites(&self, inputs: &Tensor<2>, targets: Tensor<2>) -> Result<Found, NotPositiveDefinite> {
        let (epsilon, dtype) = (epsilon(inputs.dtype()), targets.dtype());
        let timeline = self.known.timeline(times(inputs), epsilon);
        let timeline = Arc::new(timeline.with_separate_noise());
        let ordered = |values: Tensor<2>| in_order(values, &timeline).squeeze_dim::<2>(0);
        let form = form(&self.kernel);
        let (device, precise) = form.place();
        let problem = SiteProblem {
            system: system(&form, &timeline, Tensor::ones([1], (&device, precise))),
            events: &timeline.events,
            means: numbers(ordered(self.mean.forward(inputs.clone()))),
            variances: numbers(ordered(
                self.kernel.diagonal_at(inputs.clone()).unsqueeze_dim(1),
            )),
            density: ExpectedDensity::new(self.likelihood.clone(), ordered(targets)),
        };
        let solution = problem
            .solve()
            .map_err(|error| failure(error, &timeline, dtype))?;
        let density = problem.density;
        Ok(Found {
            timeline,
            density,
            solution,
        })
    }

    #[track_caller]
    fn check_shapes(&self, inputs: &Tensor<2>, targets: &Tensor<2>) {
        check_rows(inputs, targets);
        let ([_, found], description) = (targets.dims(), self.likelihood.description());
        assert!(
            found == description.columns,
            "MarkovVariational: {found} columns of targets; the {} likelihood takes {}",
            description.name,
            description.columns
        );
    }
}
