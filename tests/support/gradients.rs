//! Gradients of tensors against central differences, and across platforms.

use burn::tensor::Tensor;

use super::{Platform, Random, assert_close, largest, numbers, platforms};

/// A tensor that a loss is differentiated by.
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

/// How many single entries of an input are checked, besides directions through all inputs.
const ENTRIES: usize = 10;

/// Directions through all inputs at once.
pub const DIRECTIONS: usize = 4;

/// The distance of the four-point central difference: its error is h⁴ of a fifth derivative, its
/// rounding ε/h of the function.
const STEP: f64 = 5e-4;

/// The relative error allowed in double precision.
const DOUBLE: f64 = 1e-6;

/// `f′(0)` from `f(±h)` and `f(±2h)`.
pub fn central_difference(function: impl Fn(f64) -> f64) -> f64 {
    let at = |steps: f64| function(steps * STEP);
    (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * STEP)
}

/// A slope to be compared: what it is the slope of, autodiff's, and the difference quotient.
pub struct Slope {
    pub what: String,
    pub analytic: f64,
    pub difference: f64,
    /// The largest slope to be expected: a gradient's largest entry, or its length.
    pub scale: f64,
}

/// Each slope agrees to `tolerance` relative to itself plus a thousandth of the largest.
#[track_caller]
pub fn assert_slopes(slopes: &[Slope], tolerance: f64) {
    for slope in slopes {
        let error = (slope.analytic - slope.difference).abs();
        let bound = tolerance * (slope.difference.abs() + 1e-3 * slope.scale);
        // `!(<=)` and not `>`: NaN must fail.
        #[allow(clippy::neg_cmp_op_on_partial_ord)]
        if !(error <= bound.max(1e-11)) {
            panic!(
                "{}: gradient {}, central difference {}: error {error:.3e}, allowed {bound:.3e}",
                slope.what, slope.analytic, slope.difference
            );
        }
    }
}

/// The symmetric matrix whose entries are the means of those of a flat input and its transpose.
pub fn symmetric(flat: &Tensor<1>, size: usize) -> Tensor<2> {
    let matrix = flat.clone().reshape([size, size]);
    (matrix.clone() + matrix.transpose()) * 0.5
}

/// A loss of flat inputs, computed on a platform.
pub type Loss<'a> = &'a dyn Fn(&Platform, &[Tensor<1>]) -> Tensor<1>;

/// Checks the gradient of `loss` with respect to every input: in double precision to 1e-6 against
/// central differences, in single precision to `single` against double precision, where that is
/// compiled in. Inputs arrive flat, to be reshaped by the loss.
#[track_caller]
pub fn check_gradients(what: &str, inputs: &[Input], single: f64, loss: Loss<'_>) {
    check(what, inputs, (DOUBLE, single), DIRECTIONS, loss);
}

/// As [`check_gradients`], to `tolerances` in double and in single precision: where values and slopes are
/// integrals of their own.
#[track_caller]
pub fn check_gradients_to(what: &str, inputs: &[Input], tolerances: (f64, f64), loss: Loss<'_>) {
    check(what, inputs, tolerances, DIRECTIONS, loss);
}

/// As [`check_gradients`], by single entries alone: where the loss has a kink `|t|` in one input,
/// moving others at the same time leaves a term `t·|t|`, which central differences get wrong.
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
    let mut reference: Option<Vec<Vec<f64>>> = None;
    for platform in platforms() {
        let gradients = autodiff_gradients(&platform.autodiff(), inputs, loss);
        if platform.is_double() {
            let what = format!("{what} on {platform}");
            assert_slopes(
                &slopes(&what, &platform, inputs, &gradients, directions, loss),
                double,
            );
            reference.get_or_insert(gradients);
        } else if let Some(reference) = &reference {
            for (index, (gradient, expected)) in gradients.iter().zip(reference).enumerate() {
                let what = format!("{what} on {platform}, gradient of input {index}");
                assert_close(&what, gradient, expected, single);
            }
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

/// Slopes along some single entries of every input and along directions through all of them.
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

/// A random direction of length one, so that a step stays small in many dimensions.
fn unit_vector(random: &mut Random, size: usize) -> Vec<f64> {
    let normals = random.normals(size);
    let norm = normals.iter().map(|x| x * x).sum::<f64>().sqrt();
    normals.iter().map(|x| x / norm).collect()
}

/// `base + step·direction`, the direction running through all inputs one after the other.
fn moved(base: &[Vec<f64>], direction: &[f64], step: f64) -> Vec<Vec<f64>> {
    let mut direction = direction.iter();
    let mut move_one = |x: &f64| x + step * direction.next().map_or(0.0, |d| *d);
    base.iter()
        .map(|values| values.iter().map(&mut move_one).collect())
        .collect()
}
