//! The settings of training that options and the defaults of a model give.

use super::{Error, Fit, Length, Optimizer, unused};
use crate::training::{
    AdamRates, FullBatchOptimizer, FullBatchTraining, MiniBatchTraining, Training, TrainingDefaults,
};

impl Fit {
    /// The training on `rows` rows of a model whose default training is `usual`.
    pub(in crate::fit) fn training(
        &self,
        usual: TrainingDefaults,
        has_draws: bool,
        rows: usize,
    ) -> Result<Training, Error> {
        self.check_ranges()?;
        let rates = match (usual, self.optimizer) {
            (_, Some(Optimizer::LBfgs)) if has_draws => {
                return unused(
                    "l_bfgs",
                    "the objective of a model with hidden layers changes from step to step",
                );
            }
            (TrainingDefaults::FullBatch(usual), chosen) => {
                let is_l_bfgs = matches!(usual.optimizer, FullBatchOptimizer::LBfgs { .. });
                return Ok(match chosen {
                    Some(Optimizer::LBfgs) => self.l_bfgs_training(usual)?,
                    None if is_l_bfgs => self.l_bfgs_training(usual)?,
                    _ => self.full_batch_adam(usual)?,
                }
                .into());
            }
            (_, Some(Optimizer::LBfgs)) => {
                return Ok(self.l_bfgs_training(FullBatchTraining::L_BFGS)?.into());
            }
            (TrainingDefaults::OneBatch(rates) | TrainingDefaults::MiniBatches(rates), _) => rates,
        };
        Ok(self.mini_batch_training(usual, rates, rows)?.into())
    }

    fn l_bfgs_training(&self, usual: FullBatchTraining) -> Result<FullBatchTraining, Error> {
        self.refuse_mini_batches("the model is trained by L-BFGS on all data")?;
        self.refuse_network("L-BFGS trains all parameters together")?;
        if self.schedule.is_some() {
            return unused("schedule", "L-BFGS uses line searches instead");
        }
        Ok(FullBatchTraining {
            iterations: self.steps_of_all_data(usual.iterations),
            tolerance: self.tolerance.unwrap_or(usual.tolerance),
            // A given tolerance is the only one.
            nats: self.tolerance.map_or(usual.nats, |_| 0.0),
            optimizer: match self.learning_rate {
                Some(learning_rate) => FullBatchOptimizer::LBfgs { learning_rate },
                None => FullBatchOptimizer::L_BFGS,
            },
        })
    }

    fn full_batch_adam(&self, usual: FullBatchTraining) -> Result<FullBatchTraining, Error> {
        self.refuse_mini_batches("every step of this model uses all data")?;
        self.refuse_network("the model has no network")?;
        self.refuse_tolerance()?;
        let rate = match usual.optimizer {
            FullBatchOptimizer::Adam { learning_rate, .. } => learning_rate,
            FullBatchOptimizer::LBfgs { .. } => TrainingDefaults::LEARNING_RATE,
        };
        Ok(FullBatchTraining {
            iterations: self.steps_of_all_data(usual.iterations),
            optimizer: FullBatchOptimizer::Adam {
                learning_rate: self.learning_rate.unwrap_or(rate),
                schedule: self.schedule_or_default(),
            },
            ..usual
        })
    }

