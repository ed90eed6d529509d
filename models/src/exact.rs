//! Exact regression.

use burn::tensor::{Tensor, TensorCreationOptions};
use burn_gp_core::{
    inference::{ConditionError, Exact, LeaveFoldsOut, LeaveOneOut, RowColumns},
    kernels::{AnyKernel, KernelModule},
    ops::NotPositiveDefinite,
    register,
};

use crate::{
    AnyModel, AnyTrained, Conditioned, DataShape, InitError, ModelDefinition,
    data::merges_replicates,
    model_config::{full_batch, model_config},
    training::{Model, TrainingData},
};

/// An exact model whose components are chosen at run time.
pub type AnyExact = Exact<AnyKernel>;

model_config! {
    /// Configuration of exact regression, of one output or several.
    ///
    /// Several outputs are [correlated](burn_gp_core::inference::ExactOutputs), each has its own noise, and targets
    /// that are NaN are missing. [`fit`](crate::FitModel::fit) takes them as `[N, P]`:
    ///
    /// ```
    /// use burn_gp_core::kernels::StationaryConfig;
    /// use burn_gp_models::{ExactConfig, Fit, FitModel};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let x: Vec<f64> = (0..30).map(|row| f64::from(row) / 5.0).collect();
    /// // The second output is half of the first, and known at every third input only.
    /// let known = |row: usize| if row % 3 == 0 { 1.0 } else { f64::NAN };
    /// let y: Vec<[f64; 2]> =
    ///     x.iter().enumerate().map(|(row, x)| [x.sin(), 0.5 * x.sin() * known(row)]).collect();
    /// let gp = ExactConfig::new(StationaryConfig::rbf()).fit(&x, &y, &Fit::new())?;
    /// assert_eq!(gp.predict([1.0, 2.0, 2.5])?.mean().dims(), [3, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// One output:
    ///
    /// ```
    /// use burn::tensor::{DType, Device};
    /// use burn_gp_core::{kernels::StationaryConfig, ops::Stationary};
    /// use burn_gp_models::{ExactConfig, training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData}};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::default();
    /// let inputs: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
    /// let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
    /// let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
    /// let kernel = StationaryConfig::new(Stationary::Matern52);
    /// let model = ExactConfig::new(kernel).init(&data)?;
    /// let training = FullBatchTraining { iterations: 5, ..FullBatchTraining::default() };
    /// let mut trainer = FullBatchTrainer::new(model, data, training);
    /// let first = trainer.loss()?;
    /// trainer.step()?;
    /// assert!(trainer.loss()? < first);
    /// # Ok(())
    /// # }
    /// ```
    ExactConfig {
        /// The rank of the covariance of several outputs; by default two, or one less than the number of outputs.
        /// With zero, outputs are independent and share the kernel. It has no effect if the kernel is a function of
        /// the inputs and the number of the output, such as a sum of products with
        /// [`IndexConfig`](burn_gp_core::kernels::IndexConfig).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[setters(into)]
        rank: Option<usize> = None,
    }
    /// Exact regression with a zero mean and a noise variance that starts at 0.1.
    new
}

impl ExactConfig {
    model_config!(assembled AnyExact);

    fn assemble(
        &self,
        dimensions: usize,
        options: TensorCreationOptions,
    ) -> Result<AnyExact, InitError> {
        let (kernel, mean, likelihood) = self.parts(dimensions, &options)?;
        Ok(Exact::new(kernel, mean, likelihood))
    }
}

impl ModelDefinition for ExactConfig {
    model_config!(likelihood);
    model_config!(functions);

    fn init(&self, data: &TrainingData) -> Result<AnyModel, InitError> {
        Ok(match data.targets.dims() {
            [_, 1] => {
                let model = self.init(data)?;
                match merges_replicates(data) {
                    true => model.with_merged_replicates().boxed(),
                    false => model.boxed(),
                }
            }
            _ => self.init_outputs(data)?.boxed(),
        })
    }

    fn takes_missing_targets(&self) -> bool {
        true
    }

    fn takes_row_columns(&self) -> RowColumns {
        RowColumns::ALL
    }

    fn takes_input_errors(&self) -> bool {
        true
    }

    fn skeleton(&self, shape: &DataShape) -> Result<AnyTrained, InitError> {
        if shape.columns > 1 {
            return self.skeleton_of_outputs(shape);
        }
        let model = self.assemble(shape.dimensions, shape.options.clone())?;
        // What it keeps is conditioned on once.
        let model = model.with_merged_replicates();
        let model = self.parameters.apply_to_skeleton(model)?;
        Ok(Conditioned::skeleton(&model, shape))
    }
}

register!(
    Model,
    "exact",
    ExactConfig,
    "Exact regression; cost cubic in the number of rows"
);

impl<K: KernelModule> Model for Exact<K> {
    full_batch!(rows);

    fn objectives(
        &self,
        models: &[AnyModel],
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Option<Result<Tensor<1>, NotPositiveDefinite>> {
        let models = models
            .iter()
            .map(|model| model.downcast_ref::<Self>().cloned());
        let models: Vec<Self> = models.collect::<Option<_>>()?;
        if models.iter().any(|model| !model.row_columns().is_empty()) {
            return None;
        }
        Some(Self::full_objectives(&models, inputs, targets))
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        Conditioned::trained(self, data)
    }

    fn leave_one_out(
        &self,
        data: &TrainingData,
    ) -> Option<Result<LeaveOneOut, NotPositiveDefinite>> {
        Some(self.leave_one_out(data.inputs.clone(), data.targets.clone()))
    }

    fn leave_folds_out(
        &self,
        data: &TrainingData,
        folds: &[usize],
    ) -> Option<Result<LeaveFoldsOut, ConditionError>> {
        (!self.row_columns().weights)
            .then(|| self.leave_folds_out(data.inputs.clone(), data.targets.clone(), folds))
    }
}
