//! Several series that may share a part of their model.

use super::{Request, backward::Cotangents, series::Series};

/// L series. A part of the model is that of each series, or shared by all.
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    /// A, Q, P0, h, r and y
    pub values: [&'a [f64]; 6],
    /// The size of the leading axis of each: L, or one.
    pub members: [usize; 6],
    /// L
    pub series: usize,
    /// C
    pub columns: usize,
    pub request: Request<'a>,
}

impl<'a> Batch<'a> {
    /// One series.
    pub fn member(&self, index: usize) -> Series<'a> {
        let [transitions, process_noise, prior, rows, noise, targets] =
            [0, 1, 2, 3, 4, 5].map(|part| {
                let size = self.values[part].len() / self.members[part];
                &self.values[part][(index % self.members[part]) * size..][..size]
            });
        let count = targets.len() / self.columns;
        let events = self.request.events;
        Series {
            blocks: self.request.blocks,
            transitions,
            process_noise,
            prior,
            rows,
            noise,
            targets,
            columns: self.columns,
            events: match events.len() == count {
                true => events,
                false => &events[index * count..][..count],
            },
        }
    }

    /// The derivatives of all parts, one after the other. Those of shared parts are summed over series, in their
    /// order.
    pub fn joined<'b>(&self, cotangents: impl Iterator<Item = &'b Cotangents>) -> Vec<f64> {
        let firsts = self.values.iter().scan(0, |first, values| {
            *first += values.len();
            Some(*first - values.len())
        });
        let firsts: Vec<usize> = firsts.collect();
        let mut all = vec![0.0; self.values.iter().map(|values| values.len()).sum()];
        for (index, own) in cotangents.enumerate() {
            let of_series = [
                &own.transitions,
                &own.process_noise,
                &own.prior,
                &own.rows,
                &own.noise,
                &own.targets,
            ];
            for (part, values) in of_series.into_iter().enumerate() {
                let first = firsts[part] + (index % self.members[part]) * values.len();
                for (sum, value) in all[first..].iter_mut().zip(values) {
                    *sum += value;
                }
            }
        }
        all
    }
}