    fn mini_batch_training(
        &self,
        usual: TrainingDefaults,
        rates: AdamRates,
        rows: usize,
    ) -> Result<MiniBatchTraining, Error> {
        self.refuse_tolerance()?;
        if rates.network.is_none() {
            self.refuse_network("the model has no network")?;
        }
        if matches!(usual, TrainingDefaults::OneBatch(_)) {
            let given = [
                ("batch_size", self.batch_size.is_some()),
                ("seed", self.seed.is_some() && self.restarts == 0),
            ];
            first_given(&given, "every step of this model uses all data")?;
        }
        let given = self.mini_batches.clone();
        let default = given.unwrap_or_else(|| rates.training(self.learning_rate));
        let training = MiniBatchTraining {
            learning_rate: self.learning_rate.unwrap_or(default.learning_rate),
            batch_size: self.batch_size.unwrap_or(default.batch_size),
            network_rate: self.network_rate.or(default.network_rate),
            weight_decay: self.weight_decay.unwrap_or(default.weight_decay),
            schedule: self.schedule_or_default(),
            gradient_norm: self.gradient_norm.or(default.gradient_norm),
            natural_gradient: self.natural_gradient.or(default.natural_gradient),
            inducing: self.inducing.or(default.inducing),
            seed: self.seed.unwrap_or(default.seed),
            ..default
        };
        let training = usual.for_rows(training, rows);
        let steps = match (self.length, &self.mini_batches) {
            (Some(Length::Steps(steps)), _) => steps,
            (Some(Length::Epochs(epochs)), _) => training.steps_in_epochs(epochs, rows),
            (None, Some(given)) => given.steps,
            (None, None) => training.steps,
        };
        Ok(MiniBatchTraining { steps, ..training })
    }

    fn steps_of_all_data(&self, usual: usize) -> usize {
        match self.length {
            Some(Length::Steps(count) | Length::Epochs(count)) => count,
            None => usual,
        }
    }

    fn refuse_mini_batches(&self, reason: &'static str) -> Result<(), Error> {
        let given = [
            ("mini_batches", self.mini_batches.is_some()),
            ("batch_size", self.batch_size.is_some()),
            ("natural_gradients", self.natural_gradient.is_some()),
            ("inducing", self.inducing.is_some()),
            ("gradient_norm", self.gradient_norm.is_some()),
            ("seed", self.seed.is_some() && self.restarts == 0),
        ];
        first_given(&given, reason)
    }

    fn refuse_network(&self, reason: &'static str) -> Result<(), Error> {
        let given = [
            ("network_rate", self.network_rate.is_some()),
            ("weight_decay", self.weight_decay.is_some()),
        ];
        first_given(&given, reason)
    }

    fn refuse_tolerance(&self) -> Result<(), Error> {
        let given = [("tolerance", self.tolerance.is_some())];
        first_given(&given, "Adam has no convergence test")
    }

    fn check_ranges(&self) -> Result<(), Error> {
        let positive = [
            ("the learning rate", self.learning_rate),
            ("the learning rate of the network", self.network_rate),
            ("the gradient norm", self.gradient_norm),
            ("the batch size", self.batch_size.map(|size| size as f64)),
            (
                "the patience",
                self.early_stopping
                    .as_ref()
                    .map(|stop| stop.patience as f64),
            ),
        ];
        for (name, value) in positive {
            let is_possible = |value: f64| value > 0.0 && value.is_finite();
            within(name, value, is_possible, "be a positive number")?;
        }
        for (name, value) in [
            ("the weight decay", self.weight_decay),
            ("the tolerance", self.tolerance),
        ] {
            let is_possible = |value: f64| value >= 0.0 && value.is_finite();
            within(name, value, is_possible, "be zero or a positive number")?;
        }
        let step_size = self.natural_gradient.map(|gradient| gradient.step_size);
        let is_possible = |value: f64| value > 0.0 && value <= 1.0;
        let range = "be greater than 0 and at most 1";
        within(
            "the step size of natural gradients",
            step_size,
            is_possible,
            range,
        )
    }
}

/// Refuses the first option that was given.
fn first_given(given: &[(&'static str, bool)], reason: &'static str) -> Result<(), Error> {
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => unused(option, reason),
        None => Ok(()),
    }
}

/// Checks the range of an optional number.
fn within(
    name: &'static str,
    value: Option<f64>,
    is_possible: impl Fn(f64) -> bool,
    range: &'static str,
) -> Result<(), Error> {
    match value {
        Some(value) if !is_possible(value) => Err(Error::OutOfRange { name, value, range }),
        _ => Ok(()),
    }
}
