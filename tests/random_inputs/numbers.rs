//! Functions of plain numbers: scores, step sizes, patches and domains.

use burn_gp_core::{
    metrics,
    optim::{NaturalGradient, StepSizes},
    patches::{ImageShape, PatchGrid},
    point_processes::{Domain, IntegrationRule},
};
use proptest::prelude::*;
use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::search::{no_panic, search};
use crate::values::{DOCUMENTED, number, options, size};

#[test]
fn scores_of_any_numbers() {
    let values = || proptest::collection::vec(number(), 0..6);
    let inputs = ([values(), values(), values()], size(4), size(4));
    search(4000, inputs, |([a, b, c], classes, bins)| {
        no_panic(DOCUMENTED, || metrics::root_mean_squared_error(&a, &b))?;
        no_panic(DOCUMENTED, || metrics::mean_absolute_error(&a, &b))?;
        no_panic(DOCUMENTED, || {
            metrics::normal_negative_log_density(&a, &b, &c)
        })?;
        no_panic(DOCUMENTED, || metrics::coverage(&a, &b, &c))?;
        no_panic(DOCUMENTED, || metrics::negative_log_density(&a))?;
        no_panic(DOCUMENTED, || metrics::mixture_log_density(&a))?;
        no_panic(DOCUMENTED, || {
            metrics::average_log_density(&[a.clone(), b.clone(), c.clone()])
        })?;
        let labels: Vec<f64> = a
            .iter()
            .map(|value| value.abs() % 4.0)
            .map(f64::floor)
            .collect();
        for labels in [&a, &labels] {
            no_panic(DOCUMENTED, || metrics::likeliest_classes(&b, classes))?;
            no_panic(DOCUMENTED, || metrics::accuracy(labels, &b, classes))?;
            no_panic(DOCUMENTED, || {
                metrics::confusion_matrix(labels, &b, classes)
            })?;
            no_panic(DOCUMENTED, || {
                metrics::expected_calibration_error(labels, &b, classes, bins)
            })?;
        }
        Ok(())
    });
}

#[test]
fn step_sizes_of_any_numbers() {
    let inputs = (number(), number(), size(5), size(9));
    search(3000, inputs, |(first, last, steps, step)| {
        no_panic(&[], || {
            let sizes = [
                StepSizes::Constant { step_size: first },
                StepSizes::LogLinear { first, steps },
            ];
            let _ = sizes.map(|sizes| sizes.at(step));
            NaturalGradient::new(last)
                .with_warm_up(first, steps)
                .step_size(step)
        })?;
        Ok(())
    });
}

#[test]
fn patches_of_any_sizes() {
    let side = || prop_oneof![4 => 0usize..7, 1 => Just(usize::MAX), 1 => Just(1usize << 33)];
    let inputs = (side(), side(), side(), side(), side(), options());
    search(
        3000,
        inputs,
        |(height, width, channels, patch, stride, options)| {
            no_panic(&[], || {
                let Ok(grid) =
                    PatchGrid::new(ImageShape::new(height, width, channels), patch, stride)
                else {
                    return;
                };
                if height.max(width).max(channels) < 7 {
                    let images = burn::tensor::Tensor::ones(
                        [2, grid.image().len()],
                        (&options.0, options.1),
                    );
                    let _ = grid.extract(images).into_data();
                    let _ = grid.locations((&options.0, options.1)).into_data();
                }
            })?;
            Ok(())
        },
    );
}

#[test]
fn domains_of_any_numbers() {
    let ends = || proptest::collection::vec(number(), 0..3);
    search(
        1500,
        (ends(), ends(), size(4), options()),
        |(lower, upper, count, options)| {
            no_panic(&[], || {
                let Ok(domain) = Domain::new(lower, upper) else {
                    return;
                };
                let _ = domain.volume();
                let _ = IntegrationRule::quadrature(&domain, count, (&options.0, options.1))
                    .points()
                    .into_data();
                let mut random = ChaCha8Rng::seed_from_u64(0);
                let _ = IntegrationRule::monte_carlo(
                    &domain,
                    count,
                    &mut random,
                    (&options.0, options.1),
                );
            })?;
            Ok(())
        },
    );
}
