//! The accuracy of factors, solves and their gradients, compared with textbook loops in the same
//! precision.
//!
//! The matrices are kernels on a grid. Their eigenvalues fall below the rounding error of the
//! diagonal, which exposes any loss of digits in an algorithm.

use crate::support::{
    Platform, numbers, platforms,
    textbook::{DoubleDouble, Matrix, Real, Upper, normals},
};
use burn::tensor::Tensor;
use burn_gp_core::ops::{CholeskyFactor, ExactMatmul, Jitter, cholesky, gaussian_log_density};

/// The largest error allowed, as a multiple of the error of the textbook loops.
const ALLOWED: f64 = 3.0;

/// One block of rows, sizes around one and two blocks, and several blocks with a thread each. All backends on
/// the host have the same code, so that one of them does the largest. The software device that stands for a
/// GPU in tests takes long for the largest two.
fn sizes(platform: &Platform) -> &'static [usize] {
    const SIZES: [usize; 8] = [16, 33, 64, 100, 256, 512, 1024, 2048];
    match platform.backend {
        "flex" => &SIZES,
        _ if platform.is_host() => &SIZES[..7],
        _ => &SIZES[..6],
    }
}

/// The number of right-hand columns.
const COLUMNS: usize = 8;

#[derive(Clone, Copy, Debug)]
enum Kernel {
    SquaredExponential,
    Matern52,
}

const KERNELS: [Kernel; 2] = [Kernel::SquaredExponential, Kernel::Matern52];

impl Kernel {
    /// The kernel matrix with unit lengthscale on `size` points from 0 to 10.
    fn on_grid<T: Real>(self, size: usize) -> Matrix<T> {
        let step = 10.0 / (size - 1) as f64;
        Matrix::from_function(size, size, |i, j| {
            let distance = i.abs_diff(j) as f64 * step;
            let scaled = 5f64.sqrt() * distance;
            T::from_f64(match self {
                Self::SquaredExponential => (-0.5 * distance * distance).exp(),
                Self::Matern52 => (1.0 + scaled + scaled * scaled / 3.0) * (-scaled).exp(),
            })
        })
    }
}

/// The matrix with `added` on its diagonal.
fn with_diagonal<T: Real>(matrix: &Matrix<T>, added: f64) -> Matrix<T> {
    let added = T::from_f64(added);
    Matrix::from_function(matrix.rows, matrix.columns, |i, j| {
        let entry = matrix.at(i, j);
        if i == j { entry + added } else { entry }
    })
}

/// A jitter with which both algorithms have a factor.
fn jitter(platform: &Platform) -> f64 {
    platform.tolerance(1e-12, 1e-4)
}

fn exactly_as_it_is() -> Jitter {
    Jitter {
        initial: 0.0,
        escalations: 0,
    }
}

fn tensor<T: Real>(platform: &Platform, matrix: &Matrix<T>) -> Tensor<2> {
    platform.tensor(&matrix.numbers(), [matrix.rows, matrix.columns])
}

fn read<T: Real>(values: Tensor<2>) -> Matrix<T> {
    let [rows, columns] = values.dims();
    Matrix::rounded(rows, columns, &numbers(values))
}

/// Calls a check with the precision of a platform and another with about twice its digits.
macro_rules! in_both_precisions {
    ($check:ident) => {
        for platform in &platforms() {
            if platform.is_double() {
                $check::<f64, DoubleDouble>(platform);
            } else {
                $check::<f32, f64>(platform);
            }
        }
    };
}

/// Prints both errors and compares them.
#[track_caller]
fn compare(what: &str, ours: f64, textbook: f64) {
    println!(
        "{what}: {ours:.2e}, textbook {textbook:.2e}, ratio {:.2}",
        ours / textbook
    );
    assert!(
        ours <= ALLOWED * textbook,
        "{what}: error {ours:.2e}, the textbook's loops {textbook:.2e}"
    );
}

/// The smallest number that must be added to a unit diagonal for `has_factor`, within 5%. It is at
/// least the machine epsilon.
fn least_addition(epsilon: f64, has_factor: impl Fn(f64) -> bool) -> f64 {
    let steps = (1e6f64.ln() / 1.05f64.ln()).ceil() as i32;
    let addition = |step: i32| epsilon * 1.05f64.powi(step);
    if has_factor(epsilon) {
        return epsilon;
    }
    let (mut without, mut with) = (0, steps);
    while with - without > 1 {
        let middle = (with + without) / 2;
        if has_factor(addition(middle)) {
            with = middle;
        } else {
            without = middle;
        }
    }
    addition(with)
}

