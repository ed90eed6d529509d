//! Merging of options with those of an earlier run or a configuration file.

use super::{Property, RunOptions};

/// If an option of the first list is given, the earlier values of the options in the second list are dropped,
/// because they conflict with it or depend on its earlier value.
const OVERRIDES: [(&[&str], &[&str]); 11] = [
    (&["epochs", "steps"], &["epochs", "steps"]),
    (
        &["epochs", "steps", "validation_fraction"],
        &["early_stopping"],
    ),
    (
        &["split", "test_fraction", "test", "time_split"],
        &["split", "test_fraction", "test", "time_split"],
    ),
    (
        &["validation", "validation_fraction", "early_stopping"],
        &["validation", "validation_fraction"],
    ),
    (
        &["data"],
        &[
            "likelihood",
            "lower",
            "upper",
            "target",
            "noise_column",
            "input_noise",
            "trials",
            "upper_column",
            "offset",
            "exposure",
            "id",
            "group",
            "time_split",
            "test",
            "validation",
            "inputs",
            "drop",
            "kind",
            "transform",
            "rows",
            "class_order",
            "split",
            "image",
        ],
    ),
    (
        &["target"],
        &["class_order", "likelihood", "lower", "upper"],
    ),
    (&["likelihood", "lower", "upper"], &["lower", "upper"]),
    (&["device", "devices"], &["device", "devices"]),
    (&["schedule"], &["stages", "stage_factor"]),
    (
        &["no_correction"],
        &["training_correction", "prediction_correction"],
    ),
    (
        &["training_correction", "prediction_correction"],
        &["no_correction"],
    ),
];

impl RunOptions {
    /// Adds the options of `earlier` that are absent here.
    ///
    /// Earlier options that conflict with options here, or that belong to another data set, are dropped. So are
    /// the jitter and other options whose defaults depend on the floating-point type, if that type changes.
    pub fn over(mut self, earlier: Self) -> Self {
        let own_dtype = self.dtype.is_some_and(|dtype| earlier.dtype != Some(dtype));
        let given = self.fields();
        let overridden = OVERRIDES.iter().filter(|(names, _)| {
            let mut names = names.iter();
            names.any(|&name| given.contains_key(name))
        });
        let mut overridden: Vec<&str> = overridden.flat_map(|(_, names)| *names).copied().collect();
        if own_dtype {
            let names = Self::NAMES.iter().copied();
            overridden.extend(names.filter(|name| Self::has(name, Property::FromDtype)));
        }
        self.fill(earlier.without(&overridden));
        self
    }

    /// Removes the options with these names.
    pub(super) fn without(mut self, names: &[impl AsRef<str>]) -> Self {
        if names.is_empty() {
            return self;
        }
        // Serialization fails for a path that is not valid UTF-8.
        let data_dir = self.data_dir.take();
        let mut fields = self.fields();
        fields.retain(|own, _| names.iter().all(|name| name.as_ref() != own));
        let left = match Self::from_fields(fields) {
            Ok(left) => left,
            Err(error) => unreachable!("options that were written are read: {error}"),
        };
        Self { data_dir, ..left }
    }
}
