//! Measures products of the covariance of all points with vectors, `K(X, X)·V`. The product from
//! half of the covariances is compared with the product of two separate sets of points, which needs
//! all covariances. Points with four fifths duplicates are compared with as many distinct points.
//!
//! `cargo bench --bench covariance_products` prints one line of JSON per case,
//! for Matérn-3/2 with a lengthscale per dimension, 9 dimensions and generated data. It contains
//! the median milliseconds of the product with 1, 11 and 64 vectors, as in conjugate gradients, and
//! of the product with its gradients; the same with the points given twice as two sets; and the
//! ratios. Then it prints the same for twice as many points without gradients. `-- POINTS` runs
//! another size.
//!
//! Each product of one set is also compared with a lower limit: every pair of points once in each direction,
//! with the exponentials at their rate from the innermost cache and the multiply-adds (additions count as
//! such) at the rate of a matrix product, both measured in the same run. Square roots are not counted,
//! because another unit of the processor computes them at the same time.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use burn::tensor::{DType, Device, Distribution, Tensor};
use burn_gp_core::ops::{Stationary, covariance_product, profile_rate};
use median::median;
use product_rate::product_rate;

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod median;
mod product_rate;

const DIMENSIONS: usize = 9;

/// N
const POINTS: usize = 5000;

/// The number of times that each point occurs among duplicates.
const COPIES: usize = 5;

/// R
const WIDTHS: [usize; 3] = [1, 11, 64];

/// The number of repetitions; their median is reported.
const REPETITIONS: usize = 7;

/// The arguments of a product.
struct Case {
    points: Tensor<2>,
    lengthscales: Tensor<1>,
    variance: Tensor<1>,
    vectors: Tensor<2>,
}

impl Case {
    fn new(points: usize, width: usize, device: &Device, dtype: DType) -> Self {
        let options = (device, dtype);
        let normal = |shape: [usize; 2]| {
            Tensor::<2>::random(shape, Distribution::Normal(0.0, 1.0), options).require_grad()
        };
        Self {
            points: normal([points, DIMENSIONS]),
            lengthscales: Tensor::<1>::full([DIMENSIONS], 2.0, options).require_grad(),
            variance: Tensor::<1>::ones([1], options).require_grad(),
            vectors: normal([points, width]),
        }
    }

    /// The same case with constant points, each repeated `copies` times.
    fn repeated(self, copies: usize) -> Self {
        let points = self.points.inner();
        let first = points.clone().narrow(0, 0, points.dims()[0] / copies);
        Self {
            points: first.repeat_dim(0, copies).autodiff(),
            ..self
        }
    }

    fn product(&self, twice: bool) -> Tensor<2> {
        covariance_product(
            Stationary::Matern32,
            self.points.clone(),
            twice.then(|| self.points.clone()),
            self.lengthscales.clone(),
            self.variance.clone(),
            self.vectors.clone(),
        )
    }

    /// The times of the product and of the product with its gradients.
    fn times(&self, twice: bool) -> [Duration; 2] {
        let timed = |work: &dyn Fn()| {
            let times = (0..REPETITIONS).map(|_| {
                let start = Instant::now();
                work();
                start.elapsed()
            });
            median(times.collect())
        };
        [
            timed(&|| drop(black_box(self.product(twice)))),
            timed(&|| drop(black_box(self.product(twice).sum().backward()))),
        ]
    }
}

