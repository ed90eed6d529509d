//! The input columns of a table, and the default likelihood of its target.

use burn_gp_core::likelihoods::{BernoulliConfig, GaussianConfig, LikelihoodName, SoftmaxConfig};
use burn_gp_datasets::{
    ColumnRoles, Companion, DataError, DataSource, InputColumns, Labels, RowRole, TargetColumn,
    Task,
};

use super::RunOptions;

impl RunOptions {
    /// The columns that become inputs. The kinds of columns are inferred for the user's own files; all columns
    /// of the named data sets are numbers.
    pub fn input_columns(&self, source: &DataSource) -> InputColumns {
        InputColumns {
            inferred: source.is_own_file(),
            header: self.no_header.map(|none| !none),
            only: self.inputs.clone(),
            without: self.drop.clone().unwrap_or_default(),
            kinds: self.kind.clone().unwrap_or_default(),
            offset: self.offset.clone(),
            exposure: self.exposure.clone(),
            missing: self.missing.map(Into::into).unwrap_or_default(),
            missing_values: self.missing_values.clone(),
            time: self.time.map(Into::into).unwrap_or_default(),
            decimal: self.decimal.map(Into::into),
            date_order: self.date_order.map(Into::into),
            local_times: false,
        }
    }

    /// The roles of the columns. The order of the labels is left open.
    pub fn columns(&self, source: &DataSource) -> ColumnRoles {
        let column = |name: &String| TargetColumn::Name(name.clone());
        let roles = ColumnRoles {
            target: (self.target.as_ref()).map_or(TargetColumn::Last, column),
            inputs: self.input_columns(source),
            ..ColumnRoles::default()
        };
        let about_rows = self.columns_about_rows().into_iter();
        about_rows.fold(roles, |roles, (role, name)| {
            roles.with(role, name.map(column))
        })
    }

    /// Whether `--noise-column` has noise of rows besides the trained one: with the likelihood gaussian, or a model that takes
    /// no other. Otherwise it is all noise of the targets.
    pub fn has_row_noise(&self) -> bool {
        let is_besides = || match self.likelihood {
            Some(likelihood) => likelihood.is::<GaussianConfig>(),
            None => !self.model_fields().takes_any_likelihood(),
        };
        self.noise_column.is_some() && is_besides()
    }

    /// The options that name a column with a role of rows.
    fn columns_about_rows(&self) -> Vec<(RowRole, Option<&String>)> {
        let noise = match self.has_row_noise() {
            true => Companion::RowNoise,
            false => Companion::Noise,
        };
        vec![
            (noise.into(), self.noise_column.as_ref()),
            (Companion::Trials.into(), self.trials.as_ref()),
            (Companion::Upper.into(), self.upper_column.as_ref()),
            (RowRole::Weights, self.weights.as_ref()),
            (RowRole::Time, self.time_split.as_ref()),
            (RowRole::Id, self.id.as_ref()),
            (RowRole::Group, self.group.as_ref()),
        ]
    }

    /// The options with the likelihood that fits the target of the user's own file, if no likelihood is given
    /// and the model supports any.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or has no such target.
    pub fn with_inferred_likelihood(mut self, source: &DataSource) -> Result<Self, DataError> {
        let is_companion = |(role, name): (RowRole, Option<&String>)| {
            matches!(role, RowRole::Companion(_)) && name.is_some()
        };
        let has_companion = self.columns_about_rows().into_iter().any(is_companion);
        let is_open = self.likelihood.is_none() && !has_companion;
        if is_open && source.is_own_file() && self.model_fields().takes_any_likelihood() {
            let roles = ColumnRoles {
                labels: self.class_order.clone().map(Labels::InOrder),
                ..self.columns(source)
            };
            let task = match self.block_file(source)? {
                Some(file) => file.task_of(&roles)?,
                None => source.task_of(&roles)?,
            };
            self.likelihood = Some(match task {
                Task::Regression => LikelihoodName::of::<GaussianConfig>(),
                Task::BinaryClassification => LikelihoodName::of::<BernoulliConfig>(),
                Task::Classification => LikelihoodName::of::<SoftmaxConfig>(),
            });
        }
        Ok(self)
    }
}
