//! The settings of training that options and the defaults of a model give.

use super::{Error, Fit, Length, Optimizer, unused};
use crate::training::{
    AdamRates, FullBatchOptimizer, FullBatchTraining, MiniBatchTraining, NetworkTraining, Training,
    TrainingDefaults,
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
        let (rates, one_batch) = match (usual, self.optimizer) {
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
            (TrainingDefaults::OneBatch(rates), _) => (rates, true),
            (TrainingDefaults::MiniBatches(rates), _) => (rates, false),
        };
        Ok(self.mini_batches(rates, one_batch, rows)?.into())
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

    fn mini_batches(
        &self,
        rates: AdamRates,
        one_batch: bool,
        rows: usize,
    ) -> Result<MiniBatchTraining, Error> {
        self.refuse_tolerance()?;
        if rates.network.is_none() {
            self.refuse_network("the model has no network")?;
        }
        let reason = "every step of this model uses all data";
        let batch_size = match (one_batch, self.batch_size) {
            (true, Some(_)) => return unused("batch_size", reason),
            (true, None) if self.seed.is_some() && self.restarts == 0 => {
                return unused("seed", reason);
            }
            (true, None) => rows,
            (false, size) => size.unwrap_or(TrainingDefaults::BATCH_SIZE),
        };
        let network = rates.network;
        // If the user gives a learning rate, it applies to the network, too.
        let network_rate = network
            .filter(|_| self.learning_rate.is_none())
            .map(|network: NetworkTraining| network.learning_rate);
        let training = MiniBatchTraining {
            batch_size,
            learning_rate: self.learning_rate.unwrap_or(rates.learning_rate),
            network_rate: self.network_rate.or(network_rate),
            weight_decay: (self.weight_decay)
                .or(network.map(|network| network.weight_decay))
                .unwrap_or(0.0),
            schedule: self.schedule_or_default(),
            gradient_norm: self.gradient_norm,
            natural_gradient: self.natural_gradient,
            inducing: self.inducing,
            seed: self.seed.unwrap_or(0),
            ..MiniBatchTraining::new(0)
        };
        let steps = match self.length {
            Some(Length::Steps(steps)) => steps,
            Some(Length::Epochs(epochs)) => training.steps_in_epochs(epochs, rows),
            None if one_batch => TrainingDefaults::ONE_BATCH_STEPS,
            None => TrainingDefaults::STEPS
                .max(training.steps_in_epochs(TrainingDefaults::EPOCHS, rows)),
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
