//! Warnings about a file that is read in blocks.

use std::collections::BTreeMap;

use crate::dataset::{Dataset, Features};
use crate::streamed_statistics::StreamedStatistics;
use crate::warnings::{DataWarning, about_targets, constant_inputs, extreme_target};

/// Counts what is unusual about the rows of a file, block by block, for the warnings that a table in memory
/// has.
///
/// A sample of the rows decides what the columns are. Other rows may have gaps in columns that have none in the
/// sample, and levels that it does not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamedWarnings {
    rows: usize,
    without_target: usize,
    /// The number of rows with such a gap, by column.
    filled: BTreeMap<String, usize>,
    /// The number of rows with such a level, by column.
    unseen: BTreeMap<String, usize>,
}

impl StreamedWarnings {
    /// Counts the rows of a block.
    pub fn push(&mut self, block: &Features) {
        self.rows += block.inputs.rows();
        let targets = block.targets.iter().flatten();
        self.without_target += targets.filter(|target| target.is_nan()).count();
        for (all, found) in [
            (&mut self.filled, &block.filled),
            (&mut self.unseen, &block.unseen),
        ] {
            for (name, count) in found {
                *all.entry(name.clone()).or_default() += count;
            }
        }
    }

    /// The warnings about all blocks. `sample` says what the columns are, and `statistics` are those of the
    /// training rows.
    pub fn warnings(&self, sample: &Dataset, statistics: &StreamedStatistics) -> Vec<DataWarning> {
        let mut found = about_targets(sample, self.without_target);
        found.extend(constant_inputs(sample, &statistics.constant_inputs()));
        found.extend(extreme_target(
            sample.target_name(),
            statistics.largest_target(),
        ));
        let rows = self.rows;
        found.extend((self.filled.iter()).map(|(name, &count)| {
            let name = name.clone();
            DataWarning::GapsBeyondSample { name, count, rows }
        }));
        found.extend((self.unseen.iter()).map(|(name, &count)| {
            let name = name.clone();
            DataWarning::ValuesBeyondSample { name, count, rows }
        }));
        found
    }
}
