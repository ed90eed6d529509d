//! Variational posteriors of every form, and layers with them.

use burn::tensor::Tensor;
use burn_gp_core::{
    inducing::InducingPoints,
    kernels::Kernels,
    layers::{GpLayer, LayerNoise, Stack},
    means::{AnyMean, MeanConfig},
    ops::Jitter,
    optim::{NaturalInversion, StepSizes},
    process::{AnyProcess, CovarianceShape, Process},
    sampling::{PathOptions, SamplePaths},
    variational::{
        AuxiliaryUpdate, InverseFreeConfig, LSvgpConfig, MeanForm, OrthogonallyDecoupledConfig,
        Parameterization, PosteriorConfig, PseudoObservationsConfig, SolveGpConfig, TraceProbes,
        UnwhitenedConfig, WhitenedConfig,
    },
};
use proptest::prelude::*;

use crate::search::{no_panic, search};
use crate::values::{DOCUMENTED, number, options, points, size, usual, usual_kernel};

/// Boxed, because without optimization the search keeps many copies of a strategy on the stack.
fn posterior() -> BoxedStrategy<PosteriorConfig> {
    let covariance = || prop_oneof![Just(CovarianceShape::Full), Just(CovarianceShape::Diagonal)];
    let parameterization = || {
        prop_oneof![
            Just(Parameterization::Whitened),
            Just(Parameterization::Unwhitened)
        ]
    };
    let value = || prop_oneof![4 => usual(), 1 => number()];
    let observations = || {
        (value(), proptest::option::of(value()), any::<bool>()).prop_map(
            |(variance, floor, plain)| PseudoObservationsConfig {
                variance,
                floor,
                mean: if plain {
                    MeanForm::Plain
                } else {
                    MeanForm::Preconditioned
                },
            },
        )
    };
    let inversion = (value(), value(), size(5), proptest::option::of(size(3))).prop_map(
        |(first, tolerance, max_steps, patience)| NaturalInversion {
            step_sizes: StepSizes::LogLinear {
                first,
                steps: max_steps,
            },
            tolerance,
            max_steps,
            patience,
        },
    );
    let auxiliary = prop_oneof![
        inversion.prop_map(AuxiliaryUpdate::NaturalGradient),
        value().prop_map(|start| AuxiliaryUpdate::Optimizer { start }),
    ];
    let probes = proptest::option::of(
        (size(3), any::<u64>()).prop_map(|(count, seed)| TraceProbes { count, seed }),
    );
    prop_oneof![
        covariance().prop_map(|covariance| PosteriorConfig::from(WhitenedConfig { covariance })),
        covariance().prop_map(|covariance| PosteriorConfig::from(UnwhitenedConfig { covariance })),
        (covariance(), parameterization()).prop_map(|(covariance, parameterization)| {
            PosteriorConfig::from(SolveGpConfig {
                covariance,
                parameterization,
            })
        }),
        (
            covariance(),
            parameterization(),
            proptest::option::of(size(4)),
            any::<u64>()
        )
            .prop_map(|(covariance, parameterization, columns, seed)| {
                PosteriorConfig::from(OrthogonallyDecoupledConfig {
                    covariance,
                    parameterization,
                    columns,
                    seed,
                })
            }),
        observations().prop_map(|observations| PosteriorConfig::from(LSvgpConfig { observations })),
        (observations(), auxiliary, probes).prop_map(|(observations, auxiliary, probes)| {
            PosteriorConfig::from(InverseFreeConfig {
                observations,
                auxiliary,
                probes,
            })
        }),
    ]
    .boxed()
}

