//! The log density of linear state-space models, compared with dense algebra.

use std::{f64::consts::PI, ops::Range};

use burn::tensor::Tensor;
use burn_gp_core::ops::{
    Event, LinearSystem, StateSpaceError, state_space_log_density, state_space_smoothing,
};

use crate::support::{
    Dense, Input, Platform, Random, assert_close, check_gradients, first_platform, numbers,
    platforms,
};

/// Series with several rows, noises, missing observations and equal times.
#[derive(Clone)]
struct Problem {
    blocks: Vec<usize>,
    series: usize,
    columns: usize,
    /// A, Q as F with Q = FFᵀ, P0 likewise, h, r and y
    values: [Vec<f64>; 6],
    events: Vec<Event>,
}

const STEPS: usize = 3;
const ROWS: usize = 2;

impl Problem {
    fn new(blocks: &[usize], count: usize, series: usize, columns: usize) -> Self {
        let mut random = Random::new((count + 31 * blocks.len()) as u64);
        let packed: usize = blocks.iter().map(|size| size * size).sum();
        let states: usize = blocks.iter().sum();
        let event = |place: usize| Event {
            step: (place > 0 && place % 7 != 4).then_some((place % STEPS) as u32),
            row: (place % 3 == 1).into(),
            noise: (place % 5 == 2).into(),
            is_observed: place % 6 != 3,
        };
        Self {
            blocks: blocks.to_vec(),
            series,
            columns,
            values: [
                random.uniforms(STEPS * packed, -0.5, 0.5),
                random.uniforms(STEPS * packed, -0.7, 0.7),
                random.uniforms(packed, -1.0, 1.0),
                random.uniforms(ROWS * states, -1.0, 1.0),
                vec![0.3, 0.5],
                random.normals(series * count * columns),
            ],
            events: (0..count).map(event).collect(),
        }
    }

    fn count(&self) -> usize {
        self.events.len()
    }

    fn states(&self) -> usize {
        self.blocks.iter().sum()
    }

    fn packed(&self) -> usize {
        self.blocks.iter().map(|size| size * size).sum()
    }

    fn tensors(&self, platform: &Platform) -> Vec<Tensor<1>> {
        let tensor = |values: &Vec<f64>| platform.tensor(values, [values.len()]);
        self.values.iter().map(tensor).collect()
    }

    /// FFᵀ of packed blocks, [N, Σb²].
    fn squares(&self, flat: Tensor<1>, count: usize) -> Tensor<2> {
        let flat = flat.reshape([count, self.packed()]);
        let mut first = 0;
        let squares = self.blocks.iter().map(|&size| {
            let block = flat.clone().narrow(1, first, size * size);
            first += size * size;
            let left = block.clone().reshape([count, size, 1, size]);
            let right = block.reshape([count, 1, size, size]);
            (left * right).sum_dim(3).reshape([count, size * size])
        });
        Tensor::cat(squares.collect(), 1)
    }

    fn system(&self, tensors: &[Tensor<1>]) -> LinearSystem {
        LinearSystem {
            blocks: self.blocks.clone(),
            transitions: tensors[0].clone().reshape([1, STEPS, self.packed()]),
            process_noise: self.squares(tensors[1].clone(), STEPS).unsqueeze(),
            prior: self.squares(tensors[2].clone(), 1),
            rows: tensors[3].clone().reshape([1, ROWS, self.states()]),
            noise: tensors[4].clone().reshape([1, 2]),
        }
    }

    fn targets(&self, tensors: &[Tensor<1>]) -> Tensor<3> {
        let count = self.values[5].len() / (self.series * self.columns);
        (tensors[5].clone()).reshape([self.series, count, self.columns])
    }

    fn density(&self, tensors: &[Tensor<1>]) -> Tensor<1> {
        state_space_log_density(self.system(tensors), self.targets(tensors), &self.events).unwrap()
    }

    /// Packed blocks as a matrix.
    fn dense(&self, packed: &[f64]) -> Dense {
        let mut matrix = Dense::from_function(self.states(), self.states(), |_, _| 0.0);
        let (mut first, mut entry) = (0, 0);
        for &size in &self.blocks {
            for row in 0..size {
                for column in 0..size {
                    matrix[(first + row, first + column)] = packed[entry];
                    entry += 1;
                }
            }
            first += size;
        }
        matrix
    }

