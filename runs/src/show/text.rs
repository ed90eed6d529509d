//! The description of a saved model as text.

use burn_gp_datasets::{agreeing, counted};
use std::fmt::{self, Display, Formatter};

use super::{Description, ShownParameter, TargetDescription, Units};
use crate::baselines::baselines_text;
use crate::report::{leave_one_out_line, line, score_lines, significant};
use crate::text_table::aligned;

impl Display for Description {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let facts = self.facts().into_iter();
        let mut lines: Vec<String> = facts.map(|(name, text)| line(name, &text)).collect();
        if let Some(scores) = &self.scores {
            lines.push(String::new());
            let is_standardized = self.target.standardized.is_some();
            lines.extend(score_lines(scores, &self.target.name, is_standardized));
            let baselines = baselines_text(&self.baselines, &self.target.name);
            lines.extend(baselines.map(|text| line("baselines", &text)));
        }
        let calibration = self.calibration.iter();
        lines.extend(calibration.map(|own| line("calibrated", &own.text())));
        let noise = self.input_noise.iter();
        lines.extend(noise.map(|own| line("input noise", &own.text(&self.target.name))));
        lines.extend(leave_one_out_line(self.leave_one_out, &self.target.name));
        lines.extend(self.warnings.iter().map(|text| line("warning", text)));
        lines.push(String::new());
        lines.extend(self.input_lines());
        lines.push(String::new());
        lines.extend(
            self.parameters
                .iter()
                .flat_map(|parameter| self.parameter_lines(parameter)),
        );
        formatter.write_str(lines.join("\n").trim_end())
    }
}

impl TargetDescription {
    fn text(&self) -> String {
        let name = &self.name;
        let transform = self.transform.as_ref();
        let transform = transform.map_or_else(String::new, |own| format!(" after {own}"));
        match (&self.classes, self.standardized) {
            (Some(classes), _) => {
                let count = counted(classes.len(), "class");
                format!("{name}, {count}: {}", classes.join(", "))
            }
            (None, Some(statistics)) => format!(
                "{name}{transform}, standardized: mean {}, standard deviation {}",
                significant(statistics.mean),
                significant(statistics.standard_deviation)
            ),
            (None, None) => format!("{name}, not standardized"),
        }
    }
}

impl Description {
    /// The model, the data and the training, each with its name.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let data = format!(
            "{}: {} to train on",
            self.data,
            counted(self.n_train, "row")
        );
        let saved = format!(
            "{}, format version {}",
            self.precision(),
            self.format_version
        );
        let mut facts = vec![
            ("model", self.model_text()),
            ("data", data),
            ("target", self.target.text()),
            ("saved", saved),
        ];
        facts.extend(self.training_text().map(|training| ("training", training)));
        facts
    }

    fn precision(&self) -> &'static str {
        match self.precision {
            burn_gp_models::Precision::F32 => "f32",
            burn_gp_models::Precision::F64 => "f64",
        }
    }

    fn model_text(&self) -> String {
        let kernel = self
            .kernel
            .as_ref()
            .map(|kernel| format!("{kernel} kernel"));
        let likelihood = format!("{} likelihood", self.likelihood);
        let posterior = self
            .posterior
            .as_ref()
            .map(|posterior| format!("{posterior} posterior"));
        let inducing = self.inducing.map(|count| {
            let orthogonal = self.orthogonal.map(|orthogonal| {
                let noun = agreeing(orthogonal, ["one", "ones"]);
                format!(" and {orthogonal} orthogonal {noun}")
            });
            counted(count, "inducing point") + &orthogonal.unwrap_or_default()
        });
        let parts = [
            Some(self.model.clone()),
            kernel,
            Some(likelihood),
            posterior,
            inducing,
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(", ")
    }

    fn training_text(&self) -> Option<String> {
        let training = self.training.as_ref()?;
        let kept = match training.step_kept == training.steps {
            true => String::new(),
            false => format!(", kept the model of step {}", training.step_kept),
        };
        Some(format!(
            "{} in {:.1} s on {} with seed {}{kept}, loss {:.4}",
            counted(training.steps, "step"),
            training.train_seconds,
            training.backend,
            training.seed,
            training.objective
        ))
    }

    /// The inputs with the means and scales that standardize them.
    fn input_lines(&self) -> Vec<String> {
        const MOST: usize = 50;
        let header = ["input", "mean", "scale"].map(str::to_owned).to_vec();
        let row = |input: &super::InputDescription| {
            let transform = input.transform.as_ref();
            vec![
                transform.map_or_else(
                    || input.name.clone(),
                    |transform| format!("{} after {transform}", input.name),
                ),
                significant(input.mean),
                significant(input.scale),
            ]
        };
        let shown = self.inputs.iter().take(MOST).map(row);
        let mut lines = aligned(&std::iter::once(header).chain(shown).collect::<Vec<_>>());
        if let Some(more @ 1..) = self.inputs.len().checked_sub(MOST) {
            lines.push(format!("and {}", counted(more, "more input")));
        }
        lines
    }

    fn parameter_lines(&self, parameter: &ShownParameter) -> Vec<String> {
        let ShownParameter {
            path,
            values,
            units,
            inputs,
        } = parameter;
        let note = self.note(*units, values);
        let Some(inputs) = inputs else {
            let values: Vec<String> = values.iter().map(|&value| significant(value)).collect();
            return vec![format!("{}{note}", line(path, &values.join(", ")))];
        };
        let rows = inputs.iter().zip(values);
        let rows = rows.map(|(name, &value)| vec![format!("  {name}"), significant(value)]);
        std::iter::once(format!("{path}{note}"))
            .chain(aligned(&rows.collect::<Vec<_>>()))
            .collect()
    }

    /// A note about the units of the values.
    fn note(&self, units: Units, values: &[f64]) -> String {
        let target = &self.target.name;
        let target = &match &self.target.transform {
            Some(transform) => format!("{target} after {transform}"),
            None => target.clone(),
        };
        let text = match units {
            Units::None => return String::new(),
            Units::Inputs => "in the units of the input".to_owned(),
            Units::PerInput => "per unit of the input".to_owned(),
            Units::Target => format!("in the units of {target}"),
            Units::TargetPerInput => format!("in the units of {target} per unit of the input"),
            Units::SquaredTargetPerInput => {
                format!("in squared units of {target} per unit of the input")
            }
            Units::SquaredTarget => {
                let deviations = values.iter().map(|value| significant(value.sqrt()));
                let deviations: Vec<String> = deviations.collect();
                format!(
                    "standard deviation {} in the units of {target}",
                    deviations.join(", ")
                )
            }
            Units::Standardized => "standardized".to_owned(),
        };
        format!(" ({text})")
    }
}
