//! The log density, tile by tile.

use burn::tensor::{DType, IndexingUpdateOp, Tensor};

use crate::{
    inference::{
        low_rank::{low_rank_log_density, precise_type},
        vecchia::{ParameterSlopes, Tile, conditional, errors, signed_weights},
    },
    kernels::KernelModule,
    ops::{ExactMatmul, NeighborRows, NotPositiveDefinite, gram},
};

/// Observed rows without autodiff.
pub struct Rows<'a> {
    /// [N, D]
    pub inputs: Tensor<2>,
    /// The features `A = K_fu·L⁻ᵀ`, [N, M], and the residual y − m, [N, P].
    pub values: [Tensor<2>; 2],
    pub neighbors: NeighborRows<'a>,
}

/// What is left of each row once its neighbors are known.
pub struct Errors {
    /// `v_i − bᵀv_c` of features and residual: G, [N, M], and e, [N, P]
    pub values: [Tensor<2>; 2],
    /// d, `[N]`
    pub variance: Tensor<1>,
}

/// `Σ_p log N(y_p | 0, AAᵀ + R)` with the approximation of R by neighbors; see [`Vif`](super::Vif).
///
/// With autodiff, each tile of rows is computed twice: for the errors, and when the gradient of the density with
/// respect to all errors is known, for the gradients of the tile, which is then forgotten. Memory grows with
/// N·(m + M). The inputs are constants.
///
/// # Shapes
///
/// - `features` (Aᵀ): `[M, N]`, `residual`: `[N, P]`
///
/// # Errors
///
/// When the covariance of the neighbors of a row cannot be factored, or its conditional variance is not positive.
pub fn density<K: KernelModule>(
    kernel: &K,
    noise: Tensor<1>,
    inputs: Tensor<2>,
    [features, residual]: [Tensor<2>; 2],
    neighbors: NeighborRows<'_>,
) -> Result<Tensor<1>, NotPositiveDefinite> {
    let rows = Rows::new(inputs, [&features, &residual], neighbors);
    let errors = rows.errors(&kernel.valid(), noise.clone().without_autodiff())?;
    if !noise.is_autodiff() {
        return errors.log_density();
    }
    let (value, slopes) = errors.slopes()?;
    let (parameters, values) = rows.backward(kernel, noise.clone(), slopes)?;
    let [of_features, of_residual] = values.map(Tensor::autodiff);
    let surrogate = parameters.surrogate(kernel, noise)
        + (features * of_features.transpose()).sum()
        + (residual * of_residual).sum();
    Ok(surrogate.clone() - surrogate.detach() + value.autodiff())
}

impl<'a> Rows<'a> {
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `features`: `[M, N]`, `residual`: `[N, P]`
    pub fn new(
        inputs: Tensor<2>,
        [features, residual]: [&Tensor<2>; 2],
        neighbors: NeighborRows<'a>,
    ) -> Self {
        let features = features.clone().without_autodiff().transpose();
        Self {
            inputs: inputs.without_autodiff(),
            values: [features, residual.clone().without_autodiff()],
            neighbors,
        }
    }

    fn tiles(&self) -> impl Iterator<Item = Tile> {
        let ([count, _], [_, columns]) = (self.inputs.dims(), self.values[0].dims());
        Tile::all(self.neighbors, count, columns, &self.inputs)
    }

    /// The values at all places of a tile, with zeros at padded places.
    fn gather(&self, tile: &Tile) -> [Tensor<3>; 2] {
        let values = self.values.each_ref();
        values.map(|values| tile.without_padding(tile.gather(values.clone())))
    }

    /// The errors of all rows, for a kernel and noise without autodiff.
    pub fn errors<K: KernelModule>(
        &self,
        kernel: &K,
        noise: Tensor<1>,
    ) -> Result<Errors, NotPositiveDefinite> {
        let (mut of_features, mut of_residual) = (Vec::new(), Vec::new());
        let mut variances = Vec::new();
        for tile in self.tiles() {
            let [features, residual] = self.gather(&tile);
            let covariance = tile.covariance(kernel, self.inputs.clone(), noise.clone());
            let remainder = covariance - gram(features.clone()); // R = K + σ²I − AAᵀ
            let (weights, variance) = conditional(&tile, self.neighbors, remainder)?;
            of_features.push(errors(features, weights.clone()));
            of_residual.push(errors(residual, weights));
            variances.push(variance);
        }
        Ok(Errors {
            values: [of_features, of_residual].map(|parts| Tensor::cat(parts, 0)),
            variance: Tensor::cat(variances, 0),
        })
    }

    /// The gradients of the parameters and of the values, from those of the errors. With `s = (−b; 1)` and the values V
    /// of a row's neighbors and itself, the errors are `Vᵀs`, so that `b̄ = −V_c·ē`, and
    /// `V̄ = s·ēᵀ − (R̄ + R̄ᵀ)·A`, the latter for the features.
    fn backward<K: KernelModule>(
        &self,
        kernel: &K,
        noise: Tensor<1>,
        slopes: Errors,
    ) -> Result<(ParameterSlopes, [Tensor<2>; 2]), NotPositiveDefinite> {
        let mut parameters = ParameterSlopes::zero(&self.inputs);
        let mut sums = self.values.each_ref().map(Tensor::zeros_like);
        for tile in self.tiles() {
            let values = self.gather(&tile);
            let own_noise = noise.clone().without_autodiff().autodiff().require_grad();
            let inputs = self.inputs.clone().autodiff();
            let covariance = tile.covariance(kernel, inputs, own_noise.clone());
            let remainder = covariance.clone().without_autodiff() - gram(values[0].clone());
            let slopes = slopes.of(&tile);
            let (weights, of_remainder) = self.backward_of(&tile, remainder, &values, &slopes)?;
            let gradients = (covariance * of_remainder.clone().autodiff())
                .sum()
                .backward();
            parameters.add(kernel, &own_noise, &gradients);
            let signed = signed_weights(weights).unsqueeze_dim::<3>(2); // s, [R, q, 1]
            let [features, _] = values;
            let both = of_remainder.clone() + of_remainder.transpose();
            let [of_features, of_residual] = (slopes.values)
                .map(|slopes| signed.clone().exact_matmul(slopes.unsqueeze_dim::<3>(1)));
            let of_features = of_features - both.exact_matmul(features);
            let [first, second] = sums;
            sums = [
                added(first, &tile, of_features),
                added(second, &tile, of_residual),
            ];
        }
        Ok((parameters, sums))
    }

