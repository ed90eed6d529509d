//! Values of rows beside their targets.

use std::ops::BitOrAssign;

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// What the last columns of the targets say about the rows, after the targets themselves: first the weights, then the
/// known noise.
///
/// Noise variances `v_n` are besides the trained one: the noise of row n is `d_n = σ² + v_n`. A weight `w_n > 0` counts the
/// row `w_n` times: with `w_n = 2` it is there twice. Regression with normal noise then has the density
///
/// ```text
/// log N(y; m, K + DW⁻¹) + ½ Σ_n [(1 − w_n)·log 2πd_n − log w_n]
/// ```
///
/// for each output, and the posterior of rows with the noise `d_n/w_n`. Predictions of new targets have the noise σ².
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{
///     inference::Exact, kernels::StationaryConfig, likelihoods::Gaussian, means::ZeroMean,
/// };
///
/// # fn main() -> Result<(), burn_gp_core::ops::NotPositiveDefinite> {
/// let place = (&Device::default(), DType::F64);
/// let model = |noise| {
///     let kernel = StationaryConfig::rbf().init(1, place);
///     Exact::new(kernel, ZeroMean::new(1), Gaussian::new(noise, place))
/// };
/// let column = |values: [f64; 2]| Tensor::<1>::from_data(values, place).unsqueeze_dim::<2>(1);
/// let (x, y) = (column([0.0, 1.0]), column([0.5, 0.3]));
/// let noisy = Tensor::cat(vec![y.clone(), column([0.2, 0.2])], 1);
/// let evidence = model(0.1).with_row_noise().full_objective(x.clone(), noisy)?;
/// let difference = evidence - model(0.3).full_objective(x.clone(), y.clone())?;
/// assert!(difference.abs().into_scalar::<f64>() < 1e-12);
///
/// let twice = |rows: &Tensor<2>| Tensor::cat(vec![rows.clone(), rows.clone().narrow(0, 1, 1)], 0);
/// let weighted = Tensor::cat(vec![y.clone(), column([1.0, 2.0])], 1);
/// let evidence = model(0.1).with_row_weights().full_objective(x.clone(), weighted)?;
/// let difference = evidence - model(0.1).full_objective(twice(&x), twice(&y))?;
/// assert!(difference.abs().into_scalar::<f64>() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowColumns {
    /// Whether there are weights, `w_n`.
    pub weights: bool,
    /// Whether there are known noise variances besides the trained one, `v_n`.
    pub noise: bool,
}

/// The columns of targets with values of rows beside them.
#[derive(Clone, Debug)]
pub struct RowValues {
    /// y, `[N, P]`
    pub targets: Tensor<2>,
    /// w, `[N]`
    pub weights: Option<Tensor<1>>,
    /// v, `[N]`
    pub noise: Option<Tensor<1>>,
}

impl BitOrAssign for RowColumns {
    fn bitor_assign(&mut self, other: Self) {
        self.weights |= other.weights;
        self.noise |= other.noise;
    }
}

impl RowColumns {
    /// Weights and noise.
    pub const ALL: Self = Self {
        weights: true,
        noise: true,
    };

    /// The number of columns.
    pub fn count(self) -> usize {
        usize::from(self.weights) + usize::from(self.noise)
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Takes the columns apart.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_gp_core::inference::RowColumns;
    ///
    /// // Two rows, each with a target and a noise variance.
    /// let rows = Tensor::<2>::from_data([[0.5, 0.2], [0.3, 0.1]], &Device::default());
    /// let columns = RowColumns { noise: true, ..RowColumns::default() };
    /// let values = columns.split(rows);
    /// assert_eq!(values.targets.dims(), [2, 1]);
    /// assert_eq!(values.noise.map(|noise| noise.dims()), Some([2]));
    /// ```
    ///
    /// # Shapes
    ///
    /// - `targets`: `[N, P + count]`
    ///
    /// # Panics
    ///
    /// If there is no other column.
    #[track_caller]
    pub fn split(self, targets: Tensor<2>) -> RowValues {
        let (targets, noise) = split_last(targets, self.noise, "noise");
        let (targets, weights) = split_last(targets, self.weights, "weights");
        RowValues {
            targets,
            weights,
            noise,
        }
    }
}

/// Splits off the last column of the targets, if rows have a value there. `what` names the values.
#[track_caller]
fn split_last(targets: Tensor<2>, has_values: bool, what: &str) -> (Tensor<2>, Option<Tensor<1>>) {
    if !has_values {
        return (targets, None);
    }
    let [rows, columns] = targets.dims();
    assert!(
        columns > 1,
        "row {what}: targets of shape [{rows}, {columns}]; expected a column of {what} after the targets"
    );
    let values = targets.clone().narrow(1, columns - 1, 1);
    (
        targets.narrow(1, 0, columns - 1),
        Some(values.squeeze_dim(1)),
    )
}
