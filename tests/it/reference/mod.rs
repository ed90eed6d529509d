//! Dense textbook algebra on `Vec<Vec<f64>>`, written for clarity, and small test problems for
//! inference.

pub mod actions;
pub mod orthogonal;

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{DType, Device, Gradients, Tensor, TensorData},
};
use burn_gp_core::ops::Stationary;

/// Rows of numbers.
pub type Matrix = Vec<Vec<f64>>;

/// All enabled devices with double precision, with their names.
#[allow(
    clippy::vec_init_then_push,
    reason = "what is pushed depends on features"
)]
pub fn double_precision() -> Vec<(&'static str, Device)> {
    #[allow(unused_mut, reason = "empty without CPU features")]
    let mut devices = Vec::new();
    #[cfg(feature = "flex")]
    devices.push(("flex", Device::flex()));
    #[cfg(feature = "ndarray")]
    #[allow(deprecated, reason = "ndarray stays supported beside flex")]
    devices.push(("ndarray", Device::ndarray()));
    devices
}

/// All enabled devices, with their names.
pub fn single_precision() -> Vec<(&'static str, Device)> {
    #[allow(unused_mut, reason = "the software device is optional")]
    let mut devices = double_precision();
    #[cfg(feature = "wgpu")]
    devices.push((
        "wgpu",
        Device::wgpu(burn::tensor::DeviceKind::DefaultDevice),
    ));
    devices
}

/// A tensor of the given rows.
pub fn tensor(rows: &Matrix, options: (&Device, DType)) -> Tensor<2> {
    let shape = [rows.len(), rows[0].len()];
    Tensor::from_data(TensorData::new(rows.concat(), shape), options)
}

/// The rows of a tensor.
pub fn rows(tensor: Tensor<2>) -> Matrix {
    let [_, columns] = tensor.dims();
    let values: Vec<f64> = tensor.into_data().iter::<f64>().collect();
    values.chunks(columns).map(<[f64]>::to_vec).collect()
}

/// The values of a tensor.
pub fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// The value of a `[1]` tensor.
pub fn scalar(tensor: Tensor<1>) -> f64 {
    values(tensor)[0]
}

/// Asserts `|a − b| ≤ tolerance·max(1, |b|)`.
#[track_caller]
pub fn assert_close(actual: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (actual - expected).abs() <= tolerance * expected.abs().max(1.0),
        "{what}: {actual} instead of {expected}, off by {:.2e}",
        (actual - expected).abs()
    );
}

/// [`assert_close`] for every entry, with a tolerance relative to the largest entry.
#[track_caller]
pub fn assert_all_close(actual: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(actual.len(), expected.len(), "{what}: lengths differ");
    let scale = expected
        .iter()
        .fold(1.0f64, |scale, value| scale.max(value.abs()));
    for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        assert!(
            (actual - expected).abs() <= tolerance * scale,
            "{what}, entry {index}: {actual} instead of {expected}, off by {:.2e} of {scale:.2e}",
            (actual - expected).abs()
        );
    }
}

/// A seeded stream of uniform numbers in [0, 1): SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.uniform()).cos()
    }

    pub fn uniform_rows(&mut self, rows: usize, columns: usize, low: f64, high: f64) -> Matrix {
        (0..rows)
            .map(|_| {
                (0..columns)
                    .map(|_| low + (high - low) * self.uniform())
                    .collect()
            })
            .collect()
    }
}

/// A regression problem with the parameters of its kernel and likelihood.
#[derive(Clone)]
pub struct Problem {
    pub kind: Stationary,
    pub lengthscales: Vec<f64>,
    pub variance: f64,
    pub noise: f64,
    pub x: Matrix,
    /// [N, P]
    pub y: Matrix,
    pub z: Matrix,
    pub new_x: Matrix,
}

impl Problem {
    /// 50 points in the plane, including 10 inducing points, and two outputs.
    pub fn plane(kind: Stationary) -> Self {
        let mut random = Random(7);
        let x = random.uniform_rows(50, 2, -2.0, 2.0);
        let y = (x.iter())
            .map(|x| {
                let first = (1.5 * x[0]).sin() + 0.5 * x[1] + 0.2 * random.normal();
                let second = (x[0] * x[1]).cos() + 0.2 * random.normal();
                vec![first, second]
            })
            .collect();
        Self {
            kind,
            lengthscales: vec![0.9, 1.3],
            variance: 1.4,
            noise: 0.07,
            z: random.uniform_rows(10, 2, -2.0, 2.0),
            new_x: random.uniform_rows(7, 2, -3.0, 3.0),
            x,
            y,
        }
    }

