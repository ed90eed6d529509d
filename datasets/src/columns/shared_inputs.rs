//! Groups of inputs that share the hyperparameters of a kernel.

use super::Schema;
use crate::encoding::{ColumnEncoding, Encoding};

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
    fn add(&mut self, name: &str, count: usize) {
        self.first.push(self.groups.len());
        self.groups
            .resize(self.groups.len() + count, self.names.len());
        self.names.push(name.to_owned());
    }
}

impl Schema {
    /// The names of the columns with the longitude and the latitude of a place, if there are such columns.
    pub fn place(&self) -> Option<[&str; 2]> {
        self.columns.iter().find_map(|column| {
            let ColumnEncoding { name, encoding, .. } = &column.encoding;
            match encoding {
                Encoding::Longitude { latitude } => Some([name.as_str(), latitude.as_str()]),
                _ => None,
            }
        })
    }

    /// The positions of the inputs that are known terms of the function, offsets and logarithms of exposures.
    pub fn offset_inputs(&self) -> Vec<usize> {
        let (mut first, mut found) = (0, Vec::new());
        for column in &self.columns {
            if column.encoding.is_known_term() {
                found.push(first);
            }
            first += column.encoding.inputs();
        }
        found
    }

    /// Groups of inputs that share the hyperparameters of a kernel. The inputs of a category with more than
    /// ten levels form one group; otherwise each level would have its own lengthscale. So do the coordinates of
    /// a place, whose axes have no meaning.
    pub fn shared_inputs(&self) -> SharedInputs {
        let mut shared = SharedInputs::default();
        let mut names = self.input_names.iter();
        for column in &self.columns {
            let encoding = &column.encoding;
            let own: Vec<&String> = names.by_ref().take(encoding.inputs()).collect();
            let together = encoding.shared().map_or(0, |(name, count)| {
                shared.add(&name, count);
                count
            });
            own[together..].iter().for_each(|name| shared.add(name, 1));
        }
        names.for_each(|name| shared.add(name, 1));
        shared
    }
}
