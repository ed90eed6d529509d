//! Natural-gradient steps that the device decides without a wait, compared with those that wait.

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{optim::NaturalGradient, process::VariationalGaussian};

use super::{Loss, OUTPUTS, SIZE, gradients};
use crate::support::{Dense, Random, assert_close, numbers, platforms};

/// Without a wait, a step of any size that leads to positive-definite covariances is the same. If
/// the flag is not set, or no size leads there, nothing changes.
#[test]
fn a_step_that_the_device_decides_is_the_same_or_none() {
    for platform in platforms() {
        let platform = platform.autodiff();
        let mut random = Random::new(307);
        let loss = Loss::new(&mut random, SIZE);
        let mean = platform.matrix(&random.matrix(OUTPUTS, SIZE));
        let scale: Vec<Dense> = (0..OUTPUTS).map(|_| random.lower_triangle(SIZE)).collect();
        let deviations: Vec<f64> = (0..OUTPUTS * SIZE)
            .map(|_| random.uniform(0.5, 2.0))
            .collect();
        let deviations = platform.tensor(&deviations, [OUTPUTS, SIZE]);
        let distributions = [
            VariationalGaussian::full(mean.clone(), platform.batch(&scale)),
            VariationalGaussian::diagonal(mean, deviations),
        ];
        for (q, (sign, ok)) in distributions.iter().flat_map(|q| {
            [(1.0, true), (1.0, false), (-1.0, true), (f64::NAN, true)].map(|case| (q, case))
        }) {
            let q = q.clone().train();
            let what = format!("{platform}, sign {sign}, flag {ok}");
            let gradients = || gradients(loss.value(&q, &platform) * sign, &q);
            let natural = NaturalGradient::new(0.5);
            let waited = natural.step(0, q.clone(), &mut gradients(), 1.0);
            let flag = Tensor::<1>::full(
                [1],
                f64::from(u8::from(ok)),
                (&platform.device, platform.dtype),
            );
            let flag = flag.without_autodiff().greater_elem(0.5);
            let unread = natural.step_if(0, q.clone(), &mut gradients(), 1.0, flag);
            assert_eq!(unread.distributions, 1, "{what}");
            let made: bool = unread.made.into_scalar();
            assert_eq!(made, ok && waited.is_ok(), "{what}");
            let expected = match waited {
                // The device halves by larger factors at once.
                Ok(waited) if made && waited.step_size < 0.5 => continue,
                Ok(waited) if made => waited.module,
                _ => q.clone(),
            };
            let tolerance = platform.tolerance(1e-12, 1e-5);
            let (ours, theirs) = (unread.module.mean(), expected.mean());
            assert_close(&what, &numbers(ours), &numbers(theirs), tolerance);
            let (ours, theirs) = (unread.module.scale(), expected.scale());
            assert_close(&what, &numbers(ours), &numbers(theirs), tolerance);
        }
    }
}
