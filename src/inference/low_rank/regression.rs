//! Full-batch regression with a kernel of finite rank.

use burn::{module::Module, tensor::Tensor};

use super::{
    low_rank_evidence,
    normal_equations::{NormalEquations, Solution},
    optimal_gaussian,
};
use crate::{
    inference::{
        ConditionError, check_rows,
        parts::parts,
        row_noise::{EqualNoise, NoisyRows},
        row_values::RowColumns,
    },
    kernels::{FeatureMap, LowRankKernel},
    likelihoods::Gaussian,
    means::AnyMean,
    ops::NotPositiveDefinite,
    parameter::Priors,
    process::{
        LowRankProcess, PredictedVariance, VarianceCorrection, VariationalGaussian,
        WhitenedCovariance, WithMean, blocks, largest_norm, residual_variance,
    },
    variational::WeightSpace,
};

/// Regression with features φ, `f(x) = m(x) + wᵀφ(x)`, `w ~ N(0, I)`, and a variance correction (Y.
/// Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526).
///
/// - Training maximizes `Σ_p log N(y_p | m_p, ΦΦᵀ + σ²I) − P·Σ_n c(x_n)/(2σ²)` (eq. 11), a lower
///   bound of the evidence under the corrected kernel. Without the correction it maximizes the
///   evidence (eq. 5).
/// - Predictions use `N(B⁻¹Φᵀy/σ², B⁻¹)` over the weights, `B = I + ΦᵀΦ/σ²` (eq. 6). Depending on
///   the correction, they add c to the variance, or replace σ² by `σ² + c(x_n)` for every data
///   point (eq. 12).
///
/// With the features of a network, [`Basis`](crate::kernels::Basis), this is a deep basis kernel;
/// with [`Nystrom`](crate::inducing::Nystrom), sparse regression; with
/// [`RandomFourier`](crate::kernels::RandomFourier), Bayesian linear regression on Fourier
/// features. Time N·R²; memory N·R in training and R² in prediction.
#[derive(Module, Debug)]
pub struct LowRankRegression<K: Module> {
    kernel: K,
    mean: AnyMean,
    likelihood: Gaussian,
    #[module(skip)]
    correction: VarianceCorrection,
    #[module(skip)]
    priors: Priors,
    #[module(skip)]
    row_columns: RowColumns,
}

parts!(LowRankRegression<K: LowRankKernel>);
parts!(rows LowRankRegression<K: LowRankKernel>);

impl<K: LowRankKernel> LowRankRegression<K> {
    /// Creates regression with the given prior, noise and correction.
    pub fn new(
        kernel: K,
        mean: impl Into<AnyMean>,
        likelihood: Gaussian,
        correction: VarianceCorrection,
    ) -> Self {
        Self {
            kernel,
            mean: mean.into(),
            likelihood,
            correction,
            priors: Priors::default(),
            row_columns: RowColumns::default(),
        }
    }

    /// Whether training and prediction correct the variance that the features miss.
    pub fn correction(&self) -> VarianceCorrection {
        self.correction
    }

