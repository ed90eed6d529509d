//! Levels of categories and classes of a target, all of which should occur in the training rows.

use crate::dataset::Dataset;
use crate::encoding::Encoding;
use crate::equal_inputs::EqualInputs;
use crate::split::Split;

/// A level that occurs in some rows, but in no training row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnseenLevel {
    /// The name of the column.
    pub column: String,
    /// The level.
    pub level: String,
    /// The rows with this level, none of which is a training row.
    pub rows: Vec<usize>,
}

/// A category or the classes, with the level of each row.
struct Factor {
    column: String,
    levels: Vec<String>,
    of_row: Vec<usize>,
}

impl Split {
    /// Moves rows to training so that it has every level of every category, and every class, of a table whose
    /// columns have kinds. Rows that `together` groups move together. If no test rows would be left, such a
    /// group is divided, but only if it `may_be_divided`; otherwise the split does not change.
    pub fn keeping_levels(
        self,
        data: &Dataset,
        together: &EqualInputs,
        may_be_divided: bool,
    ) -> Self {
        let whole = self.clone().with_levels(data, |unseen| {
            let first = unseen.rows[0];
            let is_same = |row: &usize| together.first(*row) == together.first(first);
            (0..data.rows()).filter(is_same).collect()
        });
        let is_emptied = |part: &Self| {
            part.test.is_empty() && !self.test.is_empty()
                || part.validation.is_empty() && !self.validation.is_empty()
        };
        if !is_emptied(&whole) {
            return whole;
        }
        let divided = self.clone().with_levels(data, |unseen| {
            unseen.rows.iter().copied().step_by(2).collect()
        });
        match may_be_divided && !is_emptied(&divided) {
            true => divided,
            false => self,
        }
    }

    /// Moves the rows that `moved` selects for each level without training rows.
    fn with_levels(mut self, data: &Dataset, moved: impl Fn(&UnseenLevel) -> Vec<usize>) -> Self {
        for unseen in unseen_levels(data, &self.train) {
            // A move for an earlier level may have included one of its rows.
            if unseen.rows.iter().any(|row| self.train.contains(row)) {
                continue;
            }
            let rows = moved(&unseen);
            self.test.retain(|row| !rows.contains(row));
            self.validation.retain(|row| !rows.contains(row));
            self.train.extend(rows);
        }
        self.train.sort_unstable();
        self.train.dedup();
        self
    }
}

/// The levels that do not occur in the rows `train`.
pub(crate) fn unseen_levels(data: &Dataset, train: &[usize]) -> Vec<UnseenLevel> {
    let mut unseen = Vec::new();
    for factor in factors(data) {
        let mut is_seen = vec![false; factor.levels.len()];
        train
            .iter()
            .for_each(|&row| is_seen[factor.of_row[row]] = true);
        let levels = factor.levels.iter().enumerate();
        for (position, level) in levels.filter(|(position, _)| !is_seen[*position]) {
            let has = |row: &usize| factor.of_row[*row] == position;
            let rows: Vec<usize> = (0..data.rows()).filter(has).collect();
            if !rows.is_empty() {
                unseen.push(UnseenLevel {
                    column: factor.column.clone(),
                    level: level.clone(),
                    rows,
                });
            }
        }
    }
    unseen
}

/// The categories and the classes of a table whose columns have kinds.
fn factors(data: &Dataset) -> Vec<Factor> {
    let (mut factors, mut first) = (Vec::new(), 0);
    if data.columns.is_empty() {
        return factors;
    }
    for column in &data.schema.columns {
        let encoding = &column.encoding;
        let level = |row: usize| match &encoding.encoding {
            Encoding::Category { levels, .. } => {
                let inputs = &data.inputs.row(row)[first..=first + levels.len()];
                inputs
                    .iter()
                    .position(|&input| input == 1.0)
                    .unwrap_or(levels.len())
            }
            _ => usize::from(data.inputs.get(row, first) == 1.0),
        };
        let levels = match &encoding.encoding {
            Encoding::Category { levels, .. } => {
                // All unknown levels, as one.
                levels.iter().cloned().chain(["(other)".into()]).collect()
            }
            Encoding::Boolean { no, yes } => vec![no.clone(), yes.clone()],
            Encoding::Number
            | Encoding::Date { .. }
            | Encoding::Longitude { .. }
            | Encoding::Latitude { .. }
            | Encoding::Offset
            | Encoding::Exposure => Vec::new(),
        };
        if !levels.is_empty() {
            factors.push(Factor {
                column: encoding.name.clone(),
                levels,
                of_row: (0..data.rows()).map(level).collect(),
            });
        }
        first += encoding.inputs();
    }
    if let Some(classes) = &data.schema.classes {
        factors.push(Factor {
            column: data.target_name().to_owned(),
            levels: classes.names().to_vec(),
            of_row: data.targets.iter().map(|&class| class as usize).collect(),
        });
    }
    factors
}
