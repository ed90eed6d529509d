//! Kernels as linear state-space models: the algebra of their matrices.

use burn::tensor::Tensor;
use burn_gp_core::{
    kernels::{AnyKernel, Kernel, KernelModule, Linear, Product, RationalQuadratic, StateSpace},
    ops::Stationary,
};

use super::{golden, golden_kernel, kernels, matern, season};
use crate::support::{Dense, Platform, assert_close, double_precision_platforms, numbers};

/// Matrices of one step.
struct Step {
    transition: Dense,
    noise: Dense,
}

fn dense(form: &StateSpace, packed: &[f64]) -> Dense {
    let blocks = form.blocks();
    let states: usize = blocks.iter().sum();
    let mut matrix = Dense::from_function(states, states, |_, _| 0.0);
    let (mut first, mut entry) = (0, 0);
    for size in blocks {
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

fn tensor(form: &StateSpace, values: &[f64]) -> Tensor<1> {
    let (device, dtype) = form.place();
    Tensor::from_data(values, (&device, dtype))
}

fn steps(form: &StateSpace, values: &[f64]) -> Vec<Step> {
    let tensor = tensor(form, values);
    let transitions = numbers(form.transitions(tensor.clone()));
    let noises = numbers(form.process_noise(tensor));
    let width = transitions.len() / values.len();
    (transitions.chunks(width).zip(noises.chunks(width)))
        .map(|(transition, noise)| Step {
            transition: dense(form, transition),
            noise: dense(form, noise),
        })
        .collect()
}

fn prior(form: &StateSpace, time: f64) -> Dense {
    dense(form, &numbers(form.prior(tensor(form, &[time]))))
}

fn forms(platform: &Platform) -> Vec<(&'static str, AnyKernel, StateSpace)> {
    (kernels(platform).into_iter())
        .map(|(name, kernel)| {
            let form = kernel.state_space().unwrap();
            (name, kernel, form)
        })
        .collect()
}

/// `A(a + b) = A(b)A(a)`, `Q(a + b) = A(b)Q(a)A(b)ᵀ + Q(b)`, `A(0) = I`, `Q(0) = 0`, and the prior moves with both.
#[test]
fn steps_compose() {
    for platform in double_precision_platforms() {
        for (name, _, form) in forms(&platform) {
            for [a, b] in [[0.03, 0.4], [0.2, 0.9], [1.5, 2.2], [0.9, 30.0]] {
                let [first, second, both, none] = &steps(&form, &[a, b, a + b, 0.0])[..] else {
                    panic!("four steps")
                };
                let size = first.transition.rows;
                let product = second.transition.times(&first.transition);
                let moved = second.transition.times(&first.noise);
                let noise = moved
                    .times(&second.transition.transposed())
                    .plus(&second.noise);
                let what = |part: &str| format!("{platform}, {name}, {a} and {b}: {part}");
                // Relative to the largest entry of a unit variance.
                let check = |part: &str, ours: &Dense, expected: &Dense| {
                    let difference = ours.minus(expected).values;
                    let scale = expected
                        .values
                        .iter()
                        .fold(1.0, |most: f64, value| most.max(value.abs()));
                    let worst = difference
                        .iter()
                        .fold(0.0, |most: f64, value| most.max(value.abs()));
                    assert!(worst < 1e-13 * scale * 10.0, "{}: {worst:e}", what(part));
                };
                check("A", &both.transition, &product);
                check("Q", &both.noise, &noise);
                check("A(0)", &none.transition, &Dense::identity(size));
                check(
                    "Q(0)",
                    &none.noise,
                    &Dense::from_function(size, size, |_, _| 0.0),
                );
                let start = prior(&form, 0.7);
                let moved = first
                    .transition
                    .times(&start)
                    .times(&first.transition.transposed());
                check("P", &moved.plus(&first.noise), &prior(&form, 0.7 + a));
            }
        }
    }
}

/// The matrices in plain numbers, by other formulas for Q, are those of tensors.
#[test]
fn plain_numbers_have_the_same_matrices() {
    let lengths = [0.0, 1e-5, 0.03, 0.2, 0.6, 1.5, 30.0, 1e4];
    for platform in double_precision_platforms() {
        for (name, _, form) in forms(&platform) {
            let model = form.numbers();
            assert_eq!(model.blocks(), form.blocks(), "{name}");
            assert_eq!(model.row(), form.row(), "{name}");
            let found = model.matrices(&lengths, 0.7);
            let steps = tensor(&form, &lengths);
            let what = |part: &str| format!("{platform}, {name}: {part}");
            // Entries are of order one, but for the steps of a line, which are exact.
            let check = |part: &str, ours: &[f64], expected: Tensor<2>| {
                let expected = numbers(expected);
                assert_eq!(ours.len(), expected.len(), "{}", what(part));
                for (own, expected) in ours.iter().zip(expected) {
                    assert!(
                        (own - expected).abs() < 1e-12,
                        "{}: {own} {expected}",
                        what(part)
                    );
                }
            };
            check("A", &found.transitions, form.transitions(steps.clone()));
            check("Q", &found.process_noise, form.process_noise(steps));
            check("P", &found.prior, form.prior(tensor(&form, &[0.7])));
            // Q of a small step has the digits of its smallest entries, too.
            if name == "matern52" {
                let small = &found.process_noise[9..18];
                let u: f64 = 1e-5 * 5f64.sqrt() / 0.7;
                // 1.3·(16/3)·∫₀ᵘ s⁴/4 ds to first order in u
                let expected = 1.3 * (16.0 / 3.0) * u.powi(5) / 20.0;
                assert!((small[0] / expected - 1.0).abs() < 1e-4, "{small:?}");
            }
        }
    }
}

/// `hᵀA(τ)P(t)h = k(t, t + τ)`.
#[test]
fn covariances_are_those_of_the_kernel() {
    for platform in double_precision_platforms() {
        for (name, kernel, form) in forms(&platform) {
            let row = Dense::new(1, form.row().len(), form.row());
            for (time, lag) in [(0.0, 0.0), (0.4, 0.1), (1.1, 0.85), (2.0, 7.5)] {
                let step = &steps(&form, &[lag])[0];
                let value = (row.times(&step.transition))
                    .times(&prior(&form, time))
                    .times(&row.transposed())[(0, 0)];
                let [first, second] =
                    [time, time + lag].map(|time| platform.tensor(&[time], [1, 1]));
                let expected = numbers(kernel.covariance_at(first, second));
                // Periodic kernels miss a billionth of their variance.
                let off = (value - expected[0]).abs();
                assert!(off < 3e-9, "{platform}, {name}: {value}, {expected:?}");
                if !["periodic", "quasi-periodic"].contains(&name) {
                    assert!(off < 1e-13, "{platform}, {name}: {value}, {expected:?}");
                }
            }
        }
    }
}

/// Q has no negative eigenvalue beyond rounding, for steps from far below to far above the lengthscale, and small
/// steps keep their digits: `Q(2a) = A(a)Q(a)A(a)ᵀ + Q(a)` in every entry.
#[test]
fn process_noise_is_positive_and_accurate() {
    for platform in double_precision_platforms() {
        for kind in [
            Stationary::Matern12,
            Stationary::Matern32,
            Stationary::Matern52,
        ] {
            let form = matern(&platform, kind, 1.0, 1.0).state_space().unwrap();
            for exponent in -8..=3 {
                let step = 10f64.powi(exponent);
                let [one, two] = &steps(&form, &[step, 2.0 * step])[..] else {
                    panic!("two steps")
                };
                let scale = one
                    .noise
                    .diagonal()
                    .iter()
                    .fold(0.0, |most: f64, value| most.max(*value));
                let shifted = one
                    .noise
                    .plus(&Dense::identity(one.noise.rows).scaled(2e-15 * scale));
                // Principal minors of a matrix of up to three rows; a negative pivot gives NaN.
                let pivots = shifted.cholesky().diagonal();
                assert!(
                    pivots.iter().all(|pivot| *pivot > 0.0),
                    "{kind:?}, {step}: {pivots:?}"
                );
                let moved = one
                    .transition
                    .times(&one.noise)
                    .times(&one.transition.transposed());
                let sum = moved.plus(&one.noise);
                // Both sides round at most a few times where terms do not cancel.
                if step <= 0.1 {
                    for (ours, expected) in two.noise.values.iter().zip(&sum.values) {
                        let off = (ours - expected).abs() / expected.abs();
                        assert!(off < 1e-12, "{kind:?}, {step}: {ours:e}, {expected:e}");
                    }
                }
            }
        }
    }
}

#[test]
fn matern52_has_the_reference_matrices() {
    for platform in double_precision_platforms() {
        let form = golden_kernel(&platform, "matern52").state_space().unwrap();
        let step = &steps(&form, &[0.35])[0];
        let name = platform.to_string();
        assert_close(
            &name,
            &step.transition.values,
            &golden::MATERN52_TRANSITION,
            1e-14,
        );
        assert_close(
            &name,
            &step.noise.values,
            &golden::MATERN52_PROCESS_NOISE,
            1e-14,
        );
    }
}

/// The cosines of a periodic squared exponential have nearly all of its variance, for long and short lengthscales.
#[test]
fn harmonics_have_the_variance() {
    for platform in double_precision_platforms() {
        for lengthscale in [30.0, 2.0, 0.7, 0.25, 0.1, 0.04] {
            let form = season(&platform, lengthscale, 3.0, 1.0)
                .state_space()
                .unwrap();
            let start = prior(&form, 0.0);
            let row = Dense::new(1, form.row().len(), form.row());
            let variance = row.times(&start).times(&row.transposed())[(0, 0)];
            assert!((variance - 1.0).abs() < 2e-9, "{lengthscale}: {variance}");
            assert!(
                form.blocks().len() <= 101,
                "{lengthscale}: {:?}",
                form.blocks()
            );
        }
    }
}

/// Kernels that are no state-space models say so and name one that is.
#[test]
fn other_kernels_are_refused() {
    for platform in double_precision_platforms() {
        let place = platform.options();
        let rbf = matern(&platform, Stationary::SquaredExponential, 1.0, 1.0);
        let message = |kernel: &dyn Kernel| kernel.state_space().unwrap_err().to_string();
        assert!(message(&rbf).starts_with("rbf has no finite state; use matern52"));
        let sum = Product::new(
            rbf.clone(),
            matern(&platform, Stationary::Matern12, 1.0, 1.0),
        );
        assert!(message(&sum).starts_with("rbf has no finite state"));
        let rational = RationalQuadratic::new(&[1.0], 1.0, 1.0, place);
        assert!(message(&rational).starts_with("RationalQuadratic has no finite state"));
        let line = Product::new(Linear::new(&[1.0], place), Linear::new(&[1.0], place));
        assert!(message(&line).starts_with("a line times"));
        let two = burn_gp_core::kernels::StationaryKernel::new(
            Stationary::Matern12,
            &[1.0, 2.0],
            1.0,
            place,
        );
        assert!(message(&two).starts_with("a kernel of 2 inputs"));
    }
}
