//! Regression models that keep their data.

use std::{any::Any, collections::BTreeSet};

use burn::{
    module::{Module, ModuleDisplay, Param},
    tensor::{DType, Device, Int, Tensor},
};
use burn_gp_core::{
    inference::{
        ActionPolicy, AnyActionPolicy, ComputationAware, ConditionError, ConjugateGradients, Exact,
        ExactOutputs, Iterations, LeaveFoldsOut, Markov, MarkovVariational, RowColumns,
        UpdateError, Vecchia, VecchiaLaplace, Vif,
    },
    kernels::{Kernel, KernelModule, Structure},
    likelihoods::{AnyLikelihood, Gaussian},
    means::AnyMean,
    parameter::Hyperparameter,
    process::{AnyProcess, ConditionedProcess, WithMean},
};

use crate::{
    AnyTrained, DataShape, FunctionPart, Trained,
    parts::{KnownRows, MOST_ROWS, function_parts, terms},
    training::{Model, TrainingData},
};

/// A regression model together with the data that it is conditioned on.
#[derive(Module, Debug)]
pub struct Conditioned<R: Module> {
    regression: R,
    inputs: Param<Tensor<2>>,
    targets: Param<Tensor<2>>,
}

impl<R: KeepsData> Conditioned<R> {
    /// Moves both to the device without autodiff.
    pub fn new(regression: &R, data: &TrainingData) -> Self {
        let constant =
            |tensor: &Tensor<2>| Param::from_tensor(tensor.clone().inner()).set_require_grad(false);
        Self {
            regression: regression.valid(),
            inputs: constant(&data.inputs),
            targets: constant(&data.targets),
        }
    }

    /// The trained model of a regression model and its data.
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite.
    pub fn trained(regression: &R, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        ConditionError::check(&data.inputs, &data.targets)?;
        Ok(Self::new(regression, data).into_trained())
    }

    /// A trained model of this shape, whose values are then read from a record.
    pub fn skeleton(regression: &R, shape: &DataShape) -> AnyTrained {
        let mut regression = regression.clone();
        if !shape.row_columns.is_empty() {
            regression.use_row_columns(shape.row_columns);
        }
        Self::new(&regression, &shape.zeros()).into_trained()
    }

    /// The same regression with other data, on the device without autodiff.
    fn of_rows(&self, TrainingData { inputs, targets }: TrainingData) -> Self {
        let constant = |tensor| Param::from_tensor(tensor).set_require_grad(false);
        Self {
            regression: self.regression.clone(),
            inputs: constant(inputs),
            targets: constant(targets),
        }
    }

    /// The targets without the weights and the noise of the rows, `[N, P]`.
    fn known(&self) -> Tensor<2> {
        (self.regression.row_columns())
            .split(self.targets.val())
            .targets
    }

    /// Targets of further rows, `[N, P]`, or with known noise `[N, P + 1]`, in the form of those of the model. Their weight is
    /// one, and noise that is not given is zero.
    fn further(&self, targets: Tensor<2>) -> Tensor<2> {
        let own = self.regression.row_columns();
        let [_, outputs] = self.known().dims();
        let [rows, columns] = targets.dims();
        let options = (&targets.device(), targets.dtype());
        let mut all = vec![targets.clone().narrow(1, 0, outputs)];
        if own.weights {
            all.push(Tensor::ones([rows, 1], options));
        }
        if own.noise {
            all.push(match columns > outputs {
                true => targets.narrow(1, outputs, 1),
                false => Tensor::zeros([rows, 1], options),
            });
        }
        Tensor::cat(all, 1)
    }

    /// The regression model.
    pub fn regression(&self) -> &R {
        &self.regression
    }
}

