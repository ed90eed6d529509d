//! The Vecchia approximation of a log density with a stationary covariance.

use core::f64::consts::PI;

use crate::support::{
    Dense, Input, Platform, Random, assert_close, check_gradients, double_precision_platforms,
    numbers, platforms,
};
use burn::tensor::Tensor;
use burn_gp_core::ops::{
    Jitter, NeighborRows, NotPositiveDefinite, Stationary, is_on_cpu, stationary_neighbor_density,
};

/// Platforms whose memory the operation reads.
fn cpus() -> Vec<Platform> {
    let is_cpu = |platform: &Platform| is_on_cpu(&platform.tensor::<1>(&[0.0], [1]));
    platforms().into_iter().filter(is_cpu).collect()
}

/// A problem with the neighbors of every row, found by comparing all.
struct Problem {
    kind: Stationary,
    inputs: Dense,
    targets: Dense,
    lengthscales: Vec<f64>,
    variance: f64,
    noise: f64,
    own: Vec<u32>,
    neighbors: Vec<u32>,
    counts: Vec<u32>,
}

impl Problem {
    fn new(kind: Stationary, rows: usize, dimensions: usize, most: usize) -> Self {
        let mut random = Random::new((rows + 7 * dimensions) as u64);
        let lengthscales: Vec<f64> = (0..dimensions).map(|d| 0.5 + 0.3 * d as f64).collect();
        Self {
            kind,
            inputs: random.points(rows, dimensions),
            targets: random.matrix(rows, 2),
            lengthscales,
            variance: 1.7,
            noise: 0.05,
            own: (0..rows as u32).collect(),
            neighbors: Vec::new(),
            counts: Vec::new(),
        }
        .with_neighbors(most)
    }

    /// The 12 rows, in the plane, of the reference values.
    fn golden(kind: Stationary) -> Self {
        let inputs = vec![
            0.103, 0.217, 0.911, 0.793, 0.154, 0.958, 0.862, 0.109, 0.497, 0.542, 0.289, 0.613,
            0.718, 0.346, 0.052, 0.571, 0.947, 0.438, 0.405, 0.063, 0.623, 0.887, 0.337, 0.324,
        ];
        let targets = [
            0.31, 1.12, -0.45, 0.87, 0.62, 0.05, 0.93, -0.21, 1.30, 0.48, 0.77, 0.29,
        ];
        Self {
            kind,
            inputs: Dense::new(12, 2, inputs),
            targets: Dense::new(12, 1, targets.iter().map(|y| y - 0.4).collect()),
            lengthscales: vec![0.6, 1.1],
            variance: 1.7,
            noise: 0.05,
            own: (0..12).collect(),
            neighbors: Vec::new(),
            counts: Vec::new(),
        }
        .with_neighbors(3)
    }

    fn square(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (self.inputs.row(i), self.inputs.row(j));
        let terms = a.iter().zip(b).zip(&self.lengthscales);
        terms.map(|((a, b), scale)| ((a - b) / scale).powi(2)).sum()
    }

    fn with_neighbors(mut self, most: usize) -> Self {
        for row in 0..self.inputs.rows {
            let mut all: Vec<usize> = (0..row).collect();
            all.sort_by(|&i, &j| self.square(row, i).total_cmp(&self.square(row, j)));
            all.truncate(most);
            self.counts.push(all.len() as u32);
            all.resize(most, 0);
            self.neighbors.extend(all.iter().map(|&row| row as u32));
        }
        self
    }

    fn covariance(&self, i: usize, j: usize) -> f64 {
        let square = self.square(i, j);
        let profile = match self.kind {
            Stationary::SquaredExponential => (-0.5 * square).exp(),
            Stationary::Matern12 => (-square.sqrt()).exp(),
            Stationary::Matern32 => {
                let r = (3.0 * square).sqrt();
                (1.0 + r) * (-r).exp()
            }
            Stationary::Matern52 => {
                let r = (5.0 * square).sqrt();
                (1.0 + r + r * r / 3.0) * (-r).exp()
            }
        };
        self.variance * profile + if i == j { self.noise } else { 0.0 }
    }