    /// The 1-D problem with golden values.
    pub fn golden() -> Self {
        let column = |values: &[f64]| values.iter().map(|&value| vec![value]).collect::<Matrix>();
        let x: Vec<f64> = (0..8).map(|n| 0.5 * f64::from(n)).collect();
        let y: Vec<f64> = (x.iter())
            .map(|x| (2.0 * x).sin() + 0.1 * (7.0 * x).cos())
            .collect();
        Self {
            kind: Stationary::SquaredExponential,
            lengthscales: vec![0.8],
            variance: 1.3,
            noise: 0.05,
            x: column(&x),
            y: column(&y),
            z: column(&[0.3, 1.7, 3.1]),
            new_x: column(&[1.3, 4.0]),
        }
    }

    /// The covariance function by its definition.
    pub fn k(&self, a: &[f64], b: &[f64]) -> f64 {
        let r2: f64 = (a.iter().zip(b).zip(&self.lengthscales))
            .map(|((a, b), lengthscale)| ((a - b) / lengthscale).powi(2))
            .sum();
        let profile = match self.kind {
            Stationary::SquaredExponential => (-0.5 * r2).exp(),
            Stationary::Matern12 => (-r2.sqrt()).exp(),
            Stationary::Matern32 => {
                let r = (3.0 * r2).sqrt();
                (1.0 + r) * (-r).exp()
            }
            Stationary::Matern52 => {
                let r = (5.0 * r2).sqrt();
                (1.0 + r + r * r / 3.0) * (-r).exp()
            }
        };
        self.variance * profile
    }

    pub fn covariance(&self, a: &Matrix, b: &Matrix) -> Matrix {
        a.iter()
            .map(|a| b.iter().map(|b| self.k(a, b)).collect())
            .collect()
    }

    /// `K_uu` with relative jitter.
    pub fn kuu(&self, jitter: f64) -> Matrix {
        add_diagonal(self.covariance(&self.z, &self.z), jitter * self.variance)
    }

    /// `Q = K_fu K_uu⁻¹ K_uf`.
    pub fn nystrom(&self, jitter: f64) -> Matrix {
        let kuf = self.covariance(&self.z, &self.x);
        product(&transpose(&kuf), &solve(&self.kuu(jitter), &kuf))
    }

    pub fn output(&self, output: usize) -> Vec<f64> {
        self.y.iter().map(|row| row[output]).collect()
    }

    pub fn outputs(&self) -> usize {
        self.y[0].len()
    }

    /// `Σ_p log N(y_p | 0, covariance)`.
    pub fn log_density(&self, covariance: &Matrix) -> f64 {
        (0..self.outputs())
            .map(|output| log_normal(&self.output(output), covariance))
            .sum()
    }
}

pub fn transpose(a: &Matrix) -> Matrix {
    (0..a[0].len())
        .map(|j| a.iter().map(|row| row[j]).collect())
        .collect()
}

pub fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let b = transpose(b);
    a.iter()
        .map(|a| b.iter().map(|b| dot(a, b)).collect())
        .collect()
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub fn add_diagonal(mut a: Matrix, value: f64) -> Matrix {
    for (i, row) in a.iter_mut().enumerate() {
        row[i] += value;
    }
    a
}

pub fn combine(a: &Matrix, b: &Matrix, factor: f64) -> Matrix {
    (a.iter().zip(b))
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + factor * b).collect())
        .collect()
}

pub fn trace(a: &Matrix) -> f64 {
    a.iter().enumerate().map(|(i, row)| row[i]).sum()
}

/// The lower Cholesky factor.
pub fn cholesky(a: &Matrix) -> Matrix {
    let mut l = vec![vec![0.0; a.len()]; a.len()];
    for i in 0..a.len() {
        for j in 0..=i {
            let rest = a[i][j] - dot(&l[i][..j], &l[j][..j]);
            l[i][j] = if i == j {
                assert!(rest > 0.0, "not positive definite at {i}: {rest:.2e}");
                rest.sqrt()
            } else {
                rest / l[j][j]
            };
        }
    }
    l
}

