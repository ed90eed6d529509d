//! New observations for processes that are conditioned on rows or on inducing variables.

use burn::tensor::Tensor;

use super::{ConditionError, Fantasies, UpdateError, check_rows};
use crate::{
    inducing::InducingPoints,
    ops::{BlockFactor, Jitter, add_diagonal, numbers},
    process::{ConditionedProcess, LinearObservations, WhitenedCovariance, WithMean},
};

impl WithMean<ConditionedProcess> {
    /// The process given new rows, too. The parameters stay, and so does this process.
    ///
    /// If it is conditioned on the values of rows, as after [`Exact::condition`](super::Exact::condition), the result is
    /// that of conditioning on all rows, in time N²·n instead of N³. With `L` the factor of `K + Σ` of the old rows and
    /// `w = L⁻¹(y − m)`, the factor and `w` grow:
    ///
    /// ```text
    /// L₂₁ = (L⁻¹K₁₂)ᵀ    L₂₂L₂₂ᵀ = K₂₂ + Σ₂ − L₂₁L₂₁ᵀ    w₂ = L₂₂⁻¹(y₂ − m₂ − L₂₁w)
    /// ```
    ///
    /// If it is conditioned on inducing variables, their distribution is updated, in time M²·n + M³:
    /// `S′⁻¹ = S⁻¹ + ΛΣ⁻¹Λᵀ` for the whitened variables (T. Bui, C. Nguyen and R. Turner, *Streaming Sparse Gaussian
    /// Process Approximations*, arXiv:1705.07131, with the same inducing points and parameters). After
    /// [`Collapsed::condition`](super::Collapsed::condition), the result is that of conditioning on all rows. For another
    /// `q(u)`, it is the optimum given all rows if `q(u)` was that of the old ones.
    ///
    /// ```
    /// use burn::tensor::{DType, Device, Tensor};
    /// use burn_gp_core::{
    ///     inference::Exact, kernels::StationaryKernel, likelihoods::Gaussian, means::ZeroMean, ops::Stationary,
    ///     process::Process,
    /// };
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let place = (&Device::default(), DType::F64);
    /// let kernel = StationaryKernel::new(Stationary::Matern52, &[1.0], 1.0, place);
    /// let model = Exact::new(kernel, ZeroMean::new(1), Gaussian::new(0.01, place));
    /// let column = |values: [f64; 2]| Tensor::<1>::from_data(values, place).unsqueeze_dim::<2>(1);
    /// let process = model.condition(column([0.0, 0.1]), column([1.0, 1.2]))?;
    /// let noise = model.likelihood().noise();
    /// let process = process.condition_on_observations(column([0.2, 0.3]), column([1.3, 1.4]), noise)?;
    /// let forecast = process.marginals(Tensor::full([1, 1], 0.3, place));
    /// assert!((forecast.mean.into_scalar::<f64>() - 1.4).abs() < 0.1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - `noise`: the noise variances of the new rows, `[N]`, or of all of them, `[1]`
    ///
    /// # Errors
    ///
    /// When a value is not finite, a noise variance is not positive, the process is conditioned on combinations of rows, or
    /// a covariance matrix cannot be factored.
    ///
    /// # Panics
    ///
    /// If the shapes do not match each other or the process.
    #[track_caller]
    pub fn condition_on_observations(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        noise: Tensor<1>,
    ) -> Result<Self, UpdateError> {
        let Some(rows) = NewRows::checked(inputs, targets, noise)? else {
            return Ok(self.clone());
        };
        let residual = (self.mean()).residual(rows.targets.clone(), rows.inputs.clone());
        let process = given(self.process(), rows, residual)?;
        Ok(WithMean::new(process, self.mean().clone()))
    }

    /// The function given each of S sets of targets for the same new inputs, such as draws of what may be observed there.
    /// All of them share the extended factor, so that a further set costs N·n.
    ///
    /// ```
    /// use burn::tensor::{DType, Device, Tensor};
    /// use burn_gp_core::{
    ///     inference::Exact, kernels::StationaryKernel, likelihoods::Gaussian, means::ZeroMean, ops::Stationary,
    ///     process::Process,
    /// };
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let place = (&Device::default(), DType::F64);
    /// let kernel = StationaryKernel::new(Stationary::Matern52, &[1.0], 1.0, place);
    /// let model = Exact::new(kernel, ZeroMean::new(1), Gaussian::new(0.01, place));
    /// let column = |values: [f64; 2]| Tensor::<1>::from_data(values, place).unsqueeze_dim::<2>(1);
    /// let process = model.condition(column([0.0, 0.1]), column([1.0, 1.2]))?;
    /// // What if the value at 1 were -1, 0 or 1?
    /// let x = Tensor::full([1, 1], 1.0, place);
    /// let y = Tensor::<2>::from_data([[-1.0, 0.0, 1.0]], place);
    /// let fantasies = process.condition_on_fantasies(x.clone(), y, model.likelihood().noise())?;
    /// assert_eq!(fantasies.marginals(x).mean.dims(), [1, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, S]`
    /// - `noise`: the noise variances of the new rows, `[N]`, or of all of them, `[1]`
    ///
    /// # Errors
    ///
    /// Same as [`condition_on_observations`](Self::condition_on_observations).
    ///
    /// # Panics
    ///
    /// If the process has several functions, or the shapes do not match each other or the process.
    #[track_caller]
    pub fn condition_on_fantasies(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        noise: Tensor<1>,
    ) -> Result<Fantasies, UpdateError> {
        let [_, sets] = targets.dims();
        let process = self.process();
        let [functions, _] = process.whitened_mean().dims();
        assert!(
            functions == 1,
            "fantasies of {functions} functions; expected a process of one"
        );
        let process = repeated(process, sets);
        let process = match NewRows::checked(inputs, targets, noise)? {
            None => process,
            Some(rows) => {
                let residual = rows.targets.clone() - self.mean().forward(rows.inputs.clone());
                given(&process, rows, residual)?
            }
        };
        Ok(Fantasies::new(process, self.mean().clone()))
    }
}

