//! Options completed by those of an earlier run or a configuration file.

use super::RunOptions;

impl RunOptions {
    /// These options, completed by those of `earlier`.
    ///
    /// Options that exclude each other, and those that only mean something for their data, are
    /// not mixed; a jitter is left behind with its floating-point type.
    pub fn over(self, earlier: Self) -> Self {
        let own_length = self.epochs.is_some() || self.steps.is_some();
        let own_split = self.split.is_some() || self.test_fraction.is_some();
        let own_data = self.data.is_some();
        let own_labels = own_data || self.target.is_some();
        let own_schedule = self.schedule.is_some();
        let own_dtype = self.dtype.is_some_and(|dtype| earlier.dtype != Some(dtype));
        let own_stop = own_length || self.validation_fraction.is_some();
        fn unless<T>(own: bool, value: Option<T>) -> Option<T> {
            value.filter(|_| !own)
        }
        Self {
            model: self.model.or(earlier.model),
            kernel: self.kernel.or(earlier.kernel),
            isotropic: self.isotropic.or(earlier.isotropic),
            mean: self.mean.or(earlier.mean),
            likelihood: (self.likelihood).or(if own_data { None } else { earlier.likelihood }),
            noise: self.noise.or(earlier.noise),
            inducing: self.inducing.or(earlier.inducing),
            orthogonal: self.orthogonal.or(earlier.orthogonal),
            columns: self.columns.or(earlier.columns),
            actions: self.actions.or(earlier.actions),
            action_start: self.action_start.or(earlier.action_start),
            action_rows: self.action_rows.or(earlier.action_rows),
            initializer: self.initializer.or(earlier.initializer),
            covariance: self.covariance.or(earlier.covariance),
            jitter: (self.jitter).or(if own_dtype { None } else { earlier.jitter }),
            pseudo_observations: (self.pseudo_observations)
                .over(earlier.pseudo_observations, own_dtype),
            all_rows: self.all_rows.over(earlier.all_rows),
            layers: self.layers.over(earlier.layers, own_data),
            network: self.network.over(earlier.network),
            set: self.set.or(earlier.set),
            bound: self.bound.or(earlier.bound),
            prior: self.prior.or(earlier.prior),
            fix: self.fix.or(earlier.fix),
            data: self.data.or(earlier.data),
            target: (self.target).or(if own_data { None } else { earlier.target }),
            noise_column: (self.noise_column).or(unless(own_data, earlier.noise_column)),
            class_order: (self.class_order).or(unless(own_labels, earlier.class_order)),
            data_dir: self.data_dir.or(earlier.data_dir),
            split: self.split.or(unless(own_split || own_data, earlier.split)),
            test_fraction: (self.test_fraction).or(if own_split {
                None
            } else {
                earlier.test_fraction
            }),
            validation_fraction: self.validation_fraction.or(earlier.validation_fraction),
            early_stopping: (self.early_stopping).or(unless(own_stop, earlier.early_stopping)),
            input_scale: self.input_scale.or(earlier.input_scale),
            epochs: self.epochs.or(unless(own_length, earlier.epochs)),
            steps: self.steps.or(unless(own_length, earlier.steps)),
            batch_size: self.batch_size.or(earlier.batch_size),
            learning_rate: self.learning_rate.or(earlier.learning_rate),
            schedule: self.schedule.or(earlier.schedule),
            plateau: self.plateau.or(earlier.plateau),
            stages: (self.stages).or(unless(own_schedule, earlier.stages)),
            stage_factor: (self.stage_factor).or(unless(own_schedule, earlier.stage_factor)),
            gradient_norm: self.gradient_norm.or(earlier.gradient_norm),
            natural_gradient: self.natural_gradient.or(earlier.natural_gradient),
            natural_gradient_warm_up: (self.natural_gradient_warm_up)
                .or(earlier.natural_gradient_warm_up),
            inducing_frozen: self.inducing_frozen.or(earlier.inducing_frozen),
            inducing_rate: self.inducing_rate.or(earlier.inducing_rate),
            inducing_momentum: self.inducing_momentum.or(earlier.inducing_momentum),
            inducing_plateau: self.inducing_plateau.or(earlier.inducing_plateau),
            patience: self.patience.or(earlier.patience),
            validation_epochs: self.validation_epochs.or(earlier.validation_epochs),
            keep: self.keep.or(earlier.keep),
            checkpoint_every: self.checkpoint_every.or(earlier.checkpoint_every),
            seed: self.seed.or(earlier.seed),
            dtype: self.dtype.or(earlier.dtype),
            device: self.device.or(earlier.device),
        }
    }
}