    /// The log density of each row, by dense algebra.
    fn terms(&self) -> Vec<f64> {
        let most = self.neighbors.len() / self.own.len();
        let term = |row: usize| {
            let own = self.own[row] as usize;
            let entries = &self.neighbors[row * most..][..self.counts[row] as usize];
            let given: Vec<usize> = entries.iter().map(|&row| row as usize).collect();
            let size = given.len();
            let among =
                Dense::from_function(size, size, |i, j| self.covariance(given[i], given[j]));
            let cross = Dense::from_function(size, 1, |i, _| self.covariance(given[i], own));
            let weights = among.solve(&cross).values;
            let explained: f64 = weights.iter().zip(&cross.values).map(|(b, k)| b * k).sum();
            let variance = self.covariance(own, own) - explained;
            let of_output = |output: usize| {
                let at = |row: usize| self.targets[(row, output)];
                let mean: f64 = weights
                    .iter()
                    .zip(&given)
                    .map(|(b, &row)| b * at(row))
                    .sum();
                let error = at(own) - mean;
                -0.5 * ((2.0 * PI * variance).ln() + error * error / variance)
            };
            (0..self.targets.columns).map(of_output).sum()
        };
        (0..self.own.len()).map(term).collect()
    }

    fn rows(&self) -> NeighborRows<'_> {
        NeighborRows {
            own: &self.own,
            neighbors: &self.neighbors,
            counts: &self.counts,
        }
    }

    /// Inputs, targets, lengthscales, variance and noise.
    fn arguments(&self) -> [Input; 5] {
        [
            Input::from(&self.inputs),
            Input::from(&self.targets),
            Input::from(self.lengthscales.clone()),
            Input::from(vec![self.variance]),
            Input::from(vec![self.noise]),
        ]
    }

    fn density_at(&self, arguments: &[Tensor<1>]) -> Result<Tensor<1>, NotPositiveDefinite> {
        let [inputs, targets, lengthscales, variance, noise] =
            [0, 1, 2, 3, 4].map(|i: usize| arguments[i].clone());
        let inputs = inputs.reshape([self.inputs.rows, self.inputs.columns]);
        let targets = targets.reshape([self.targets.rows, self.targets.columns]);
        let parameters = [lengthscales, variance, noise];
        stationary_neighbor_density(
            self.kind,
            [inputs, targets],
            parameters,
            self.rows(),
            Jitter::NONE,
        )
    }

    fn density(&self, platform: &Platform) -> Result<Tensor<1>, NotPositiveDefinite> {
        let tensors = self
            .arguments()
            .map(|input| platform.tensor::<1>(&input.values, [input.values.len()]));
        self.density_at(&tensors)
    }
}

const KINDS: [Stationary; 4] = Stationary::ALL;

/// Fewer rows than neighbors, parts of groups of lanes, and enough for several threads.
#[test]
fn density_is_that_of_dense_algebra() {
    for kind in KINDS {
        for (rows, dimensions, most) in
            [(1, 1, 1), (7, 2, 9), (40, 3, 5), (150, 2, 17), (33, 9, 30)]
        {
            let problem = Problem::new(kind, rows, dimensions, most);
            let expected = problem.terms().iter().sum();
            for platform in cpus() {
                // Single precision loses digits of small conditional variances.
                let tolerance = platform.tolerance(1e-11, 1e-4);
                let what = format!("{platform}, {kind:?}, {rows} rows");
                let ours = numbers(problem.density(&platform).unwrap());
                assert_close(&what, &ours, &[expected], tolerance);
            }
        }
    }
}

/// Reference values of an independent implementation, checked with 40 digits.
#[test]
fn density_has_the_reference_values() {
    let expected = [
        (Stationary::Matern12, -11.063_360_342_329_08),
        (Stationary::Matern32, -7.221_889_452_246_957),
        (Stationary::Matern52, -5.916_829_480_889_628),
    ];
    for (kind, expected) in expected {
        for platform in cpus() {
            let ours = numbers(Problem::golden(kind).density(&platform).unwrap());
            assert_close(
                &platform.to_string(),
                &ours,
                &[expected],
                platform.tolerance(1e-13, 1e-5),
            );
        }
    }
}