fn check_least_jitter<T: Real>(platform: &Platform) {
    for kernel in KERNELS {
        for &size in sizes(platform) {
            let matrix = kernel.on_grid::<T>(size);
            let epsilon = platform.epsilon();
            let textbook = least_addition(epsilon, |added| {
                with_diagonal(&matrix, added).upper_factor().is_some()
            });
            let given = tensor(platform, &matrix);
            let ours = least_addition(epsilon, |added| {
                let jitter = Jitter {
                    initial: added,
                    escalations: 0,
                };
                cholesky(given.clone(), jitter).is_ok()
            });
            compare(
                &format!("{platform}, {kernel:?}, {size}: least jitter"),
                ours,
                textbook,
            );
        }
    }
}

#[test]
fn factors_need_no_more_jitter_than_the_textbook() {
    for platform in platforms() {
        if platform.is_double() {
            check_least_jitter::<f64>(&platform);
        } else {
            check_least_jitter::<f32>(&platform);
        }
    }
}

/// `‖(LLᵀ − K)V‖` for the given V, in higher precision.
fn factor_residual<H: Real>(lower: &Matrix<H>, matrix: &Matrix<H>, v: &Matrix<H>) -> f64 {
    let product = lower.times(&lower.transposed().times(v));
    product.combine(&matrix.times(v), |a, b| a - b).norm()
}

/// `‖AX − B‖`, in higher precision.
fn residual<T: Real, H: Real>(a: &Matrix<H>, x: &Matrix<T>, b: &Matrix<T>) -> f64 {
    a.times(&x.cast()).combine(&b.cast(), |a, b| a - b).norm()
}

fn check_residuals<T: Real, H: Real>(platform: &Platform) {
    for kernel in KERNELS {
        for &size in sizes(platform) {
            let what = |of: &str| format!("{platform}, {kernel:?}, {size}: {of}");
            let matrix = with_diagonal(&kernel.on_grid::<T>(size), jitter(platform));
            let upper = matrix.upper_factor().expect("positive definite");
            let given = tensor(platform, &matrix);
            let factor = cholesky(given, exactly_as_it_is()).expect("positive definite");
            let v = Matrix::<H>::rounded(size, COLUMNS, &normals(1, size, COLUMNS));
            let [ours, textbook] = [read::<H>(factor.lower()), upper.lower().cast()]
                .map(|lower| factor_residual(&lower, &matrix.cast(), &v));
            compare(&what("factor"), ours, textbook);

            // Both solve with the same triangle.
            let (lower, transposed) = (upper.lower().cast::<H>(), upper.0.cast::<H>());
            let factor = CholeskyFactor::from_lower(tensor(platform, &upper.lower())).unwrap();
            for columns in [1, 70] {
                let rhs = Matrix::<T>::rounded(size, columns, &normals(2, size, columns));
                let given = tensor(platform, &rhs);
                let ours = read::<T>(factor.solve(given.clone()));
                let [ours, textbook] =
                    [ours, upper.solve(&rhs)].map(|x| residual(&lower, &x, &rhs));
                compare(&what(&format!("L, {columns} columns")), ours, textbook);
                let ours = read::<T>(factor.solve_transposed(given));
                let [ours, textbook] =
                    [ours, upper.solve_transposed(&rhs)].map(|x| residual(&transposed, &x, &rhs));
                compare(
                    &what(&format!("transposed L, {columns} columns")),
                    ours,
                    textbook,
                );
            }
        }
    }
}

#[test]
fn residuals_are_those_of_the_textbook() {
    in_both_precisions!(check_residuals);
}