    /// The covariance of the observed values, and which events these are.
    fn covariance(&self) -> (Dense, Vec<usize>) {
        let packed = self.packed();
        let [transitions, process, prior, rows, noise, _] = &self.values;
        let square = |flat: &[f64]| {
            let factor = self.dense(flat);
            factor.times(&factor.transposed())
        };
        let step = |event: &Event| event.step.map(|step| step as usize * packed);
        let row = |event: &Event| {
            let states = self.states();
            let values = &rows[event.row as usize * states..][..states];
            Dense::new(1, states, values.to_vec())
        };
        // Cov(x_j, x_k) for j until k, moved forward with k.
        let mut crosses: Vec<Dense> = Vec::new();
        let mut state = square(prior);
        let observed: Vec<usize> = (0..self.count())
            .filter(|&place| self.events[place].is_observed)
            .collect();
        let mut all = Dense::from_function(self.count(), self.count(), |_, _| 0.0);
        for (k, event) in self.events.iter().enumerate() {
            if let Some(first) = step(event) {
                let transition = self.dense(&transitions[first..][..packed]);
                let added = square(&process[first..][..packed]);
                state = transition
                    .times(&state)
                    .times(&transition.transposed())
                    .plus(&added);
                for cross in &mut crosses {
                    *cross = transition.times(cross);
                }
            }
            crosses.push(state.clone());
            for (j, cross) in crosses.iter().enumerate() {
                let value = row(event)
                    .times(cross)
                    .times(&row(&self.events[j]).transposed())[(0, 0)];
                all[(k, j)] = value;
                all[(j, k)] = value;
            }
            all[(k, k)] += noise[event.noise as usize];
        }
        let size = observed.len();
        let some = Dense::from_function(size, size, |i, j| all[(observed[i], observed[j])]);
        (some, observed)
    }

    fn observed_targets(&self, series: usize, observed: &[usize]) -> Dense {
        let first = series * self.count();
        Dense::from_function(observed.len(), self.columns, |i, column| {
            self.values[5][(first + observed[i]) * self.columns + column]
        })
    }

    fn expected(&self) -> f64 {
        let (covariance, observed) = self.covariance();
        let constant = observed.len() as f64 * (2.0 * PI).ln() + covariance.log_determinant();
        let of_series = |series: usize| {
            let targets = self.observed_targets(series, &observed);
            let solved = covariance.solve(&targets);
            let square: f64 = targets
                .values
                .iter()
                .zip(&solved.values)
                .map(|(a, b)| a * b)
                .sum();
            -0.5 * (self.columns as f64 * constant + square)
        };
        (0..self.series).map(of_series).sum()
    }
}

/// Blocks of all sizes that have loops of their own and others, one column and several.
#[test]
fn density_is_that_of_dense_algebra() {
    for blocks in [&[1][..], &[2], &[3], &[4], &[3, 3], &[1, 2, 4], &[6, 5, 1]] {
        for (count, series, columns) in [(1, 1, 1), (13, 1, 1), (40, 2, 3)] {
            let problem = Problem::new(blocks, count, series, columns);
            let expected = problem.expected();
            for platform in platforms() {
                let ours = numbers(problem.density(&problem.tensors(&platform)));
                // In single precision the arguments themselves are rounded.
                let tolerance = platform.tolerance(1e-11, 1e-4);
                let what = format!("{platform}, {blocks:?}, {count} events, {columns} columns");
                assert_close(&what, &ours, &[expected], tolerance);
            }
        }
    }
}

/// With respect to all arguments.
#[test]
fn gradients_are_central_differences() {
    for (blocks, count, series, columns) in [
        (&[1][..], 9, 1, 1),
        (&[3], 11, 1, 1),
        (&[2, 1], 10, 2, 1),
        (&[3, 3], 8, 1, 2),
        (&[5], 7, 1, 1),
    ] {
        let problem = Problem::new(blocks, count, series, columns);
        let inputs: Vec<Input> = problem.values.iter().cloned().map(Input::from).collect();
        let what = format!("{blocks:?}, {columns} columns");
        check_gradients(&what, &inputs, 1e-3, &|_, tensors| problem.density(tensors));
    }
}