fn main() {
    allocator::keep_freed_pages();
    // Cargo adds its own flag.
    let mut numbers = std::env::args().filter_map(|argument| argument.parse().ok());
    let points = numbers.next().unwrap_or(POINTS);
    let device = Device::flex().autodiff();
    device.seed(0);
    for dtype in [DType::F32, DType::F64] {
        let rates = Rates {
            multiply_adds: product_rate(dtype) / 2.0,
            exponentials: profile_rate(Stationary::SquaredExponential, dtype),
        };
        println!(
            "{{\"dtype\": \"{dtype:?}\", \"multiply_adds_per_ns\": {:.1}, \"exponentials_per_ns\": {:.2}}}",
            rates.multiply_adds / 1e9,
            rates.exponentials / 1e9
        );
        for width in WIDTHS {
            let case = Case::new(points, width, &device, dtype);
            let times = case.times(false);
            report(&case, ["half", "of_two_sets"], [times, case.times(true)]);
            report_limit(&case, rates, times);
            let case = |copies| Case::new(2 * points, width, &device, dtype).repeated(copies);
            let times = [case(COPIES), case(1)].map(|case| case.times(false));
            report(&case(1), ["copies", "that_differ"], times);
        }
    }
}

/// Operations per second.
#[derive(Clone, Copy)]
struct Rates {
    multiply_adds: f64,
    exponentials: f64,
}

/// The seconds that a pass over all pairs takes for multiply-adds, given their number per pair, and for
/// exponentials.
fn limit(points: usize, multiply_adds: usize, rates: Rates) -> [f64; 2] {
    let pairs = points as f64 * (points + 1) as f64 / 2.0;
    [
        pairs * multiply_adds as f64 / rates.multiply_adds,
        pairs / rates.exponentials,
    ]
}

/// Prints the limits of the product and of the product with its gradients, and the limits divided by the
/// measured times.
///
/// A product needs a difference and a multiply-add per dimension and two multiply-adds per vector.
/// Gradients need these again, two more multiply-adds per vector for the gradient of the covariance,
/// four for its chain rule, and per dimension the pulls on both points and the sum for the
/// lengthscale.
fn report_limit(case: &Case, rates: Rates, times: [Duration; 2]) {
    let [points, width] = case.vectors.dims();
    let product = limit(points, 2 * DIMENSIONS + 2 * width, rates);
    let gradients = limit(points, 6 * DIMENSIONS + 4 * width + 4, rates);
    let both = [product[0] + gradients[0], product[1] + gradients[1]];
    let [[limit, share], [limit_with_gradients, share_with_gradients]] =
        [product, both].map(|[multiply_adds, exponentials]| {
            let total = multiply_adds + exponentials;
            [total, exponentials / total]
        });
    println!(
        "{{\"points\": {points}, \"vectors\": {width}, \"dtype\": \"{:?}\", \
         \"limit_ms\": {:.1}, \"exponentials_share\": {share:.2}, \"limit_ratio\": {:.2}, \
         \"limit_with_gradients_ms\": {:.1}, \
         \"exponentials_share_with_gradients\": {share_with_gradients:.2}, \
         \"limit_ratio_with_gradients\": {:.2}}}",
        case.vectors.dtype(),
        1e3 * limit,
        limit / times[0].as_secs_f64(),
        1e3 * limit_with_gradients,
        limit_with_gradients / times[1].as_secs_f64(),
    );
}

/// Prints one line: the first of two ways to compute a product compared with the second, with their
/// names and times.
fn report(case: &Case, names: [&str; 2], [ours, others]: [[Duration; 2]; 2]) {
    let milliseconds = |time: Duration| 1e3 * time.as_secs_f64();
    let ratio = |index: usize| ours[index].as_secs_f64() / others[index].as_secs_f64();
    let [points, width] = case.vectors.dims();
    let [first, second] = names;
    println!(
        "{{\"points\": {points}, \"vectors\": {width}, \"dtype\": \"{:?}\", \
         \"{first}_ms\": {:.1}, \"{second}_ms\": {:.1}, \"ratio\": {:.2}, \
         \"{first}_with_gradients_ms\": {:.1}, \"{second}_with_gradients_ms\": {:.1}, \
         \"with_gradients_ratio\": {:.2}}}",
        case.vectors.dtype(),
        milliseconds(ours[0]),
        milliseconds(others[0]),
        ratio(0),
        milliseconds(ours[1]),
        milliseconds(others[1]),
        ratio(1),
    );
}