/// The derivatives of the logarithms of lengthscales, variance and noise, and of some targets.
#[test]
fn gradients_have_the_reference_values() {
    let expected = [
        (
            Stationary::Matern12,
            [
                1.281_281_914_486_639,
                2.040_604_568_545_493,
                -4.825_557_337_219_882,
                -0.437_276_997_762_234,
            ],
            [
                -0.256_720_807_912_165,
                -0.242_468_485_940_239,
                0.109_380_805_647_05,
            ],
        ),
        (
            Stationary::Matern32,
            [
                2.310_134_922_353_913,
                3.399_168_118_711_532,
                -3.761_016_178_795_793,
                -1.192_511_123_603_627,
            ],
            [
                -0.875_233_372_836_809,
                0.089_787_890_377_549,
                0.105_188_605_188_264,
            ],
        ),
        (
            Stationary::Matern52,
            [
                2.190_002_199_123_17,
                3.083_581_382_976_891,
                -3.055_083_420_185_989,
                -1.649_411_545_529_636,
            ],
            [
                -1.341_176_212_729_98,
                0.328_673_376_244_767,
                0.076_657_472_906_182,
            ],
        ),
    ];
    for (kind, parameters, targets) in expected {
        let problem = Problem::golden(kind);
        for platform in cpus() {
            let platform = platform.autodiff();
            let tensors = problem.arguments().map(|input| {
                let count = input.values.len();
                platform.tensor::<1>(&input.values, [count]).require_grad()
            });
            let gradients = problem.density_at(&tensors).unwrap().backward();
            let of = |index: usize| numbers(tensors[index].grad(&gradients).unwrap());
            let logarithmic = |index: usize| {
                let values = problem.arguments()[index].values.clone();
                (of(index).into_iter().zip(values)).map(|(slope, value)| slope * value)
            };
            let ours: Vec<f64> = [2, 3, 4].into_iter().flat_map(logarithmic).collect();
            let tolerance = platform.tolerance(1e-12, 1e-4);
            assert_close(
                &format!("{platform}, {kind:?}"),
                &ours,
                &parameters,
                tolerance,
            );
            let of_targets = of(1);
            let ours = [of_targets[0], of_targets[1], of_targets[11]];
            assert_close(&format!("{platform}, {kind:?}"), &ours, &targets, tolerance);
        }
    }
}

/// Of all arguments, with a lengthscale for each dimension and a shared one.
#[test]
fn gradients_are_those_of_central_differences() {
    for kind in KINDS {
        // Two rows coincide only where the covariance is smooth.
        for (rows, dimensions, most) in [(5, 2, 7), (40, 2, 6), (37, 3, 12)] {
            let problem = Problem::new(kind, rows, dimensions, most);
            let mut arguments = problem.arguments();
            let check = |what: &str, arguments: &[Input]| {
                check_on_cpus(
                    &format!("{kind:?}, {rows} rows, {what}"),
                    arguments,
                    &problem,
                );
            };
            check("ARD", &arguments);
            arguments[2] = Input::from(vec![0.8]);
            check("isotropic", &arguments);
        }
    }
}

#[track_caller]
fn check_on_cpus(what: &str, arguments: &[Input], problem: &Problem) {
    // The check compares all platforms, and the operation is for CPUs only.
    if cpus().len() < platforms().len() {
        eprintln!("skipped on a selection with devices: {what}");
        return;
    }
    check_gradients(what, arguments, 2e-3, &|_, inputs| {
        problem.density_at(inputs).unwrap() * 0.3
    });
}