/// Numbers of events around the distance of checkpoints: the gradient of the sum over two halves of a series is the
/// gradient with a step over which nothing is kept.
#[test]
fn checkpoints_do_not_change_the_gradient() {
    let Some(platform) = first_platform() else {
        return;
    };
    for count in [255, 256, 257, 513] {
        let problem = Problem::new(&[2], count, 1, 1);
        let platform = platform.autodiff();
        let tensors: Vec<Tensor<1>> = (problem.tensors(&platform).into_iter())
            .map(Tensor::require_grad)
            .collect();
        let gradients = problem.density(&tensors).backward();
        let ours = numbers(tensors[5].grad(&gradients).unwrap());
        // ∂ℓ/∂y = −C⁻¹y by dense algebra.
        let (covariance, observed) = problem.covariance();
        let solved = covariance.solve(&problem.observed_targets(0, &observed));
        let mut expected = vec![0.0; count];
        for (place, value) in observed.iter().zip(&solved.values) {
            expected[*place] = -value;
        }
        assert_close(&format!("{count} events"), &ours, &expected, 1e-10);
    }
}

/// The derivatives of a batch that shares its model are the sums of those of single series, and shorter series end
/// with missing observations.
#[test]
fn batches_are_loops_over_series() {
    let Some(platform) = first_platform() else {
        return;
    };
    let (short, padded) = (20, 26);
    let problem = Problem::new(&[3], padded, 3, 1);
    let end = |events: &[Event]| -> Vec<Event> {
        let absent = |place: usize, event: &Event| match place < short {
            true => *event,
            false => Event {
                step: None,
                is_observed: false,
                ..*event
            },
        };
        let places = events.iter().enumerate();
        places.map(|(place, event)| absent(place, event)).collect()
    };
    // The second series is shorter.
    let of_series = [
        problem.events.clone(),
        end(&problem.events),
        problem.events.clone(),
    ];
    let run = |problem: &Problem| {
        let platform = platform.autodiff();
        let tensors: Vec<Tensor<1>> = (problem.tensors(&platform).into_iter())
            .map(Tensor::require_grad)
            .collect();
        let density = problem.density(&tensors);
        let gradients = density.backward();
        let slopes = tensors[..5]
            .iter()
            .map(|tensor| numbers(tensor.grad(&gradients).unwrap()));
        (numbers(density)[0], slopes.collect::<Vec<_>>().concat())
    };
    let all = Problem {
        events: of_series.concat(),
        ..problem.clone()
    };
    let batch = run(&all);
    let mut expected = (0.0, vec![0.0; batch.1.len()]);
    for (series, events) in of_series.iter().enumerate() {
        let count = if series == 1 { short } else { padded };
        let mut own = problem.clone();
        own.series = 1;
        own.events = events[..count].to_vec();
        own.values[5] = problem.values[5][series * padded..][..count].to_vec();
        let (density, slopes) = run(&own);
        expected.0 += density;
        for (sum, slope) in expected.1.iter_mut().zip(slopes) {
            *sum += slope;
        }
    }
    assert_close("density", &[batch.0], &[expected.0], 1e-13);
    assert_close("derivatives", &batch.1, &expected.1, 1e-12);
}