/// Regression that needs its training data to predict.
pub trait KeepsData: Model + Module + ModuleDisplay {
    /// The process given the data.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an input or a target is not finite, or a covariance matrix cannot be factored.
    fn process_of(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Box<dyn AnyProcess + Send + Sync>, ConditionError>;

    /// The kernel.
    fn kernel(&self) -> &impl KernelModule;

    /// The mean function.
    fn mean(&self) -> &AnyMean;

    /// The likelihood.
    fn likelihood(&self) -> AnyLikelihood;

    /// Whether the model predicts from any rows at the same parameters. Trained actions belong to the rows that they
    /// combine.
    fn takes_any_rows(&self) -> bool {
        true
    }

    /// What the last columns of the targets say about the rows.
    fn row_columns(&self) -> RowColumns {
        RowColumns::default()
    }

    /// The process given further rows, made from that of the rows so far. `None` if it must be computed from all rows.
    fn extended(
        &self,
        _process: &dyn AnyProcess,
        _inputs: Tensor<2>,
        _targets: Tensor<2>,
    ) -> Option<Result<Box<dyn AnyProcess + Send + Sync>, ConditionError>> {
        None
    }
}

/// Forwards to the methods of each regression type, with further methods in braces.
macro_rules! keeps_data {
    ($($type:ident<$($parameter:ident: $bound:ident),*> { $($more:tt)* })*) => {
        $(impl<$($parameter: $bound + Sync + 'static),*> KeepsData for $type<$($parameter),*> {
            fn process_of(
                &self,
                inputs: Tensor<2>,
                targets: Tensor<2>,
            ) -> Result<Box<dyn AnyProcess + Send + Sync>, ConditionError> {
                Ok(Box::new(self.condition(inputs, targets)?))
            }

            fn kernel(&self) -> &impl KernelModule {
                self.kernel()
            }

            fn mean(&self) -> &AnyMean {
                self.mean()
            }

            fn likelihood(&self) -> AnyLikelihood {
                AnyLikelihood::from(self.likelihood().clone())
            }

            $($more)*
        })*
    };
}

keeps_data! {
    Exact<K: KernelModule> {
        fn row_columns(&self) -> RowColumns {
            self.row_columns()
        }

        fn extended(
            &self,
            process: &dyn AnyProcess,
            inputs: Tensor<2>,
            targets: Tensor<2>,
        ) -> Option<Result<Box<dyn AnyProcess + Send + Sync>, ConditionError>> {
            let process: &dyn Any = process;
            let process: &WithMean<ConditionedProcess> = process.downcast_ref()?;
            let noise = self.likelihood().noise().without_autodiff();
            match process.condition_on_observations(inputs, targets, noise) {
                Ok(process) => Some(Ok(Box::new(process))),
                Err(UpdateError::Condition(error)) => Some(Err(error)),
                Err(_) => None,
            }
        }
    }
    ExactOutputs<K: KernelModule> {}
    ComputationAware<K: KernelModule, A: ActionPolicy> {
        fn row_columns(&self) -> RowColumns {
            self.row_columns()
        }

        fn takes_any_rows(&self) -> bool {
            let policy: &dyn Any = self.policy();
            matches!(policy.downcast_ref(), Some(AnyActionPolicy::Iterations(_)))
                || policy.is::<Iterations>()
        }
    }
    ConjugateGradients<K: KernelModule> {
        fn row_columns(&self) -> RowColumns {
            self.row_columns()
        }
    }
    Vecchia<K: KernelModule> {
        fn row_columns(&self) -> RowColumns {
            self.row_columns()
        }
    }
    VecchiaLaplace<K: KernelModule> {}
    Vif<> {}
    Markov<K: KernelModule> {
        fn row_columns(&self) -> RowColumns {
            self.row_columns()
        }
    }
    MarkovVariational<K: KernelModule> {}
}

impl<R: KeepsData> Trained for Conditioned<R> {
    fn process(&self) -> Result<Box<dyn AnyProcess + Send + Sync>, ConditionError> {
        self.regression
            .process_of(self.inputs.val(), self.targets.val())
    }