/// Rows may be left out, come in any order, and come twice.
#[test]
fn rows_may_be_any() {
    let problem = Problem::new(Stationary::Matern32, 60, 2, 8);
    let terms = problem.terms();
    let some: Vec<usize> = vec![59, 3, 3, 0, 17, 30];
    let pick = |values: &[u32]| -> Vec<u32> { some.iter().map(|&row| values[row]).collect() };
    let (own, counts) = (pick(&problem.own), pick(&problem.counts));
    let table = |&row: &usize| problem.neighbors[row * 8..][..8].to_vec();
    let part = Problem {
        own,
        counts,
        neighbors: some.iter().flat_map(table).collect(),
        ..Problem::new(Stationary::Matern32, 60, 2, 8)
    };
    let expected = some.iter().map(|&row| terms[row]).sum();
    for platform in cpus() {
        let ours = numbers(part.density(&platform).unwrap());
        assert_close(
            &platform.to_string(),
            &ours,
            &[expected],
            platform.tolerance(1e-12, 1e-4),
        );
    }
}

/// Coordinates far from zero: differences to the row itself keep the digits that scaled coordinates lose.
#[test]
fn single_precision_is_accurate_far_from_zero() {
    for platform in cpus().into_iter().filter(|platform| !platform.is_double()) {
        let mut problem = Problem::new(Stationary::Matern52, 200, 2, 12);
        // Exact in single precision after the shift.
        for x in &mut problem.inputs.values {
            *x = (*x * 4096.0).round() / 4096.0;
        }
        problem.lengthscales = vec![1.0 / 3.0, 0.7];
        let expected: f64 = problem.terms().iter().sum();
        problem.inputs.values.iter_mut().for_each(|x| *x += 500.0);
        let ours = numbers(problem.density(&platform).unwrap())[0];
        // Rounding a scaled coordinate of 1500 alone is an error of 6e-5, half a percent of the difference of
        // neighbors; without that, a row is off by 1e-5 of its own density.
        assert!(
            (ours - expected).abs() < 1e-3 * expected.abs(),
            "{platform}: {ours}, {expected}"
        );
    }
}

/// Duplicates without noise have no conditional variance; the error names the second of the two.
#[test]
fn lost_variances_are_located() {
    let mut problem = Problem::new(Stationary::Matern12, 40, 2, 6);
    let copied = problem.inputs.row(20).to_vec();
    problem.inputs.values[70..72].copy_from_slice(&copied);
    problem.noise = 0.0;
    problem.neighbors.clear();
    problem.counts.clear();
    let mut problem = problem.with_neighbors(6);
    for platform in cpus() {
        let jitter = Jitter {
            initial: 0.0,
            escalations: 0,
        };
        let error = fixed(&problem, &platform, jitter).unwrap_err();
        assert_eq!(
            (error.batch, error.pivot, error.size),
            (35, 6, 7),
            "{platform}"
        );
        // Jitter repairs it.
        let density = numbers(fixed(&problem, &platform, Jitter::relative(1e-3)).unwrap());
        assert!(density[0].is_finite(), "{platform}");
    }
    problem.noise = f64::NAN;
    for platform in double_precision_platforms() {
        assert!(
            problem
                .density(&platform)
                .unwrap_err()
                .to_string()
                .contains("NaN")
        );
    }
}

fn fixed(
    problem: &Problem,
    platform: &Platform,
    jitter: Jitter,
) -> Result<Tensor<1>, NotPositiveDefinite> {
    let [lengthscales, variance, noise] = [
        platform.tensor(&problem.lengthscales, [problem.lengthscales.len()]),
        platform.tensor(&[problem.variance], [1]),
        platform.tensor(&[problem.noise], [1]),
    ];
    let data = [
        platform.matrix(&problem.inputs),
        platform.matrix(&problem.targets),
    ];
    let parameters = [lengthscales, variance, noise];
    stationary_neighbor_density(problem.kind, data, parameters, problem.rows(), jitter)
}

#[test]
#[should_panic(expected = "expected [N, D], [N, P]")]
fn shapes_must_fit() {
    let mut problem = Problem::new(Stationary::Matern32, 5, 2, 3);
    problem.counts.pop();
    let _ = problem.density(&cpus()[0]);
}