/// Series with parameters of their own, some of which are in lanes together and some in lanes that are not full, have
/// the density and the derivatives of each alone. The noise of one may be impossible.
#[test]
fn series_in_lanes_are_each_alone() {
    let Some(platform) = first_platform() else {
        return;
    };
    let tracked = platform.autodiff();
    let (count, all) = (300, 21);
    for block in 1..=3 {
        let problem = Problem::new(&[block], count, all, 1);
        let factors = Random::new(3).uniforms(all, 0.5, 1.0);
        let run = |series: Range<usize>, noise: f64| {
            let tensors = problem.tensors(&tracked);
            let shape = [series.len(), 1, 1];
            let own = tracked
                .tensor(&factors[series.clone()], shape)
                .require_grad();
            let targets = &problem.values[5][series.start * count..series.end * count];
            let targets = tracked
                .tensor(targets, [series.len(), count, 1])
                .require_grad();
            let shared = problem.system(&tensors);
            let mut variances = vec![0.3; 2 * series.len()];
            if let Some(last) = variances.last_mut() {
                *last = noise;
            }
            let system = LinearSystem {
                transitions: shared.transitions * own.clone(),
                process_noise: shared.process_noise * own.clone(),
                prior: shared.prior * own.clone().reshape([series.len(), 1]),
                // Without derivatives of h, which lanes do not have.
                rows: shared.rows.without_autodiff(),
                noise: tracked.tensor(&variances, [series.len(), 2]),
                ..shared
            };
            let density = state_space_log_density(system, targets.clone(), &problem.events)?;
            let gradients = density.backward();
            let slopes = [
                numbers(own.grad(&gradients).unwrap()),
                numbers(targets.grad(&gradients).unwrap()),
            ];
            Ok::<_, StateSpaceError>((numbers(density)[0], slopes))
        };
        let (density, [of_factors, of_targets]) = run(0..all, 0.3).unwrap();
        let mut expected = (0.0, Vec::new(), Vec::new());
        for series in 0..all {
            let (density, slopes) = run(series..series + 1, 0.3).unwrap();
            expected.0 += density;
            expected.1.extend(&slopes[0]);
            expected.2.extend(&slopes[1]);
        }
        assert_close("density", &[density], &[expected.0], 1e-13);
        assert_close("factors", &of_factors, &expected.1, 1e-11);
        assert_close("targets", &of_targets, &expected.2, 1e-12);
        let error = run(0..all, -1e-9).unwrap_err();
        assert_eq!(error.series, all - 1, "{error}");
    }
}

/// `C⁻¹y` and the diagonal of `C⁻¹`, and the variances of observations given those before them.
#[test]
fn smoothing_has_the_inverse_covariance() {
    for platform in platforms() {
        let problem = Problem::new(&[2, 3], 25, 1, 2);
        let tensors = problem.tensors(&platform);
        let system = problem.system(&tensors);
        let smoothed =
            state_space_smoothing(&system, problem.targets(&tensors), &problem.events).unwrap();
        let (covariance, observed) = problem.covariance();
        let solved = covariance.solve(&problem.observed_targets(0, &observed));
        let inverse = covariance.inverse();
        let factor = covariance.cholesky();
        let (mut weights, mut precisions, mut variances) = (Vec::new(), Vec::new(), Vec::new());
        for &place in &observed {
            weights.extend(&smoothed[0].weights[2 * place..][..2]);
            precisions.push(smoothed[0].precisions[place]);
            variances.push(smoothed[0].variances[place]);
        }
        let tolerance = platform.tolerance(1e-10, 1e-3);
        assert_close("C⁻¹y", &weights, &solved.values, tolerance);
        assert_close("diag C⁻¹", &precisions, &inverse.diagonal(), tolerance);
        let squares: Vec<f64> = factor
            .diagonal()
            .iter()
            .map(|pivot| pivot * pivot)
            .collect();
        assert_close("d", &variances, &squares, tolerance);
    }
}

/// Nothing observed has the density one.
#[test]
fn without_observations_the_density_is_one() {
    let Some(platform) = first_platform() else {
        return;
    };
    let mut problem = Problem::new(&[2], 5, 1, 1);
    for event in &mut problem.events {
        event.is_observed = false;
    }
    assert_eq!(numbers(problem.density(&problem.tensors(&platform))), [0.0]);
}

/// A site of negative precision has a negative noise, and a positive variance given those before it would leave none
/// after it: that is an error with its place.
#[test]
fn impossible_variances_are_errors() {
    for platform in platforms() {
        let mut problem = Problem::new(&[2], 5, 1, 1);
        problem.values[4] = vec![-1e-9, -1e-9];
        let tensors = problem.tensors(&platform);
        let error = state_space_log_density(
            problem.system(&tensors),
            problem.targets(&tensors),
            &problem.events,
        )
        .unwrap_err();
        assert_eq!((error.series, error.event), (0, 0));
        assert!(error.variance > 0.0, "{error}");
    }
}
