//! Assigns rows to parts of the data without a list of all rows.

use burn_gp_datasets::Features;

/// The part that a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Training,
    Validation,
    Test,
}

/// Divides rows by a hash of their inputs or of their group, so that rows with equal inputs or of one group are
/// in the same part.
pub struct Places {
    pub seed: u64,
    /// The shares of the rows.
    pub test: f64,
    pub validation: f64,
    pub sample: f64,
    /// The column of the groups.
    pub group: Option<String>,
}

impl Places {
    /// The rows of a block that have a target and all inputs, with their parts.
    pub fn of_block<'a>(
        &'a self,
        features: &'a Features,
    ) -> impl Iterator<Item = (usize, Place)> + 'a {
        let groups = features.texts_of(self.group.as_deref());
        let mut unfit = features.unfit.iter().map(|unfit| unfit.row).peekable();
        let rows = 0..features.inputs.rows();
        rows.filter(move |&row| {
            while unfit.next_if(|&unfit| unfit < row).is_some() {}
            unfit.peek() != Some(&row) && !target(features, row).is_nan()
        })
        .map(move |row| {
            let share = match groups {
                Some(texts) => self.share_of_text(&texts[row]),
                None => self.share_of_inputs(features.inputs.row(row)),
            };
            (row, self.place(share))
        })
    }

    /// Whether the training row with this number stays in memory.
    pub fn is_in_sample(&self, number: usize) -> bool {
        let hash = mixed(mixed(self.seed ^ OF_SAMPLE) ^ number as u64);
        share(hash) < self.sample
    }

    /// The part of a row. The share of validation rows applies to the rows that are not test rows.
    fn place(&self, share: f64) -> Place {
        if share < self.test {
            Place::Test
        } else if share < self.test + self.validation * (1.0 - self.test) {
            Place::Validation
        } else {
            Place::Training
        }
    }

    fn share_of_inputs(&self, inputs: &[f64]) -> f64 {
        // Adding zero turns −0 into +0; every NaN is a missing value.
        let bits = |value: &f64| match value.is_nan() {
            true => f64::NAN.to_bits(),
            false => (value + 0.0).to_bits(),
        };
        let values = inputs.iter().map(bits);
        share(values.fold(mixed(self.seed), |hash, value| mixed(hash ^ value)))
    }

    fn share_of_text(&self, text: &str) -> f64 {
        let bytes = text.bytes().map(u64::from);
        share(bytes.fold(mixed(self.seed), |hash, byte| mixed(hash ^ byte)))
    }
}

/// Makes the hash for the sample independent of the hash for the parts.
const OF_SAMPLE: u64 = 0x5851_f42d_4c95_7f2d;

/// The target of a row; NaN if it has none.
pub fn target(features: &Features, row: usize) -> f64 {
    let targets = features.targets.as_ref();
    targets.map_or(f64::NAN, |targets| targets[row])
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), the same on every machine.
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Maps a hash to a number in `[0, 1)`.
fn share(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places {
            seed: 3,
            test: 0.2,
            validation: 0.25,
            sample: 0.1,
            group: None,
        }
    }

    /// With 100 000 rows, the standard deviation of each share is at most 0.0016.
    #[test]
    fn every_part_has_its_share() {
        let places = places();
        let rows = 100_000;
        let of = |wanted: Place| {
            let taken = (0..rows).filter(|&row| {
                let inputs = [row as f64, 0.5 * row as f64];
                places.place(places.share_of_inputs(&inputs)) == wanted
            });
            taken.count() as f64 / rows as f64
        };
        let near = |found: f64, expected: f64| (found - expected).abs() < 0.008;
        assert!(near(of(Place::Test), 0.2), "{}", of(Place::Test));
        assert!(
            near(of(Place::Validation), 0.2),
            "{}",
            of(Place::Validation)
        );
        let sample = (0..rows).filter(|&row| places.is_in_sample(row)).count();
        assert!(near(sample as f64 / rows as f64, 0.1), "{sample}");
    }

    #[test]
    fn equal_inputs_and_groups_are_in_the_same_part() {
        let places = places();
        let zero = places.share_of_inputs(&[0.0, f64::NAN]);
        assert_eq!(zero, places.share_of_inputs(&[-0.0, -f64::NAN]));
        assert_ne!(zero, places.share_of_inputs(&[0.0, 0.0]));
        assert_ne!(places.share_of_text("a"), places.share_of_text("b"));
    }
}