/// `L⁻¹B`.
pub fn solve_lower(l: &Matrix, b: &Matrix) -> Matrix {
    let mut x = b.clone();
    for i in 0..l.len() {
        for column in 0..b[0].len() {
            let known: f64 = (0..i).map(|j| l[i][j] * x[j][column]).sum();
            x[i][column] = (b[i][column] - known) / l[i][i];
        }
    }
    x
}

/// `A⁻¹B` by Gaussian elimination with partial pivoting.
pub fn solve(a: &Matrix, b: &Matrix) -> Matrix {
    let size = a.len();
    let mut rows: Matrix = a
        .iter()
        .zip(b)
        .map(|(a, b)| [&a[..], &b[..]].concat())
        .collect();
    for pivot in 0..size {
        let best = (pivot..size)
            .max_by(|&i, &j| rows[i][pivot].abs().total_cmp(&rows[j][pivot].abs()))
            .unwrap();
        rows.swap(pivot, best);
        let pivot_row = rows[pivot].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i != pivot {
                let factor = row[pivot] / pivot_row[pivot];
                for (value, pivot_value) in row.iter_mut().zip(&pivot_row).skip(pivot) {
                    *value -= factor * pivot_value;
                }
            }
        }
    }
    (rows.iter().enumerate())
        .map(|(i, row)| row[size..].iter().map(|value| value / row[i]).collect())
        .collect()
}

pub fn log_determinant(a: &Matrix) -> f64 {
    let l = cholesky(a);
    2.0 * (0..a.len()).map(|i| l[i][i].ln()).sum::<f64>()
}

/// `log N(y | 0, covariance)`.
pub fn log_normal(y: &[f64], covariance: &Matrix) -> f64 {
    let column: Matrix = y.iter().map(|&y| vec![y]).collect();
    let quadratic = dot(y, &transpose(&solve(covariance, &column))[0]);
    let constant = y.len() as f64 * (2.0 * std::f64::consts::PI).ln();
    -0.5 * (quadratic + log_determinant(covariance) + constant)
}

/// The gradients of all of a module's parameters, in visiting order.
pub fn gradients<M: Module>(module: &M, gradients: &Gradients) -> Vec<f64> {
    struct Collect<'a>(&'a Gradients, Vec<f64>);
    impl ModuleVisitor for Collect<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if !param.val().is_require_grad() {
                return;
            }
            let gradient = param
                .val()
                .grad(self.0)
                .expect("a parameter without gradient");
            self.1.extend(values(gradient));
        }
    }
    let mut collect = Collect(gradients, Vec::new());
    module.visit(&mut collect);
    collect.1
}

/// The module with `step` added to one number. `index` counts all numbers in visiting order.
pub fn perturb<M: Module>(module: M, index: usize, step: f64) -> M {
    struct Perturb {
        index: usize,
        step: f64,
        seen: usize,
    }
    impl ModuleMapper for Perturb {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let (id, tensor, mapper) = param.consume();
            let (shape, device, dtype) = (tensor.dims(), tensor.device(), tensor.dtype());
            let mut numbers = values(tensor);
            if (self.seen..self.seen + numbers.len()).contains(&self.index) {
                numbers[self.index - self.seen] += self.step;
            }
            self.seen += numbers.len();
            let data = TensorData::new(numbers, shape);
            let tensor = Tensor::from_data(data, (&device, dtype)).require_grad();
            Param::from_mapped_value(id, tensor, mapper)
        }
    }
    module.map(&mut Perturb {
        index,
        step,
        seen: 0,
    })
}

/// Central differences of `function` with respect to all numbers of `module`.
pub fn central_differences<M: Module>(
    module: &M,
    step: f64,
    function: impl Fn(&M) -> f64,
) -> Vec<f64> {
    (0..module.num_params())
        .map(|index| {
            let above = function(&perturb(module.clone(), index, step));
            let below = function(&perturb(module.clone(), index, -step));
            (above - below) / (2.0 * step)
        })
        .collect()
}
