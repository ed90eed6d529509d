//! Options completed by those of an earlier run or a configuration file.

use merge::Merge;
use serde_json::{Map, Value};

use super::RunOptions;

/// Options that exclude each other, or that mean something only for others: where one of the first is
/// given, the second are not taken from before.
const LEFT_BEHIND: [(&[&str], &[&str]); 8] = [
    (&["epochs", "steps"], &["epochs", "steps"]),
    (
        &["epochs", "steps", "validation_fraction"],
        &["early_stopping"],
    ),
    (&["split", "test_fraction"], &["split", "test_fraction"]),
    (
        &["data"],
        &[
            "likelihood",
            "target",
            "noise_column",
            "class_order",
            "split",
            "image",
        ],
    ),
    (&["target"], &["class_order"]),
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

/// Options that are left behind with their floating-point type.
const OF_A_TYPE: [&str; 3] = ["jitter", "pseudo_noise", "pseudo_noise_floor"];

impl RunOptions {
    /// These options, completed by those of `earlier`.
    ///
    /// Options that exclude each other, and those that only mean something for their data, are
    /// not mixed; a jitter is left behind with its floating-point type.
    pub fn over(mut self, earlier: Self) -> Self {
        let own_dtype = self.dtype.is_some_and(|dtype| earlier.dtype != Some(dtype));
        let given = self.fields();
        let left_behind = LEFT_BEHIND.iter().filter(|(names, _)| {
            let mut names = names.iter();
            names.any(|&name| given.contains_key(name))
        });
        let mut left_behind: Vec<&str> =
            left_behind.flat_map(|(_, names)| *names).copied().collect();
        if own_dtype {
            left_behind.extend(OF_A_TYPE);
        }
        self.merge(earlier.without(&left_behind));
        self
    }

    /// The same without the options of these names.
    fn without(mut self, names: &[&str]) -> Self {
        // A path need not be text.
        let data_dir = self.data_dir.take();
        let mut options = self.to_json();
        forget(&mut options, names);
        let left = match serde_json::from_value(Value::Object(options)) {
            Ok(left) => left,
            Err(error) => unreachable!("options that were written are read: {error}"),
        };
        Self { data_dir, ..left }
    }
}

/// Removes options, those of groups too.
fn forget(options: &mut Map<String, Value>, names: &[&str]) {
    options.retain(|name, _| !names.contains(&name.as_str()));
    for group in options.values_mut() {
        if let Value::Object(group) = group {
            forget(group, names);
        }
    }
}
