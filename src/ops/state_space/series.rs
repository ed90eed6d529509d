//! One series of observations of a linear state-space model.

/// The number of events between two checkpoints of the filter.
pub const CHECKPOINT_EVERY: usize = 256;

/// A time of a series, with an observation or without one. Events are in the order of their times; several may be
/// at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The index of the step from the event before. None at the time of the event before, and at the first event.
    pub step: Option<u32>,
    /// The index of the row h.
    pub row: u32,
    /// The index of the noise variance.
    pub noise: u32,
    /// Whether there is an observation.
    pub is_observed: bool,
}

/// A variance of an observation given those before it that is not positive or not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// The index of the event.
    pub event: usize,
    /// The variance.
    pub variance: f64,
}

/// A series: `x_k = A x_{k−1} + N(0, Q)`, `y_k = hᵀx_k + N(0, r)`, with s states and blocks of A and Q.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    /// The sizes b of the blocks.
    pub blocks: &'a [usize],
    /// A of each distinct step, `[U, Σb²]`.
    pub transitions: &'a [f64],
    /// Q of each distinct step, `[U, Σb²]`.
    pub process_noise: &'a [f64],
    /// The covariance of the state at the first time, `[Σb²]`.
    pub prior: &'a [f64],
    /// h, `[O, s]`
    pub rows: &'a [f64],
    /// r, `[R]`
    pub noise: &'a [f64],
    /// y, `[n, C]`
    pub targets: &'a [f64],
    /// C
    pub columns: usize,
    /// The events, n.
    pub events: &'a [Event],
}

impl<'a> Series<'a> {
    /// # Panics
    ///
    /// If sizes or indices do not match.
    #[track_caller]
    pub fn check(&self) {
        let (states, packed) = (self.states(), self.packed::<0>());
        let steps = self.transitions.len() / packed.max(1);
        let fits = |event: &Event| {
            event.step.is_none_or(|step| (step as usize) < steps)
                && (event.row as usize + 1) * states <= self.rows.len()
                && (event.noise as usize) < self.noise.len()
        };
        assert!(
            packed > 0
                && self.process_noise.len() == self.transitions.len()
                && self.transitions.len() == steps * packed
                && self.prior.len() == packed
                && self.columns > 0
                && self.targets.len() == self.events.len() * self.columns
                && self.events.iter().all(fits),
            "LinearSeries: blocks {:?}, {} transitions, {} of the process noise, {} of the prior, {} rows, {} noise \
             variances, {} targets in {} columns and {} events; expected [U, Σb²] twice, [Σb²], [O, s], [R] and [n, C] \
             for n events with indices below U, O and R",
            self.blocks,
            self.transitions.len(),
            self.process_noise.len(),
            self.prior.len(),
            self.rows.len(),
            self.noise.len(),
            self.targets.len(),
            self.columns,
            self.events.len()
        );
    }

    /// s
    pub fn states(&self) -> usize {
        self.blocks.iter().sum()
    }

    /// Σb²
    #[inline(always)]
    pub fn packed<const S: usize>(&self) -> usize {
        match S {
            1..=4 => S * S,
            _ => self.blocks.iter().map(|size| size * size).sum(),
        }
    }

    /// h of an event, `[s]`.
    #[inline(always)]
    pub fn row<const S: usize>(&self, event: &Event) -> &'a [f64] {
        let states = states::<S>(self.blocks);
        &self.rows[event.row as usize * states..][..states]
    }

    /// y of an event, `[C]`.
    #[inline(always)]
    pub fn targets_of<const C: usize>(&self, event: usize) -> &'a [f64] {
        let columns = self.known_columns::<C>();
        &self.targets[event * columns..][..columns]
    }

    /// The number of columns: C if that is known to the compiler.
    #[inline(always)]
    pub fn known_columns<const C: usize>(&self) -> usize {
        match C {
            0 => self.columns,
            known => known,
        }
    }

    /// The moments before the first event.
    pub fn first(&self) -> StateMoments {
        let states = self.states();
        let mut covariance = vec![0.0; states * states];
        add_blocks(self.blocks, self.prior, &mut covariance);
        StateMoments {
            mean: vec![0.0; states * self.columns],
            covariance,
        }
    }
}

/// s: S if that is known to the compiler, which then unrolls the loops over states.
/// Its states are then one block.
#[inline(always)]
pub fn states<const S: usize>(blocks: &[usize]) -> usize {
    match S {
        0 => blocks.iter().sum(),
        known => known,
    }
}

/// The moments of the state of C columns, which share the covariance.
#[derive(Clone, Debug, Default)]
pub struct StateMoments {
    /// m, `[s, C]`
    pub mean: Vec<f64>,
    /// P, `[s, s]`
    pub covariance: Vec<f64>,
}

/// Adds packed blocks to the diagonal blocks of a matrix.
#[inline(always)]
pub fn add_blocks(blocks: &[usize], packed: &[f64], matrix: &mut [f64]) {
    let states: usize = blocks.iter().sum();
    let (mut first, mut rest) = (0, packed);
    for &size in blocks {
        let (block, others) = rest.split_at(size * size);
        for (row, values) in block.chunks_exact(size).enumerate() {
            let places = &mut matrix[(first + row) * states + first..][..size];
            for (place, value) in places.iter_mut().zip(values) {
                *place += value;
            }
        }
        (first, rest) = (first + size, others);
    }
}
