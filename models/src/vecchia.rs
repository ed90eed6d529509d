//! Regression by the nearest-neighbor (Vecchia) approximation.

use burn::tensor::TensorCreationOptions;
use burn_gp_core::{
    inference::{ConditionError, RowColumns, Vecchia, VecchiaSettings},
    kernels::{AnyKernel, KernelModule},
    neighbors::Ordering,
    register,
};

use crate::{
    AnyTrained, Conditioned, InitError, ModelDefinition,
    model_config::{full_batch, model_config},
    row_order::in_order,
    training::{FullBatchTraining, Model, TrainingData, TrainingDefaults},
};

/// The training of nearest-neighbor models. It stops when its iterations improve the log density by less than these
/// nats, as in Guinness's GpGp. The variance and the lengthscale of rough kernels are barely determined apart, and
/// L-BFGS would follow their ratio for as many iterations again without an effect on predictions.
pub(crate) const FULL_BATCH: FullBatchTraining = FullBatchTraining {
    nats: 1e-2,
    ..FullBatchTraining::L_BFGS
};

/// [`FULL_BATCH`] as a default.
pub(crate) const TRAINING: TrainingDefaults = TrainingDefaults::FullBatch(FULL_BATCH);

/// Nearest-neighbor regression whose components are chosen at run time.
pub type AnyVecchia = Vecchia<AnyKernel>;

model_config! {
    /// Configuration of regression by the nearest-neighbor (Vecchia) approximation.
    ///
    /// Each row is conditioned on the nearest rows before it, in an order in which early rows cover the inputs. Time
    /// and memory grow linearly with the number of rows. With inputs of few dimensions, such as locations, the
    /// result is almost that of exact regression.
    ///
    /// ```
    /// use burn_gp_core::{inference::VecchiaSettings, kernels::StationaryConfig};
    /// use burn_gp_models::{Fit, FitModel, VecchiaConfig};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let x: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i % 10), f64::from(i / 10)]).collect();
    /// let y: Vec<f64> = x.iter().map(|[a, b]| (0.5 * a).sin() + (0.3 * b).cos()).collect();
    /// let settings = VecchiaSettings { neighbors: 10, ..VecchiaSettings::default() };
    /// let config = VecchiaConfig::new(StationaryConfig::matern32()).with_settings(settings);
    /// let gp = config.fit(&x, &y, &Fit::default())?;
    /// let predicted = gp.predict([[4.5, 4.5]])?;
    /// let expected = (0.5f64 * 4.5).sin() + (0.3f64 * 4.5).cos();
    /// let mean: f64 = predicted.mean().into_scalar();
    /// assert!((mean - expected).abs() < 0.1);
    /// # Ok(())
    /// # }
    /// ```
    VecchiaConfig {
        /// The numbers of neighbors.
        #[serde(default)]
        settings: VecchiaSettings = VecchiaSettings::default(),
        /// Whether new rows are predicted together, each given those before it. In wide gaps between training rows,
        /// means are then closer to those of exact regression. A row's mean depends slightly, within the error of the
        /// approximation, on the rows that are predicted with it.
        #[serde(default = "is_joint")]
        joint_predictions: bool = is_joint(),
        /// The order of the rows. If absent, it is maximin for up to three inputs, and random for more, for which
        /// maximin orders take long and gain little.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        order: Option<Ordering> = None,
        /// The seed of a random order.
        #[serde(default)]
        seed: u64 = 0,
    }
    /// 30 neighbors in training and 60 in predictions, and a zero mean.
    new
}

/// Rows are predicted together by default.
fn is_joint() -> bool {
    true
}

impl VecchiaConfig {
    model_config!(assembled AnyVecchia, "a number of neighbors is zero");

    fn assemble(
        &self,
        dimensions: usize,
        options: TensorCreationOptions,
    ) -> Result<AnyVecchia, InitError> {
        let VecchiaSettings {
            neighbors,
            prediction_neighbors,
        } = self.settings;
        if neighbors == 0 || prediction_neighbors == 0 {
            return Err(InitError::NoNeighbors);
        }
        let (kernel, mean, likelihood) = self.parts(dimensions, &options)?;
        let model = Vecchia::new(kernel, mean, likelihood, dimensions, self.settings);
        Ok(model.with_joint_predictions(self.joint_predictions))
    }
}

impl ModelDefinition for VecchiaConfig {
    model_config!(keeps_data);

    fn takes_row_columns(&self) -> RowColumns {
        RowColumns::ALL
    }

    fn default_training(&self) -> TrainingDefaults {
        TRAINING
    }

    /// The data in the [order](Self::order). Data with an input that is not finite keep their order.
    fn arranged(&self, data: TrainingData) -> TrainingData {
        in_order(data, &self.kernel, self.order, self.seed)
    }
}

register!(
    Model,
    "vecchia",
    VecchiaConfig,
    "Regression on nearest neighbors for many rows of few inputs, full batch, L-BFGS"
);

impl<K: KernelModule> Model for Vecchia<K> {
    full_batch!(rows);

    fn update_approximation(&mut self) -> bool {
        self.update_metric()
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        Conditioned::trained(self, data)
    }
}
