//! The time of the operations in a training step. Each is compared with the time of its
//! multiply-adds at the rate of a matrix product measured in the same run (zero for elementwise
//! passes, such as the covariance). The sums over image patches are compared with the same sums
//! from the matrix of all patches.
//!
//! `cargo bench --bench operations` prints one line of JSON per operation.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use burn::{
    module::{Module, Param},
    optim::{AdamConfig, GradientsParams, ModuleOptimizer},
    tensor::{DType, Device, Distribution, Tensor, module::layer_norm},
};
use burn_gp_core::{
    ops::{
        Jitter, Stationary, cholesky, covariance, covariances, gaussian_log_density,
        layer_normalization, matern as any_matern, patch_covariance, patch_variance,
        projected_moments,
    },
    optim::Adam,
    patches::{ImageShape, PatchError, PatchGrid},
};

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod median;

use median::median;

/// Rows of the square matrices, and the number of right-hand sides.
const SIZE: usize = 1024;

const DIMENSIONS: usize = 8;

/// The number of images in the sums over patches, and the number for which the matrix of all
/// patches takes at most half a gigabyte.
const IMAGES: [usize; 2] = [200, 20];

/// The number of inducing patches.
const INDUCING: usize = 750;

/// The number of calls of an operation, and of warm-up calls that are not counted.
const CALLS: [usize; 2] = [25, 5];

/// The parameters of the Adam benchmark.
#[derive(Module, Debug)]
struct Weights {
    matrix: Param<Tensor<2>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    for dtype in [DType::F32, DType::F64] {
        let device = Device::flex();
        device.seed(0);
        let random = |shape: [usize; 2]| {
            Tensor::<2>::random(shape, Distribution::Normal(0.0, 1.0), (&device, dtype))
        };
        let ones = |count: usize| Tensor::<1>::ones([count], (&device, dtype));
        let (x, z) = (random([SIZE, DIMENSIONS]), random([SIZE, DIMENSIONS]));
        let (square, other) = (random([SIZE, SIZE]), random([SIZE, SIZE]));
        let product = many(|| square.clone().matmul(other.clone()));
        let report = |name: &str, time: Duration, products: f64| {
            let reference = product.as_secs_f64() * products;
            println!(
                "{{\"operation\": \"{name}\", \"type\": \"{dtype:?}\", \"size\": {SIZE}, \"median_ms\": {:.3}, \
                 \"reference_ms\": {:.3}, \"above_reference_ms\": {:.3}}}",
                time.as_secs_f64() * 1e3,
                reference * 1e3,
                (time.as_secs_f64() - reference) * 1e3,
            );
        };
        let matern = Stationary::Matern52;
        let kuf = || covariance(matern, z.clone(), x.clone(), ones(DIMENSIONS), ones(1));
        report("covariance", many(kuf), 0.0);
        let tracked = z.clone().autodiff().require_grad();
        report(
            "covariance, both directions",
            many(|| {
                let inputs = x.clone().autodiff();
                let scales = (ones(DIMENSIONS).autodiff(), ones(1).autodiff());
                covariance(matern, tracked.clone(), inputs, scales.0, scales.1)
                    .sum()
                    .backward()
            }),
            0.0,
        );
        let squares = random([SIZE, SIZE]).square().unsqueeze::<3>();
        report("exponential", many(|| squares.clone().neg().exp()), 0.0);
        report(
            "Matérn of any smoothness",
            many(|| any_matern(squares.clone(), ones(1))),
            0.0,
        );
        let tracked_squares = squares.autodiff().require_grad();
        report(
            "Matérn of any smoothness, both directions",
            many(|| {
                any_matern(tracked_squares.clone(), ones(1).autodiff().require_grad())
                    .sum()
                    .backward()
            }),
            0.0,
        );
        let kuu = covariance(matern, z.clone(), z.clone(), ones(DIMENSIONS), ones(1));
        let jitter = Jitter::relative(1e-3);
        let factorize = || cholesky(kuu.clone(), jitter);
        report("cholesky", many(factorize), 1.0 / 6.0);
        let (factor, basis) = (factorize()?, kuf());
        report(
            "triangular solve",
            many(|| factor.solve(basis.clone())),
            0.5,
        );
        let tracked = |tensor: &Tensor<2>| tensor.clone().autodiff().require_grad();
        report(
            "cholesky and triangular solve, both directions",
            many(|| {
                cholesky(tracked(&kuu), jitter)
                    .map(|factor| factor.solve(tracked(&basis)).sum().backward())
            }),
            1.0 / 6.0 + 2.0,
        );
        log_densities(&kuu, &random([SIZE, 1]), &report);
        let mean = random([1, SIZE]);
        let scale = factor.lower();
        let moments = || {
            let scale = scale.clone().unsqueeze::<3>();
            projected_moments(basis.clone(), mean.clone(), scale)
        };
        report("projected moments", many(moments), 0.5);
        report(
            "projected moments, both directions",
            many(|| {
                let scale = tracked(&scale).unsqueeze::<3>();
                let (mean, variance) = projected_moments(tracked(&basis), tracked(&mean), scale);
                (mean + variance).sum().backward()
            }),
            1.5,
        );
        let adam = |optimizer| median_adam(optimizer, &scale, &square);
        report("Adam on a square matrix", adam(Adam::new().into()), 0.0);
        let unfused = AdamConfig::new().with_epsilon(1e-8).init();
        report("burn's Adam on a square matrix", adam(unfused), 0.0);
        layer_normalizations(&square, &report);
        patches(dtype, &device)?;
    }
    Ok(())
}