#[test]
fn posteriors_of_any_numbers() {
    let jitter = prop_oneof![3 => Just(1e-6), 1 => number()];
    let tables = (points(5), points(4), points(4));
    let inputs = (
        posterior(),
        usual_kernel(),
        tables,
        1usize..3,
        jitter,
        options(),
    );
    search(
        1200,
        inputs,
        |(config, kernel, (x, z, orthogonal), outputs, jitter, options)| {
            let documented = [
                DOCUMENTED,
                &["PosteriorConfig:", "PseudoObservationsConfig:"],
            ]
            .concat();
            no_panic(&documented, || {
                let dimensions = x.columns;
                if kernel.missing_dimension(dimensions).is_some() || z.columns != dimensions {
                    return;
                }
                let kernel = Kernels::from(kernel.init(dimensions, (&options.0, options.1)));
                let mut sets = vec![InducingPoints::new(z.tensor(&options))];
                if orthogonal.columns == dimensions {
                    sets.push(InducingPoints::new(orthogonal.tensor(&options)));
                }
                if !config.has_orthogonal_set() {
                    sets.truncate(1);
                }
                let jitter = Jitter::relative(jitter);
                let Ok(mut posterior) =
                    config.init(sets, &kernel, outputs, jitter, (&options.0, options.1))
                else {
                    return;
                };
                let x = x.tensor(&options);
                posterior.synchronize(&kernel);
                posterior.after_step(&kernel);
                if let Ok(evaluation) = posterior.evaluate(&kernel, x.clone()) {
                    let sum = evaluation.kl + evaluation.marginals.variance.sum();
                    if sum.is_autodiff() {
                        let _ = sum.backward();
                    } else {
                        let _ = sum.into_data();
                    }
                }
                if let Ok(process) = posterior.condition(&kernel) {
                    let x = x.inner();
                    let _ = process.marginals(x.clone()).mean.into_data();
                    let _ = process
                        .joint_across_outputs(x.clone())
                        .covariance
                        .into_data();
                    let _ = process.sample(x.clone(), 2, 0);
                    if let Ok(paths) = process.paths(PathOptions::new(2).with_frequencies(3)) {
                        let _ = paths.evaluate(x).into_data();
                    }
                }
            })?;
            Ok(())
        },
    );
}

/// Two layers with draws between them.
#[test]
fn stacks_of_any_sizes() {
    let noise =
        (size(3), size(3), any::<u64>()).prop_map(|(training, prediction, seed)| LayerNoise {
            training,
            prediction,
            seed,
        });
    let tables = (points(5), points(4));
    let inputs = (
        [posterior(), posterior()],
        usual_kernel(),
        tables,
        noise,
        options(),
    );
    search(400, inputs, |(configs, kernel, (x, z), noise, options)| {
        let documented = [
            DOCUMENTED,
            &["PosteriorConfig:", "PseudoObservationsConfig:", "Stack:"],
        ]
        .concat();
        no_panic(&documented, || {
            let dimensions = x.columns;
            if kernel.missing_dimension(dimensions).is_some() || z.columns != dimensions {
                return;
            }
            let layer = |config: &PosteriorConfig| {
                let kernel = Kernels::from(kernel.init(dimensions, (&options.0, options.1)));
                let points = || InducingPoints::new(z.tensor(&options));
                let sets = if config.has_orthogonal_set() {
                    vec![points(), points()]
                } else {
                    vec![points()]
                };
                let posterior = config
                    .init(
                        sets,
                        &kernel,
                        dimensions,
                        Jitter::relative(1e-4),
                        (&options.0, options.1),
                    )
                    .ok()?;
                let mean: AnyMean =
                    MeanConfig::identity().init(dimensions, dimensions, (&options.0, options.1));
                Some(GpLayer::new(kernel, mean, posterior))
            };
            let [Some(hidden), Some(output)] = configs.each_ref().map(layer) else {
                return;
            };
            let mut stack = Stack::new(vec![hidden], output, noise);
            stack.synchronize();
            let x: Tensor<2> = x.tensor(&options);
            if let Ok(propagation) = stack.evaluate(x.clone()) {
                let _ = propagation.kl.into_data();
            }
            let _ = stack
                .condition()
                .map(|process| process.layer_means(x.inner()).len());
        })?;
        Ok(())
    });
}