/// Checked new rows, without autodiff.
struct NewRows {
    /// [N, D]
    inputs: Tensor<2>,
    /// [N, P]
    targets: Tensor<2>,
    /// σ², [N]
    noise: Tensor<1>,
}

impl NewRows {
    /// `None` if there are no rows.
    #[track_caller]
    fn checked(
        inputs: Tensor<2>,
        targets: Tensor<2>,
        noise: Tensor<1>,
    ) -> Result<Option<Self>, UpdateError> {
        check_rows(&inputs, &targets);
        ConditionError::check(&inputs, &targets)?;
        let ([rows, _], [variances]) = (targets.dims(), noise.dims());
        assert!(
            variances == rows || variances == 1,
            "noise [{variances}] of targets {:?}; expected [N] or [1]",
            targets.dims()
        );
        if rows == 0 {
            return Ok(None);
        }
        let noise = noise.without_autodiff();
        let is_possible = |&variance: &f64| variance > 0.0 && variance.is_finite();
        let values = numbers(noise.clone()).into_iter().enumerate();
        let impossible = values
            .into_iter()
            .find(|(_, variance)| !is_possible(variance));
        if let Some((row, variance)) = impossible {
            return Err(UpdateError::Noise { row, variance });
        }
        Ok(Some(Self {
            inputs: inputs.without_autodiff(),
            targets: targets.without_autodiff(),
            noise: noise.expand([rows]),
        }))
    }
}

/// The process of `count` equal functions in the place of one.
fn repeated(process: &ConditionedProcess, count: usize) -> ConditionedProcess {
    let spread = match process.spread() {
        WhitenedCovariance::Factor(scale) => {
            WhitenedCovariance::Factor(scale.clone().repeat_dim(0, count))
        }
        shared => shared.clone(),
    };
    ConditionedProcess::new(
        process.kernels().clone(),
        process.inducing().clone(),
        process.factor().clone(),
        process.whitened_mean().repeat_dim(0, count),
        spread,
    )
}

/// The process given rows with the residuals `y − m(x)`, `[N, P]`.
fn given(
    process: &ConditionedProcess,
    rows: NewRows,
    residual: Tensor<2>,
) -> Result<ConditionedProcess, UpdateError> {
    if let WhitenedCovariance::Known = process.spread() {
        return extended(process, rows, residual);
    }
    let cross = (process.inducing()).kuf(process.kernels(), rows.inputs);
    let observed = LinearObservations {
        basis: process.factor().solve(cross), // Λ, [B, M, n]
        values: residual,
        noise: rows.noise,
    };
    let (mean, spread) = (process.spread()).given(&process.whitened_mean(), &observed)?;
    Ok(ConditionedProcess::new(
        process.kernels().clone(),
        process.inducing().clone(),
        process.factor().clone(),
        mean,
        spread,
    ))
}

/// The process with more rows among those that it is conditioned on.
fn extended(
    process: &ConditionedProcess,
    rows: NewRows,
    residual: Tensor<2>,
) -> Result<ConditionedProcess, UpdateError> {
    let kernels = process.kernels();
    let old: &InducingPoints = process
        .inducing()
        .downcast_ref()
        .ok_or(UpdateError::NoRows)?;
    if process.factor().lower().dims()[0] > 1 {
        return Err(UpdateError::NoRows);
    }
    let cross = kernels.covariance_at(old.points(), rows.inputs.clone()); // K₁₂, [1, N, n]
    let own = kernels.matrix_at(rows.inputs.clone()).squeeze_dim::<2>(0);
    let own = add_diagonal(own, rows.noise); // K₂₂ + Σ₂
    let leading = process.factor().member(0);
    // The noise acts as jitter, as in the factorization of all rows.
    let block = BlockFactor::new(leading, cross.squeeze_dim(0), own, Jitter::NONE)?;
    let first = process.whitened_mean().transpose(); // w, [N, P]
    let second = block.solve_second(first.clone(), residual); // w₂, [n, P]
    Ok(ConditionedProcess::new(
        kernels.clone(),
        InducingPoints::new(Tensor::cat(vec![old.points(), rows.inputs], 0)),
        block.joined(),
        Tensor::cat(vec![first, second], 0).transpose(),
        WhitenedCovariance::Known,
    ))
}