/// The log-density, compared with the factor, its solve and its log-determinant.
fn log_densities(
    covariance: &Tensor<2>,
    residual: &Tensor<2>,
    report: &impl Fn(&str, Duration, f64),
) {
    let jitter = Jitter::relative(1e-3);
    let tracked = || {
        let arguments = [covariance, residual];
        arguments.map(|tensor| tensor.clone().autodiff().require_grad())
    };
    let whole = many(|| {
        let [covariance, residual] = tracked();
        gaussian_log_density(covariance, residual, jitter).map(|density| density.backward())
    });
    let by_factor = many(|| {
        let [covariance, residual] = tracked();
        cholesky(covariance, jitter).map(|factor| {
            let squares = factor.solve(residual).square().sum();
            (squares + factor.log_determinant()).backward()
        })
    });
    let multiply_adds = [1.0 / 6.0 + 1.0 / 3.0, 1.0 / 6.0 + 1.0];
    report("log-density, both directions", whole, multiply_adds[0]);
    let name = "log-density by the factor, both directions";
    report(name, by_factor, multiply_adds[1]);
}

/// Layer normalization by the library and by burn. Each row of the square matrix holds the
/// activations of a layer.
fn layer_normalizations(square: &Tensor<2>, report: &impl Fn(&str, Duration, f64)) {
    let options = (&square.device(), square.dtype());
    let tracked = || {
        let row = |row: Tensor<1>| row.autodiff().require_grad();
        let scale = row(Tensor::ones([SIZE], options));
        let shift = row(Tensor::zeros([SIZE], options));
        (square.clone().autodiff().require_grad(), scale, shift)
    };
    let ours = || {
        let (x, scale, shift) = tracked();
        layer_normalization(x, scale, shift, 1e-5).sum().backward()
    };
    let burns = || {
        let (x, scale, shift) = tracked();
        layer_norm(x, scale, Some(shift), 1e-5).sum().backward()
    };
    report("layer normalization, both directions", many(ours), 0.0);
    report(
        "burn's layer normalization, both directions",
        many(burns),
        0.0,
    );
}

/// The arguments of the sums over patches.
#[derive(Clone)]
struct Patches {
    grid: PatchGrid,
    inducing: Tensor<2>,
    images: Tensor<2>,
    lengthscale: Tensor<1>,
    variance: Tensor<1>,
    weights: Tensor<2>,
    pair_weights: Tensor<2>,
}

impl Patches {
    fn random(images: usize, dtype: DType, device: &Device) -> Result<Self, PatchError> {
        let grid = PatchGrid::new(ImageShape::new(28, 28, 1), 5, 1)?;
        let random = |shape: [usize; 2]| {
            Tensor::<2>::random(shape, Distribution::Normal(0.0, 1.0), (device, dtype))
        };
        let one = Tensor::<1>::ones([1], (device, dtype));
        Ok(Self {
            inducing: random([INDUCING, grid.dimensions()]),
            images: random([images, grid.image().len()]),
            lengthscale: one.clone() * 5.0,
            variance: one,
            weights: random([INDUCING, grid.count()]),
            pair_weights: random([grid.count(); 2]),
            grid,
        })
    }

    /// The same, with gradients of everything except the images, as in a first layer.
    fn tracked(&self) -> Self {
        Self {
            grid: self.grid,
            inducing: self.inducing.clone().autodiff().require_grad(),
            images: self.images.clone().autodiff(),
            lengthscale: self.lengthscale.clone().autodiff().require_grad(),
            variance: self.variance.clone().autodiff().require_grad(),
            weights: self.weights.clone().autodiff().require_grad(),
            pair_weights: self.pair_weights.clone().autodiff().require_grad(),
        }
    }

    fn covariance(self) -> Tensor<1> {
        let Self {
            grid,
            inducing,
            images,
            lengthscale,
            variance,
            weights,
            ..
        } = self;
        let kind = Stationary::SquaredExponential;
        patch_covariance(
            kind,
            &grid,
            inducing,
            images,
            lengthscale,
            variance,
            weights,
        )
        .sum()
    }

