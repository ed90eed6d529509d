//! Passes over the pairs of a group of rows and a block of points: the profile, and the chain rule from the
//! weights of pairs to coordinates, lengthscales and variance.

use super::{
    points::{Block, GROUP, LANES, ROWS, squared_distances},
    profile::Profile,
};
use crate::ops::cpu::{Lanes, Scalar, WIDTH};

/// `φ(r²)` of the pairs of a group of rows and a block.
#[inline(always)]
pub fn profiles<T: Scalar, P: Profile<T>, const FUSED: bool>(
    rows: &[[T; ROWS]],
    block: &[Block<T>],
) -> [Block<T>; ROWS] {
    let mut values = squared_distances::<T, FUSED>(rows, block);
    for values in &mut values {
        for value in &mut values.0 {
            *value = P::value::<FUSED>(*value);
        }
    }
    values
}

/// `φ(r²)` and `dφ/dr²` of the pairs of a group of rows and a block.
#[inline(always)]
pub fn profiles_and_slopes<T: Scalar, P: Profile<T>, const FUSED: bool>(
    rows: &[[T; ROWS]],
    block: &[Block<T>],
) -> [[Block<T>; ROWS]; 2] {
    let mut values = squared_distances::<T, FUSED>(rows, block);
    let mut slopes = [Block::zeros(); ROWS];
    for (values, slopes) in values.iter_mut().zip(&mut slopes) {
        for lane in 0..LANES {
            (values.0[lane], slopes.0[lane]) = P::value_and_slope::<FUSED>(values.0[lane]);
        }
    }
    [values, slopes]
}

/// Weights w of the pairs of a group of rows and a block, register by register.
pub type Weights<T> = [[Lanes<T>; ROWS]; GROUP];

/// The sums over pairs of points, in lengthscale units, that the gradients of lengthscales and variance need.
/// Sums over few pairs have the type of the values; sums over all pairs have double precision.
pub struct PairSums<T> {
    /// `Σ w·(a_d − b_d)²`, `[D]`
    squares: Vec<Lanes<T>>,
    /// `Σ G·φ`
    variance: Lanes<T>,
    /// Earlier sums of the squares and, at the end, of the variance, [D + 1].
    settled: Vec<[f64; WIDTH]>,
}

impl<T: Scalar> PairSums<T> {
    /// Empty sums for points of this many dimensions.
    pub fn new(dimensions: usize) -> Self {
        let zero = Lanes::splat(T::default());
        Self {
            squares: vec![zero; dimensions],
            variance: zero,
            settled: vec![[0.0; WIDTH]; dimensions + 1],
        }
    }

    /// The weights `w = 2σ²·G·φ′(r²)` of pairs, from G, φ, φ′ and 2σ². Adds `Σ G·φ`.
    #[inline(always)]
    pub fn weights<const FUSED: bool>(
        &mut self,
        gradient: Lanes<T>,
        value: Lanes<T>,
        slope: Lanes<T>,
        twice_variance: Lanes<T>,
    ) -> Lanes<T> {
        self.variance = gradient.multiply_add::<FUSED>(value, self.variance);
        gradient.times(slope).times(twice_variance)
    }

    /// Adds the sums of the last pairs to those in double precision.
    #[inline(always)]
    pub fn settle(&mut self) {
        let last = self.squares.iter_mut().chain([&mut self.variance]);
        for (settled, sum) in self.settled.iter_mut().zip(last) {
            for (settled, number) in settled.iter_mut().zip(sum.0) {
                *settled += number.to_f64();
            }
            *sum = Lanes::splat(T::default());
        }
    }

    /// The settled parts of `Σ w·(a_d − b_d)²`, `[D]`, and of `Σ G·φ`.
    pub fn totals(&self) -> (Vec<f64>, f64) {
        let mut totals: Vec<f64> = (self.settled.iter())
            .map(|lanes| lanes.iter().sum())
            .collect();
        let variance = totals.pop().unwrap_or_default();
        (totals, variance)
    }

    /// Adds `w·(a − b)²` for the lengthscales. Adds `w·(a − b)` to `own`, `[D]`, for the rows, and subtracts
    /// it from `others`, `[D]`, for the points of the block.
    #[inline(always)]
    pub fn pull<const FUSED: bool>(
        &mut self,
        rows: &[[T; ROWS]],
        block: &[Block<T>],
        weights: &Weights<T>,
        own: &mut [[Lanes<T>; ROWS]],
        others: &mut [Block<T>],
    ) {
        let sums = own.iter_mut().zip(others).zip(&mut self.squares);
        for ((row, coordinates), ((own, others), square)) in rows.iter().zip(block).zip(sums) {
            let [a, b] = row.map(Lanes::splat);
            let ([mut first, mut second], mut sum) = (*own, *square);
            for (group, [of_first, of_second]) in weights.iter().enumerate() {
                let coordinate = coordinates.load(group);
                let (to_a, to_b) = (a.minus(coordinate), b.minus(coordinate));
                let (of_a, of_b) = (of_first.times(to_a), of_second.times(to_b));
                others.store(group, others.load(group).minus(of_a).minus(of_b));
                (first, second) = (first.plus(of_a), second.plus(of_b));
                sum = of_a.multiply_add::<FUSED>(to_a, sum);
                sum = of_b.multiply_add::<FUSED>(to_b, sum);
            }
            (*own, *square) = ([first, second], sum);
        }
    }

    /// Adds `w·(a − b)²` for the lengthscales.
    #[inline(always)]
    pub fn stretch<const FUSED: bool>(
        &mut self,
        rows: &[[T; ROWS]],
        block: &[Block<T>],
        weights: &Weights<T>,
    ) {
        for ((row, coordinates), square) in rows.iter().zip(block).zip(&mut self.squares) {
            let [a, b] = row.map(Lanes::splat);
            let mut sum = *square;
            for (group, [of_first, of_second]) in weights.iter().enumerate() {
                let coordinate = coordinates.load(group);
                let (to_a, to_b) = (a.minus(coordinate), b.minus(coordinate));
                sum = of_first.times(to_a).multiply_add::<FUSED>(to_a, sum);
                sum = of_second.times(to_b).multiply_add::<FUSED>(to_b, sum);
            }
            *square = sum;
        }
    }
}
