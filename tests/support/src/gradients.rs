//! Gradients of tensors, compared with central differences and across platforms.

use burn::tensor::Tensor;

use super::{Platform, Random, assert_close, largest, numbers, platforms, reference_platform};

/// A tensor with respect to which a loss is differentiated.
#[derive(Clone, Debug)]
pub struct Input {
    pub values: Vec<f64>,
}

impl From<Vec<f64>> for Input {
    fn from(values: Vec<f64>) -> Self {
        Self { values }
    }
}

impl From<&super::Dense> for Input {
    fn from(matrix: &super::Dense) -> Self {
        matrix.values.clone().into()
    }
}

/// The number of single entries of an input to check, in addition to directions through all inputs.
const ENTRIES: usize = 10;

/// The number of directions through all inputs at once.
pub const DIRECTIONS: usize = 4;

/// The step of the four-point central difference. Its truncation error is h⁴ times a fifth
/// derivative, and its rounding error is ε/h of the function value.
const STEP: f64 = 5e-4;

/// The relative error allowed in double precision.
const DOUBLE: f64 = 1e-6;

/// How far the gradients of two platforms in double precision may differ, relative to the largest entry and
/// as a share of the tolerance of central differences: the minimum that [`assert_slopes`] allows any entry.
pub const BETWEEN_PLATFORMS: f64 = 1e-3;

/// `f′(0)` from `f(±h)` and `f(±2h)`.
pub fn central_difference(function: impl Fn(f64) -> f64) -> f64 {
    let at = |steps: f64| function(steps * STEP);
    (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * STEP)
}

/// A slope to compare: its name, the slope by autodiff and the difference quotient.
pub struct Slope {
    pub what: String,
    pub analytic: f64,
    pub difference: f64,
    /// The expected scale of the slope: the largest entry or the norm of a gradient.
    pub scale: f64,
}

/// Asserts that each slope agrees to `tolerance` relative to itself plus a thousandth of the
/// largest.
#[track_caller]
pub fn assert_slopes(slopes: &[Slope], tolerance: f64) {
    for slope in slopes {
        let error = (slope.analytic - slope.difference).abs();
        let bound = tolerance * (slope.difference.abs() + 1e-3 * slope.scale);
        // `!(<=)` instead of `>`, because NaN must fail.
        #[allow(clippy::neg_cmp_op_on_partial_ord)]
        if !(error <= bound.max(1e-11)) {
            panic!(
                "{}: gradient {}, central difference {}: error {error:.3e}, allowed {bound:.3e}",
                slope.what, slope.analytic, slope.difference
            );
        }
    }
}

/// The symmetric part of the matrix of a flat input.
pub fn symmetric(flat: &Tensor<1>, size: usize) -> Tensor<2> {
    let matrix = flat.clone().reshape([size, size]);
    (matrix.clone() + matrix.transpose()) * 0.5
}

/// A loss of flat inputs on a platform.
pub type Loss<'a> = &'a dyn Fn(&Platform, &[Tensor<1>]) -> Tensor<1>;

/// Checks the gradient of `loss` with respect to every input. On the reference platform it is compared with
/// central differences to 1e-6. On other platforms it is compared with the reference platform's gradient: to
/// 1e-9 of the largest entry ([`BETWEEN_PLATFORMS`]) in double precision, to `single` in single precision.
/// Inputs are flat, and the loss reshapes them.
#[track_caller]
pub fn check_gradients(what: &str, inputs: &[Input], single: f64, loss: Loss<'_>) {
    check(what, inputs, (DOUBLE, single), DIRECTIONS, loss);
}

/// Same as [`check_gradients`], with `tolerances` in double and in single precision, for values and
/// gradients that are separate integrals.
#[track_caller]
pub fn check_gradients_to(what: &str, inputs: &[Input], tolerances: (f64, f64), loss: Loss<'_>) {
    check(what, inputs, tolerances, DIRECTIONS, loss);
}

/// Same as [`check_gradients`], but only for single entries. If the loss has a kink `|t|` in one
/// input, a step in the other inputs adds a term `t·|t|`, for which central differences are wrong.
#[track_caller]
pub fn check_gradients_by_entry(what: &str, inputs: &[Input], single: f64, loss: Loss<'_>) {
    check(what, inputs, (DOUBLE, single), 0, loss);
}

