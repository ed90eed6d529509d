//! Some of the entries of a table of inputs and outputs.

use burn::tensor::{Int, Tensor};

use crate::{ops::numbers, parameter::both_tracked};

/// Some of the entries of a table with one row for each input and one column for each output.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    /// The zero-based row and output of each.
    pub(super) places: Vec<(usize, usize)>,
    pub(super) rows: usize,
    pub(super) outputs: usize,
}

impl Entries {
    /// All entries, row by row.
    pub(super) fn all([rows, outputs]: [usize; 2]) -> Self {
        let places = (0..rows).flat_map(|row| (0..outputs).map(move |output| (row, output)));
        Self {
            places: places.collect(),
            rows,
            outputs,
        }
    }

    /// The entries of targets, `[N, P]`, that are not NaN.
    pub(super) fn observed(targets: &Tensor<2>) -> Self {
        let values = numbers(targets.clone().inner());
        let mut entries = Self::all(targets.dims());
        let mut known = values.into_iter().map(|value| !value.is_nan());
        entries.places.retain(|_| known.next().unwrap_or(false));
        entries
    }

    /// Whole numbers of the entries, on the device of `like`.
    fn indices(&self, like: &Tensor<2>, of: impl Fn(usize, usize) -> usize) -> Tensor<1, Int> {
        let indices = self.places.iter().map(|&(row, output)| of(row, output));
        let indices: Vec<i64> = indices.map(|index| index as i64).collect();
        Tensor::from_data(indices.as_slice(), &like.device())
    }

    /// The inputs of each entry, with the number of its output in the last column: `[N, D]` to `[n, D + 1]`.
    pub(super) fn inputs(&self, x: Tensor<2>) -> Tensor<2> {
        let outputs = self.indices(&x, |_, output| output);
        let outputs = outputs.float().cast(x.dtype()).unsqueeze_dim::<2>(1);
        let rows = self.indices(&x, |row, _| row);
        let (x, outputs) = both_tracked(x.select(0, rows), outputs);
        Tensor::cat(vec![x, outputs], 1)
    }

    /// The entries of a table, `[N, P]` to `[n, 1]`.
    pub(super) fn of(&self, table: Tensor<2>) -> Tensor<2> {
        let flat = self.indices(&table, |row, output| row * self.outputs + output);
        let table = table.reshape([self.rows * self.outputs]);
        table.select(0, flat).unsqueeze_dim(1)
    }

    /// The value of the output of each entry, `[P]` to `[n]`; one value stands for all outputs.
    pub(super) fn of_outputs(&self, values: Tensor<1>) -> Tensor<1> {
        match values.dims() {
            [1] => values.expand([self.places.len()]),
            _ => {
                let outputs = self.indices(&values.clone().unsqueeze(), |_, output| output);
                values.select(0, outputs)
            }
        }
    }

    /// The places `row·P + output` of the entries that are left out, ascending.
    pub(super) fn holes(&self) -> Vec<usize> {
        let mut kept = self.places.iter().copied().peekable();
        Self::all([self.rows, self.outputs])
            .places
            .into_iter()
            .filter(|place| kept.next_if_eq(place).is_none())
            .map(|(row, output)| row * self.outputs + output)
            .collect()
    }
}