    fn condition_on_observations(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Option<Result<AnyTrained, ConditionError>> {
        self.regression.takes_any_rows().then(|| {
            ConditionError::check_inputs(&inputs)?;
            let all = |own: &Param<Tensor<2>>, more| Tensor::cat(vec![own.val(), more], 0);
            let data = TrainingData {
                inputs: all(&self.inputs, inputs.without_autodiff()),
                targets: all(&self.targets, self.further(targets.without_autodiff())),
            };
            Ok(self.of_rows(data).into_trained())
        })
    }

    fn process_given(
        &self,
        process: &dyn AnyProcess,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Option<Result<Box<dyn AnyProcess + Send + Sync>, ConditionError>> {
        let has_own_noise = targets.dims()[1] > self.known().dims()[1];
        let extended = (!has_own_noise)
            .then(|| (self.regression).extended(process, inputs.clone(), targets.clone()));
        extended.flatten().or_else(|| {
            let model = self.condition_on_observations(inputs, targets)?;
            Some(model.and_then(|model| model.process()))
        })
    }

    fn observations(&self) -> Option<TrainingData> {
        Some(TrainingData {
            inputs: self.inputs.val(),
            targets: self.known(),
        })
    }

    fn without_observations(&self, rows: &[usize]) -> Option<AnyTrained> {
        self.regression.takes_any_rows().then(|| {
            let (inputs, targets) = (self.inputs.val(), self.targets.val());
            let [count, _] = inputs.dims();
            let removed: BTreeSet<usize> = rows.iter().copied().collect();
            assert!(
                removed.last().is_none_or(|&row| row < count) && removed.len() < count,
                "rows {removed:?} of {count}; expected some of them, and not all"
            );
            let kept = (0..count).filter(|row| !removed.contains(row));
            let kept: Vec<i64> = kept.map(|row| row as i64).collect();
            let kept = Tensor::<1, Int>::from_data(kept.as_slice(), &inputs.device());
            let data = TrainingData { inputs, targets };
            self.of_rows(data.reordered(&kept)).into_trained()
        })
    }

    fn leave_folds_out(
        &self,
        folds: Option<&[usize]>,
    ) -> Option<Result<LeaveFoldsOut, ConditionError>> {
        let data = TrainingData {
            inputs: self.inputs.val(),
            targets: self.targets.val(),
        };
        let each: Vec<usize> = (0..data.inputs.dims()[0]).collect();
        (self.regression).leave_folds_out(&data, folds.unwrap_or(&each))
    }

    fn known_targets(&self) -> Option<Tensor<2>> {
        Some(self.known())
    }

    fn row_columns(&self) -> RowColumns {
        self.regression.row_columns()
    }

    fn likelihood(&self) -> AnyLikelihood {
        self.regression.likelihood()
    }

    fn options(&self) -> (Device, DType) {
        let inputs = self.inputs.val();
        (inputs.device(), inputs.dtype())
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.regression.hyperparameters()
    }

    fn parts(&self, x: Tensor<2>) -> Option<Result<Vec<FunctionPart>, ConditionError>> {
        let Structure::Sum(first, second) = self.regression.kernel().structure() else {
            return None;
        };
        let likelihood = self.regression.likelihood();
        let noise = likelihood.downcast_ref::<Gaussian>()?.noise();
        let (inputs, targets) = (self.inputs.val(), self.targets.val());
        let [rows, columns] = targets.dims();
        if rows > MOST_ROWS || columns > 1 {
            return None;
        }
        let known = KnownRows {
            residual: self.regression.mean().residual(targets, inputs.clone()),
            inputs,
            noise,
        };
        let terms = [terms(first), terms(second)].concat();
        Some(function_parts(&terms, known, x))
    }

    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Option<Tensor<2>> {
        Some(self.regression.kernel().covariance_at(x1, x2))
    }
}