#[track_caller]
fn check(
    what: &str,
    inputs: &[Input],
    (double, single): (f64, f64),
    directions: usize,
    loss: Loss<'_>,
) {
    let gradients = |platform: &Platform| autodiff_gradients(&platform.autodiff(), inputs, loss);
    let reference = reference_platform().map(|platform| (gradients(&platform), platform));
    for platform in platforms() {
        match &reference {
            Some((expected, reference)) if platform == *reference => {
                let what = format!("{what} on {platform}");
                let slopes = slopes(&what, &platform, inputs, expected, directions, loss);
                assert_slopes(&slopes, double);
            }
            Some((expected, _)) => {
                let ours = gradients(&platform);
                for (index, (gradient, expected)) in ours.iter().zip(expected).enumerate() {
                    let what = format!("{what} on {platform}, gradient of input {index}");
                    assert_close(
                        &what,
                        gradient,
                        expected,
                        platform.tolerance(BETWEEN_PLATFORMS * double, single),
                    );
                }
            }
            None => drop(gradients(&platform)),
        }
    }
}

/// The gradient of every input by autodiff.
pub fn autodiff_gradients(platform: &Platform, inputs: &[Input], loss: Loss<'_>) -> Vec<Vec<f64>> {
    let tensors: Vec<Tensor<1>> = inputs
        .iter()
        .map(|input| {
            platform
                .tensor(&input.values, [input.values.len()])
                .require_grad()
        })
        .collect();
    let gradients = loss(platform, &tensors).backward();
    tensors
        .iter()
        .enumerate()
        .map(|(index, tensor)| match tensor.grad(&gradients) {
            Some(gradient) => numbers(gradient),
            None => panic!("input {index} has no gradient"),
        })
        .collect()
}

fn slopes(
    what: &str,
    platform: &Platform,
    inputs: &[Input],
    gradients: &[Vec<f64>],
    directions: usize,
    loss: Loss<'_>,
) -> Vec<Slope> {
    let evaluate = |values: &[Vec<f64>]| {
        let tensors: Vec<Tensor<1>> = values
            .iter()
            .map(|values| platform.tensor(values, [values.len()]))
            .collect();
        numbers(loss(platform, &tensors))[0]
    };
    let base: Vec<Vec<f64>> = inputs.iter().map(|input| input.values.clone()).collect();
    slopes_of(what, &base, gradients, directions, evaluate)
}

/// Slopes along some single entries of every input, and along directions through all of them.
pub fn slopes_of(
    what: &str,
    base: &[Vec<f64>],
    gradients: &[Vec<f64>],
    directions: usize,
    evaluate: impl Fn(&[Vec<f64>]) -> f64,
) -> Vec<Slope> {
    let mut random = Random::new(4711);
    let mut slopes = Vec::new();
    for (index, gradient) in gradients.iter().enumerate() {
        let entries: Vec<usize> = if gradient.len() <= ENTRIES {
            (0..gradient.len()).collect()
        } else {
            (0..ENTRIES).map(|_| random.below(gradient.len())).collect()
        };
        for entry in entries {
            slopes.push(Slope {
                what: format!("{what}, entry {entry} of input {index}"),
                analytic: gradient[entry],
                difference: central_difference(|step| {
                    let mut values = base.to_vec();
                    values[index][entry] += step;
                    evaluate(&values)
                }),
                scale: largest(gradient),
            });
        }
    }
    let gradient: Vec<f64> = gradients.concat();
    for number in 0..directions {
        let direction = unit_vector(&mut random, gradient.len());
        slopes.push(Slope {
            what: format!("{what}, direction {number}"),
            analytic: gradient.iter().zip(&direction).map(|(g, d)| g * d).sum(),
            difference: central_difference(|step| evaluate(&moved(base, &direction, step))),
            scale: gradient.iter().map(|g| g * g).sum::<f64>().sqrt(),
        });
    }
    slopes
}

/// A random unit vector. Steps along it stay small in many dimensions.
fn unit_vector(random: &mut Random, size: usize) -> Vec<f64> {
    let normals = random.normals(size);
    let norm = normals.iter().map(|x| x * x).sum::<f64>().sqrt();
    normals.iter().map(|x| x / norm).collect()
}

/// `base + step·direction`, where the direction covers all inputs one after the other.
fn moved(base: &[Vec<f64>], direction: &[f64], step: f64) -> Vec<Vec<f64>> {
    let mut direction = direction.iter();
    let mut move_one = |x: &f64| x + step * direction.next().map_or(0.0, |d| *d);
    base.iter()
        .map(|values| values.iter().map(&mut move_one).collect())
        .collect()
}
