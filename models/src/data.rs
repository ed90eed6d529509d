//! The data of a model.

use burn::tensor::{DType, Device, Int, Tensor, TensorCreationOptions, TensorData};
use burn_gp_core::{
    inference::{RowColumns, has_replicates},
    ops::is_on_cpu,
};

/// The training data of a model, on its device.
#[derive(Clone, Debug)]
pub struct TrainingData {
    /// `[N, D]`
    pub inputs: Tensor<2>,
    /// `[N, P]`
    pub targets: Tensor<2>,
}

impl TrainingData {
    /// Copies row-major host data with a single target column to a device.
    ///
    /// # Shapes
    ///
    /// - `inputs`: N·D values, `targets`: N values
    ///
    /// # Panics
    ///
    /// If the number of inputs is not a multiple of the number of targets.
    #[track_caller]
    pub fn new(inputs: &[f64], targets: &[f64], device: &Device, dtype: DType) -> Self {
        Self::with_target_columns(inputs, targets, 1, device, dtype)
    }

    /// Copies row-major host data with `columns` target columns to a device.
    ///
    /// # Shapes
    ///
    /// - `inputs`: N·D values, `targets`: N·`columns` values
    ///
    /// # Panics
    ///
    /// If the inputs or targets do not form whole rows.
    #[track_caller]
    pub fn with_target_columns(
        inputs: &[f64],
        targets: &[f64],
        columns: usize,
        device: &Device,
        dtype: DType,
    ) -> Self {
        let rows = targets.len() / columns.max(1);
        assert!(
            rows > 0
                && rows * columns == targets.len()
                && !inputs.is_empty()
                && inputs.len().is_multiple_of(rows),
            "TrainingData: {} input values for {} targets in {columns} columns; expected the same \
             number for every row",
            inputs.len(),
            targets.len()
        );
        Self {
            inputs: matrix(inputs, inputs.len() / rows, device, dtype),
            targets: matrix(targets, columns, device, dtype),
        }
    }

    /// The rows with the given indices, `[N′]`, in that order.
    pub fn reordered(&self, rows: &Tensor<1, Int>) -> Self {
        Self {
            inputs: self.inputs.clone().select(0, rows.clone()),
            targets: self.targets.clone().select(0, rows.clone()),
        }
    }

    /// The data with a value of each row, such as its weight, as a further last column of the targets, `[N, P + 1]`.
    ///
    /// # Panics
    ///
    /// If there is not one value for each row.
    #[track_caller]
    pub fn with_row_values(&self, values: &[f64]) -> Self {
        let rows = self.len();
        assert!(
            values.len() == rows,
            "TrainingData: {} values for {rows} rows; expected one for each",
            values.len()
        );
        let targets = self.targets.clone();
        let column = matrix(values, 1, &targets.device(), targets.dtype());
        Self {
            inputs: self.inputs.clone(),
            targets: Tensor::cat(vec![targets, column], 1),
        }
    }

    /// The number of data points, N.
    pub fn len(&self) -> usize {
        self.targets.dims()[0]
    }

    /// Whether there are no data.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whether training merges rows with equal inputs: many are equal, and each step can look for them without waiting for a
/// GPU.
pub(crate) fn merges_replicates(data: &TrainingData) -> bool {
    is_on_cpu(&data.inputs) && has_replicates(&data.inputs.clone().without_autodiff())
}

/// A matrix with `columns` columns from row-major host data.
pub fn matrix(values: &[f64], columns: usize, device: &Device, dtype: DType) -> Tensor<2> {
    let data = TensorData::new(values.to_vec(), [values.len() / columns, columns]);
    Tensor::from_data(data, (device, dtype))
}

/// The shape of training data, with their precision and device.
#[derive(Clone, Debug)]
pub struct DataShape {
    /// The number of data points, N.
    pub rows: usize,
    /// The number of input dimensions, D.
    pub dimensions: usize,
    /// The number of target columns.
    pub columns: usize,
    /// What further columns of the targets say about the rows.
    pub row_columns: RowColumns,
    /// The precision and the device, without autodiff.
    pub options: TensorCreationOptions,
}

impl DataShape {
    /// Data of this shape, all zero.
    pub fn zeros(&self) -> TrainingData {
        let zeros = |columns| Tensor::zeros([self.rows, columns], self.options.clone());
        TrainingData {
            inputs: zeros(self.dimensions),
            targets: zeros(self.columns + self.row_columns.count()),
        }
    }
}