/// A loss of a tracked matrix and right-hand side: its name and both gradients.
type Gradients<T> = (&'static str, Matrix<T>, Matrix<T>);

/// The library's gradients of weighted sums of results.
fn gradients<T: Real>(
    platform: &Platform,
    [matrix, rhs, weights]: [&Matrix<T>; 3],
) -> Vec<Gradients<T>> {
    let platform = platform.autodiff();
    let weights = tensor(&platform, weights);
    type Loss<'a> = &'a dyn Fn(Tensor<2>, Tensor<2>) -> Tensor<1>;
    let differentiate = |what, loss: Loss<'_>| {
        let given = [matrix, rhs].map(|matrix| tensor(&platform, matrix).require_grad());
        let [matrix, rhs] = given.clone();
        let all = loss(matrix, rhs).backward();
        let [matrix, rhs] = given.map(|tensor| match tensor.grad(&all) {
            Some(gradient) => read::<T>(gradient),
            None => read::<T>(tensor.inner().zeros_like()),
        });
        (what, matrix, rhs)
    };
    let factor = |matrix| cholesky(matrix, exactly_as_it_is()).expect("positive definite");
    vec![
        differentiate("solve", &|matrix, rhs| {
            (factor(matrix).solve(rhs) * weights.clone()).sum()
        }),
        differentiate("transposed solve", &|matrix, rhs| {
            (factor(matrix).solve_transposed(rhs) * weights.clone()).sum()
        }),
        differentiate("log-determinant", &|matrix, _| {
            factor(matrix).log_determinant()
        }),
        differentiate("log-density", &|matrix, rhs| {
            gaussian_log_density(matrix, rhs, exactly_as_it_is()).expect("positive definite")
        }),
        differentiate("factor", &|matrix, rhs| {
            let product = rhs.detach().exact_matmul(weights.clone().transpose());
            (factor(matrix).lower() * product).sum()
        }),
    ]
}

/// The same gradients with textbook loops: `K̄ = ½·L⁻ᵀ(Φ + Φᵀ)L⁻¹` with `Φ` from `LᵀL̄` (I. Murray,
/// arXiv:1602.07527, eq. 10), where `LᵀL̄ = −X̄Xᵀ` for `X = L⁻¹B` and `LᵀL̄ = −B·B̄ᵀ` for
/// `X = L⁻ᵀB`.
fn textbook_gradients<T: Real>([matrix, rhs, weights]: [&Matrix<T>; 3]) -> Vec<Gradients<T>> {
    let size = matrix.rows;
    let (zero, half) = (T::from_f64(0.0), T::from_f64(0.5));
    let negated = |matrix: &Matrix<T>| matrix.map(|value| zero - value);
    let upper = matrix.upper_factor().expect("positive definite");
    let through_factor = |cotangent: &Matrix<T>| {
        upper.solve_both_sides(&Upper::symmetric(size, |i, j| cotangent.at(i, j)))
    };
    let solution = upper.solve(rhs);
    let solve = (
        "solve",
        through_factor(&negated(&weights.times(&solution.transposed()))),
        upper.solve_transposed(weights),
    );
    let slope = upper.solve(weights);
    let transposed_solve = (
        "transposed solve",
        through_factor(&negated(&rhs.times(&slope.transposed()))),
        slope,
    );
    let nothing = rhs.map(|_| zero);
    let identity = Matrix::identity(size);
    let inverse = upper.solve_both_sides(&identity);
    let alpha = upper.solve_transposed(&solution);
    let columns = T::from_f64(rhs.columns as f64);
    let squares = alpha.times(&alpha.transposed());
    let density = squares.combine(&inverse, |square, inverse| {
        half * (square - columns * inverse)
    });
    let product = rhs.times(&weights.transposed());
    let lower = Matrix::from_function(
        size,
        size,
        |i, j| if j > i { zero } else { product.at(i, j) },
    );
    vec![
        solve,
        transposed_solve,
        ("log-determinant", inverse, nothing.clone()),
        ("log-density", density, negated(&alpha)),
        ("factor", through_factor(&upper.0.times(&lower)), nothing),
    ]
}

/// The relative distance in the Frobenius norm.
fn distance<T: Real, H: Real>(given: &Matrix<T>, truth: &Matrix<H>) -> f64 {
    let difference = given.cast::<H>().combine(truth, |a, b| a - b);
    difference.norm() / truth.norm().max(f64::MIN_POSITIVE)
}