    /// The distribution of the weights given the data, as a posterior for prediction. Its
    /// predictions match those of [`condition`](Self::condition), but it needs no data and is
    /// part of records. It is on the device of the model and detached.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    pub fn weight_space(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<WeightSpace, ConditionError> {
        let noise = self.likelihood.noise();
        let Conditioned {
            solution, level, ..
        } = self.valid().weights(inputs, targets)?;
        let distribution = optimal_gaussian(solution.mean, solution.precision, false)?;
        let mean = distribution.mean().cast(noise.dtype());
        let scale = distribution.scale().cast(noise.dtype());
        let distribution = if noise.is_autodiff() {
            VariationalGaussian::full(mean.autodiff(), scale.autodiff())
        } else {
            VariationalGaussian::full(mean, scale)
        };
        let posterior = WeightSpace::new(distribution, self.correction);
        Ok(match level {
            Some(level) => posterior.with_level(level),
            None => posterior,
        })
    }

    /// The posterior of the weights given the data, without autodiff.
    fn weights(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Conditioned<K::Map>, ConditionError> {
        check_rows(&inputs, &targets);
        ConditionError::check(&inputs, &targets)?;
        let (inputs, targets) = (inputs.inner(), targets.inner());
        let rows = NoisyRows::of(inputs.clone(), targets, self.row_columns);
        let residual = (self.mean).residual(rows.targets.clone(), inputs.clone());
        let [_, outputs] = residual.dims();
        let (inputs, targets) = (blocks(&inputs), blocks(&residual));
        let noise = self.noise_of_blocks(&rows, inputs.len());
        let map = self.kernel.feature_map()?;
        let level = (self.correction)
            .is_predicted()
            .then(|| largest_norm(&map, &inputs));
        let reweighted = self.correction.prediction == PredictedVariance::Reweighted;
        let weighing = level.clone().filter(|_| reweighted);
        let mut equations = None;
        let mut first = 0;
        for ((x, targets), noise) in inputs.into_iter().zip(targets).zip(noise) {
            let features = map.features(x.clone());
            let [count, _] = features.dims();
            let noise = match weighing.clone() {
                Some(level) => {
                    let own = residual_variance(&map, x, features.clone(), Some(level));
                    rows.over_weights_from(first, own) + noise
                }
                None => noise,
            };
            first += count;
            let [_, rank] = features.dims();
            let so_far = (equations.take())
                .unwrap_or_else(|| NormalEquations::prior(rank, outputs, &features));
            equations = Some(so_far.with(features, targets, noise));
        }
        let Some(equations) = equations else {
            panic!("no data to condition on: inputs and targets have no rows");
        };
        Ok(Conditioned {
            map,
            solution: equations.solve()?,
            level,
        })
    }

    /// The noise variances of each block of rows, `[block]`, or `[1]` if all rows have the same.
    fn noise_of_blocks(&self, rows: &NoisyRows, count: usize) -> Vec<Tensor<1>> {
        let noise = self.likelihood.noise();
        match rows.total(noise.clone()) {
            None => vec![noise; count],
            Some(total) => {
                let parts = blocks(&total.unsqueeze_dim(1)).into_iter();
                parts.map(|part| part.squeeze_dim(1)).collect()
            }
        }
    }
}

/// The posterior of the weights given the data.
struct Conditioned<F> {
    map: F,
    solution: Solution,
    /// The largest squared norm of the features, if predictions need it.
    level: Option<Tensor<1>>,
}

impl<K: LowRankKernel> LowRankRegression<K> {
    /// The log evidence of the features, `[1]`, minus the penalty for the variance that they miss.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn full_objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let rows = NoisyRows::of(inputs.clone(), targets, self.row_columns);
        let residual = (self.mean).residual(rows.targets.clone(), inputs.clone());
        let [_, outputs] = residual.dims();
        let equal = EqualNoise::new(&rows, self.likelihood.noise());
        let map = self.kernel.feature_map()?;
        let features = map.features(inputs.clone());
        let [divided, residual] = [features.clone(), residual].map(|rows| equal.residual(rows));
        let evidence = low_rank_evidence(divided, residual, equal.noise.clone())?;
        let evidence = equal.log_density(evidence, outputs);
        let evidence = rows.log_density(evidence, self.likelihood.noise());
        if !self.correction.training {
            return Ok(evidence);
        }
        let unexplained = equal.variances(residual_variance(&map, inputs, features, None));
        Ok(evidence - unexplained.sum() / equal.noise * (0.5 * outputs as f64))
    }

    /// The process given the data, on the device without autodiff.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    pub fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<WithMean<LowRankProcess<K::Map>>, ConditionError> {
        let this = self.valid();
        let Conditioned {
            map,
            solution,
            level,
        } = this.weights(inputs, targets)?;
        let spread = WhitenedCovariance::Precision(solution.factor);
        let process = LowRankProcess::new(map, solution.mean.transpose(), spread, level);
        Ok(WithMean::new(process, this.mean))
    }
}