    fn variance(self) -> Tensor<1> {
        let kind = Stationary::SquaredExponential;
        let (scale, weights) = (self.lengthscale, self.pair_weights);
        patch_variance(kind, &self.grid, self.images, scale, self.variance, weights).sum()
    }

    fn explicit_covariance(self) -> Tensor<1> {
        let [images, _] = self.images.dims();
        let patches = self.grid.extract(self.images);
        let kind = Stationary::SquaredExponential;
        let all = covariance(
            kind,
            self.inducing,
            patches,
            self.lengthscale,
            self.variance,
        );
        let all = all.reshape([INDUCING, images, self.grid.count()]);
        (all * self.weights.unsqueeze_dim::<3>(1)).sum()
    }

    fn explicit_variance(self) -> Tensor<1> {
        let [images, _] = self.images.dims();
        let shape = [images, self.grid.count(), self.grid.dimensions()];
        let patches = self.grid.extract(self.images).reshape(shape);
        let (scales, variances) = (
            self.lengthscale.expand([images]),
            self.variance.expand([images]),
        );
        let kind = Stationary::SquaredExponential;
        let all = covariances(kind, patches.clone(), patches, scales, variances);
        (all * self.pair_weights.unsqueeze::<3>()).sum()
    }
}

/// The sums over patches, and the same sums for fewer images from the matrix of all patches.
fn patches(dtype: DType, device: &Device) -> Result<(), PatchError> {
    let given = Patches::random(IMAGES[0], dtype, device)?;
    let fewer = Patches::random(IMAGES[1], dtype, device)?;
    let (count, bytes) = (given.grid.count(), dtype.size());
    let report = |name: &str, rows: usize, fused: Duration, explicit: Duration| {
        let [fused, explicit] = [fused, explicit].map(|time| time.as_secs_f64() * 1e3);
        let ratio = explicit * IMAGES[0] as f64 / (fused * IMAGES[1] as f64);
        let numbers = rows * count * IMAGES[0];
        println!(
            "{{\"operation\": \"{name}\", \"type\": \"{dtype:?}\", \"images\": {}, \
             \"patches\": {count}, \"median_ms\": {fused:.3}, \"explicit_images\": {}, \
             \"explicit_ms\": {explicit:.3}, \"explicit_ratio\": {ratio:.2}, \
             \"explicit_matrix_mib\": {:.1}}}",
            IMAGES[0],
            IMAGES[1],
            (numbers * bytes) as f64 / f64::from(1 << 20),
        );
    };
    type Sum = fn(Patches) -> Tensor<1>;
    let operations: [(&str, usize, Sum, Sum); 2] = [
        (
            "patch covariance",
            INDUCING,
            Patches::covariance,
            Patches::explicit_covariance,
        ),
        (
            "patch variance",
            count,
            Patches::variance,
            Patches::explicit_variance,
        ),
    ];
    for (name, rows, fused, explicit) in operations {
        let forward = |sum: Sum, given: &Patches| few(|| sum(given.clone()));
        let both = |sum: Sum, given: &Patches| few(|| sum(given.tracked()).backward());
        report(
            name,
            rows,
            forward(fused, &given),
            forward(explicit, &fewer),
        );
        let name = format!("{name}, both directions");
        report(&name, rows, both(fused, &given), both(explicit, &fewer));
    }
    Ok(())
}

/// The median time of a few calls.
fn few<R>(mut call: impl FnMut() -> R) -> Duration {
    median_of([7, 2], || (), |()| call())
}

/// The median time in which an optimizer updates one matrix. It may overwrite the gradient, as in a
/// training step.
fn median_adam(
    mut optimizer: ModuleOptimizer,
    matrix: &Tensor<2>,
    gradient: &Tensor<2>,
) -> Duration {
    let mut weights = Weights {
        matrix: Param::from_tensor(matrix.clone()),
    }
    .train();
    let gradients = |id| {
        let mut gradients = GradientsParams::new();
        gradients.register(id, gradient.clone() * 1.0);
        gradients
    };
    let id = weights.matrix.id;
    median_of(
        CALLS,
        || gradients(id),
        |gradients| weights = optimizer.step(1e-3, weights.clone(), gradients),
    )
}

/// The median time of a call. Dropping its result is not measured.
fn many<R>(mut call: impl FnMut() -> R) -> Duration {
    median_of(CALLS, || (), |()| call())
}

/// Same as [`many`], for `calls` calls of which the `first` ones are not counted. Preparing the argument is
/// not measured.
fn median_of<A, R>(
    [calls, first]: [usize; 2],
    mut prepare: impl FnMut() -> A,
    mut call: impl FnMut(A) -> R,
) -> Duration {
    let times = (0..calls)
        .map(|_| {
            let argument = prepare();
            let start = Instant::now();
            let result = call(argument);
            let elapsed = start.elapsed();
            drop(result);
            elapsed
        })
        .skip(first);
    median(times.collect())
}