fn check_gradients<T: Real, H: Real>(platform: &Platform) {
    for kernel in KERNELS {
        for size in [16, 33, 64, 100, 256] {
            let matrix = with_diagonal(&kernel.on_grid::<T>(size), jitter(platform));
            let [rhs, weights] = [3, 4]
                .map(|seed| Matrix::<T>::rounded(size, COLUMNS, &normals(seed, size, COLUMNS)));
            let given = [&matrix, &rhs, &weights];
            let ours = gradients(platform, given);
            let textbook = textbook_gradients(given);
            let higher = given.map(|matrix| matrix.cast::<H>());
            let truth = textbook_gradients(higher.each_ref());
            let errors = |given: &[Gradients<T>]| -> Vec<(f64, f64)> {
                let pairs = given.iter().zip(&truth);
                pairs
                    .map(|(given, truth)| {
                        (distance(&given.1, &truth.1), distance(&given.2, &truth.2))
                    })
                    .collect()
            };
            let (ours, textbook) = (errors(&ours), errors(&textbook));
            // All sizes have the same condition number, and a single error may be small by chance.
            let largest = textbook.iter().fold((0f64, 0f64), |largest, error| {
                (largest.0.max(error.0), largest.1.max(error.1))
            });
            for (ours, truth) in ours.iter().zip(&truth) {
                let what = format!(
                    "{platform}, {kernel:?}, {size}: gradient of the {}",
                    truth.0
                );
                compare(&format!("{what}, matrix"), ours.0, largest.0);
                compare(&format!("{what}, right-hand side"), ours.1, largest.1);
            }
        }
    }
}

#[test]
fn gradients_are_as_close_as_those_of_the_textbook() {
    in_both_precisions!(check_gradients);
}

/// `‖(LᵀK̄L − S)V‖` for the gradient K̄ that is a two-sided solve of S.
fn two_sided_residual<T: Real, H: Real>(
    upper: &Matrix<H>,
    gradient: &Matrix<T>,
    symmetric: &Matrix<H>,
    v: &Matrix<H>,
) -> f64 {
    let middle = gradient.cast::<H>().times(&upper.transposed().times(v));
    let product = upper.times(&middle);
    product.combine(&symmetric.times(v), |a, b| a - b).norm()
}

/// At sizes where the reference would take long, checks the residual of the equation that a
/// gradient solves. For `log|K|` that is `LᵀK⁻¹L = I`, by a two-sided solve. For the log-density of
/// zeros it is the same with `K⁻¹ = HᵀH`, `H = L⁻¹`.
fn check_large_gradients<T: Real, H: Real>(platform: &Platform) {
    // The reference of 2048 rows takes most of a minute. The same code computes the gradients of 1024.
    let sizes = sizes(platform)
        .iter()
        .filter(|&size| (512..=1024).contains(size));
    for &size in sizes {
        let kernel = Kernel::SquaredExponential;
        let matrix = with_diagonal(&kernel.on_grid::<T>(size), jitter(platform));
        let upper = matrix.upper_factor().expect("positive definite");
        // Enough columns to estimate the norm of the whole matrix.
        let v = Matrix::<H>::rounded(size, 8, &normals(5, size, 8));
        let identity = Matrix::<T>::identity(size);
        let higher = identity.cast::<H>();
        let half = upper.solve(&identity); // L⁻¹
        let textbook = [
            upper.solve_both_sides(&identity),
            half.transposed().times(&half),
        ]
        .map(|inverse| two_sided_residual(&upper.0.cast(), &inverse, &higher, &v));

        let platform_with_gradients = platform.autodiff();
        let given = || tensor(&platform_with_gradients, &matrix).require_grad();
        let (by_factor, by_density) = (given(), given());
        let factor = cholesky(by_factor.clone(), exactly_as_it_is()).expect("positive definite");
        let lower = read::<H>(factor.lower().inner()).transposed();
        let gradient = by_factor
            .grad(&factor.log_determinant().backward())
            .unwrap();
        let ours = two_sided_residual(&lower, &read::<T>(gradient), &higher, &v);
        let what = |of: &str| format!("{platform}, {kernel:?}, {size}: residual of the {of}");
        compare(&what("log-determinant's gradient"), ours, textbook[0]);

        let zeros = tensor(
            &platform_with_gradients,
            &Matrix::<T>::rounded(size, 1, &vec![0.0; size]),
        );
        let density = gaussian_log_density(by_density.clone(), zeros, exactly_as_it_is());
        let gradient = by_density
            .grad(&density.expect("positive definite").backward())
            .unwrap();
        let inverse = read::<T>(gradient).map(|value| T::from_f64(-2.0) * value);
        let ours = two_sided_residual(&lower, &inverse, &higher, &v);
        compare(&what("log-density's gradient"), ours, textbook[1]);
    }
}

#[test]
fn gradients_of_large_matrices_leave_the_residuals_of_the_textbook() {
    in_both_precisions!(check_large_gradients);
}