    /// The weights of a tile, and the gradient of the covariances R, [R, q, q].
    fn backward_of(
        &self,
        tile: &Tile,
        remainder: Tensor<3>,
        values: &[Tensor<3>; 2],
        slopes: &Errors,
    ) -> Result<(Tensor<2>, Tensor<3>), NotPositiveDefinite> {
        let remainder = remainder.autodiff().require_grad();
        let (weights, variance) = conditional(tile, self.neighbors, remainder.clone())?;
        let mut product = (variance * slopes.variance.clone().autodiff()).sum();
        let last = tile.places() - 1;
        if last > 0 {
            let terms = values.iter().zip(&slopes.values);
            for (values, slopes) in terms {
                let of_all = (values.clone())
                    .exact_matmul(slopes.clone().unsqueeze_dim::<3>(2)) // V·ē, [R, q, 1]
                    .squeeze_dim::<2>(2);
                let of_weights = of_all.narrow(1, 0, last).neg();
                product = product + (weights.clone() * of_weights.autodiff()).sum();
            }
        }
        let zeros = || remainder.clone().without_autodiff().zeros_like();
        let gradient = remainder.grad(&product.backward());
        Ok((weights.without_autodiff(), gradient.unwrap_or_else(zeros)))
    }
}

/// Adds values at all places of a tile, [R, q, C], to the sums of all rows, [N, C].
fn added(sums: Tensor<2>, tile: &Tile, values: Tensor<3>) -> Tensor<2> {
    let ([rows, places, columns], index) = (values.dims(), tile.index(&sums));
    let values = values.reshape([rows * places, columns]);
    sums.select_assign(0, index, values, IndexingUpdateOp::Add)
}

impl Errors {
    /// Those of the rows of a tile.
    fn of(&self, tile: &Tile) -> Self {
        let (start, count) = (tile.rows.start, tile.rows.len());
        Self {
            values: (self.values.each_ref()).map(|values| values.clone().narrow(0, start, count)),
            variance: self.variance.clone().narrow(0, start, count),
        }
    }

    fn cast(&self, dtype: DType) -> Self {
        Self {
            values: (self.values.each_ref()).map(|values| values.clone().cast(dtype)),
            variance: self.variance.clone().cast(dtype),
        }
    }

    /// In double precision where it costs little.
    pub fn precise(&self) -> Self {
        self.cast(precise_type(&self.values[0]))
    }

    /// `Λ = GᵀD^{−1/2}`, [M, N], and `D^{−1/2}e`, [N, P].
    pub fn standardized(&self) -> [Tensor<2>; 2] {
        let deviations = self.variance.clone().sqrt().unsqueeze_dim::<2>(1);
        let [features, residual] =
            (self.values.each_ref()).map(|values| values.clone() / deviations.clone());
        [features.transpose(), residual]
    }

    /// `Σ_p log N(D^{−1/2}e_p | 0, ΛᵀΛ + I) − ½P·Σ log d`.
    fn log_density(&self) -> Result<Tensor<1>, NotPositiveDefinite> {
        let density = self.precise().log_density_in_type()?;
        Ok(density.cast(self.variance.dtype()))
    }

    fn log_density_in_type(&self) -> Result<Tensor<1>, NotPositiveDefinite> {
        let [basis, targets] = self.standardized();
        let [_, outputs] = targets.dims();
        let one = Tensor::ones([1], (&targets.device(), targets.dtype()));
        let standardized = low_rank_log_density(basis, targets, one)?;
        Ok(standardized - self.variance.clone().log().sum() * (0.5 * outputs as f64))
    }

    /// The log density and its gradient, without autodiff.
    fn slopes(&self) -> Result<(Tensor<1>, Self), NotPositiveDefinite> {
        let dtype = self.variance.dtype();
        let precise = self.precise();
        let arguments = Self {
            values: (precise.values).map(|values| values.autodiff().require_grad()),
            variance: precise.variance.autodiff().require_grad(),
        };
        let density = arguments.log_density_in_type()?;
        let gradients = density.backward();
        let of_values = |values: &Tensor<2>| match values.grad(&gradients) {
            Some(gradient) => gradient.cast(dtype),
            None => values.clone().without_autodiff().zeros_like().cast(dtype),
        };
        let of_variance = arguments.variance.grad(&gradients);
        let slopes = Self {
            values: arguments.values.each_ref().map(of_values),
            variance: match of_variance {
                Some(gradient) => gradient.cast(dtype),
                None => self.variance.zeros_like(),
            },
        };
        Ok((density.without_autodiff().cast(dtype), slopes))
    }
}
