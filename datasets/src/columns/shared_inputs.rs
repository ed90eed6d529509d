//! Groups of inputs that share the hyperparameters of a kernel.

/// Groups of inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedInputs {
    /// The group of each input, from 0, `[D]`.
    pub groups: Vec<usize>,
    /// The first input of each group, `[G]`.
    pub first: Vec<usize>,
    /// The name of each group, `[G]`: the name of its only input, or of its column.
    pub names: Vec<String>,
}

impl SharedInputs {
    /// Adds a group of `count` inputs.
    pub(super) fn add(&mut self, name: &str, count: usize) {
        self.first.push(self.groups.len());
        self.groups
            .resize(self.groups.len() + count, self.names.len());
        self.names.push(name.to_owned());
    }
}
