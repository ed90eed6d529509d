//! Likelihoods, their quadratures, their checks of targets and their predictions.

use burn::tensor::{Tensor, TensorData};
use burn_gp_core::{
    likelihoods::{
        AsymmetricLaplaceConfig, BetaBinomialConfig, BetaConfig, CensoredConfig, DirichletConfig,
        GammaConfig, GaussianConfig, HeteroskedasticConfig, HurdlePoissonConfig,
        IntervalCensoredConfig, LikelihoodConfig, LogNormalConfig, NegativeBinomialConfig,
        OrdinalConfig, Quadrature, RobustMaxConfig, SoftmaxConfig, StudentTConfig, TweedieConfig,
        WeibullConfig, ZeroInflatedPoissonConfig,
    },
    parameter::{Prior, hyperparameters},
    process::Marginals,
};
use proptest::prelude::*;
use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::search::{no_panic, search};
use crate::values::{DOCUMENTED, number, options, size, usual};

fn config(value: fn() -> BoxedStrategy<f64>) -> impl Strategy<Value = LikelihoodConfig> {
    prop_oneof![
        value().prop_map(|noise| GaussianConfig { noise }.into()),
        Just(LikelihoodConfig::fixed_noise()),
        value().prop_map(|noise| HeteroskedasticConfig { noise }.into()),
        (value(), value(), any::<bool>()).prop_map(|(scale, degrees_of_freedom, train)| {
            StudentTConfig {
                scale,
                degrees_of_freedom,
                train_degrees_of_freedom: train,
            }
            .into()
        }),
        Just(LikelihoodConfig::bernoulli()),
        Just(LikelihoodConfig::bernoulli_logit()),
        (0usize..5, 0usize..40).prop_map(|(classes, nodes)| {
            LikelihoodConfig::from(SoftmaxConfig { classes, nodes })
        }),
        (0usize..5, number()).prop_map(|(classes, concentration)| {
            LikelihoodConfig::from(DirichletConfig {
                classes,
                concentration,
            })
        }),
        (0usize..5, number(), any::<bool>(), 0usize..40).prop_map(
            |(classes, epsilon, train_epsilon, nodes)| {
                LikelihoodConfig::from(RobustMaxConfig {
                    classes,
                    epsilon,
                    train_epsilon,
                    nodes,
                })
            }
        ),
        (0usize..5).prop_map(|classes| OrdinalConfig { classes }.into()),
        Just(LikelihoodConfig::poisson()),
        value().prop_map(|dispersion| NegativeBinomialConfig { dispersion }.into()),
        Just(LikelihoodConfig::exponential()),
        value().prop_map(|shape| GammaConfig { shape }.into()),
        value().prop_map(|precision| BetaConfig { precision }.into()),
        Just(LikelihoodConfig::binomial()),
        number().prop_map(|dispersion| BetaBinomialConfig { dispersion }.into()),
        (value(), number(), any::<bool>()).prop_map(|(scale, quantile, train_quantile)| {
            AsymmetricLaplaceConfig {
                scale,
                quantile,
                train_quantile,
            }
            .into()
        }),
        number().prop_map(|zeros| ZeroInflatedPoissonConfig { zeros }.into()),
        number().prop_map(|zeros| HurdlePoissonConfig { zeros }.into()),
        (value(), number(), number(), 0usize..4, value(), number()).prop_map(
            |(noise, lower, upper, limits, scale, shift)| {
                let has_units = limits > 1;
                CensoredConfig {
                    noise,
                    lower: (limits != 1).then_some(lower),
                    upper: (limits != 2).then_some(upper),
                    shifts: has_units.then_some(shift).into_iter().collect(),
                    scales: has_units.then_some(scale).into_iter().collect(),
                }
                .into()
            }
        ),
        (value(), value(), any::<bool>()).prop_map(|(noise, scale, has_units)| {
            let scales = has_units.then_some(scale).into_iter().collect();
            IntervalCensoredConfig { noise, scales }.into()
        }),
        (value(), number())
            .prop_map(|(dispersion, power)| TweedieConfig { dispersion, power }.into()),
        value().prop_map(|shape| WeibullConfig { shape }.into()),
        value().prop_map(|noise| LogNormalConfig { noise }.into()),
    ]
}

/// Calls all methods of a likelihood with arbitrary functions.
#[test]
fn likelihoods_of_any_numbers() {
    let value = || prop_oneof![usual(), number()].boxed();
    let numbers = || proptest::collection::vec(number(), 24);
    let inputs = (
        config(value),
        1usize..3,
        1usize..3,
        [numbers(), numbers(), numbers()],
        options(),
    );
    search(
        1500,
        inputs,
        |(config, rows, outputs, [means, variances, targets], options)| {
            no_panic(DOCUMENTED, || {
                let likelihood = config.init((&options.0, options.1));
                let description = likelihood.description();
                let (functions, columns) =
                    (description.latents * outputs, description.columns * outputs);
                let tensor = |values: &[f64], width: usize, positive: bool| {
                    let own = (0..rows * width).map(|index| values[index % values.len()]);
                    let own = own
                        .map(|value| if positive { value.abs() } else { value })
                        .collect();
                    Tensor::<2>::from_data(
                        TensorData::new(own, [rows, width]),
                        (&options.0, options.1),
                    )
                };
                let given: Vec<f64> = (0..rows * columns)
                    .map(|index| targets[index % targets.len()])
                    .collect();
                let possible = description.check_targets(&given, columns).is_ok();
                let marginals = Marginals {
                    mean: tensor(&means, functions, false),
                    variance: tensor(&variances, functions, true),
                };
                let _ = likelihood.predict(marginals.clone()).mean.into_data();
                let _ = likelihood.class_probabilities(marginals.clone());
                let function = marginals.mean.clone().unsqueeze::<3>();
                let _ = likelihood
                    .conditional_moments(function.clone())
                    .1
                    .into_data();
                let _ = likelihood
                    .sample(function.clone(), &mut ChaCha8Rng::seed_from_u64(1))
                    .into_data();
                let _ = hyperparameters(&likelihood);
                if possible {
                    let targets = tensor(&given, columns, false);
                    let _ = likelihood
                        .log_density(targets.clone(), function)
                        .into_data();
                    let _ = likelihood
                        .expected_log_density(targets.clone(), marginals.clone())
                        .into_data();
                    let _ = likelihood
                        .log_predictive_density(targets, marginals)
                        .into_data();
                }
            })?;
            Ok(())
        },
    );
}

/// Quadrature rules with any number of nodes that fits into memory.
#[test]
fn quadratures_of_any_sizes() {
    let inputs = (size(8), size(4), any::<bool>(), options());
    search(500, inputs, |(count, latents, random, options)| {
        no_panic(DOCUMENTED, || {
            let quadrature = match random {
                true => Quadrature::quasi_monte_carlo(count * 3, latents),
                false => Quadrature::gauss_hermite(count, latents),
            };
            let zeros = Tensor::<2>::zeros([2, latents], (&options.0, options.1));
            let marginals = Marginals {
                mean: zeros.clone(),
                variance: zeros + 1.0,
            };
            let _ = quadrature
                .expectation(marginals, |function| function)
                .into_data();
        })?;
        Ok(())
    });
}

#[test]
fn priors_of_any_numbers() {
    let prior = (0..5, number(), number()).prop_map(|(kind, first, second)| match kind {
        0 => Prior::Gamma {
            shape: first,
            rate: second,
        },
        1 => Prior::LogNormal {
            mean: first,
            deviation: second,
        },
        2 => Prior::HalfNormal { scale: first },
        3 => Prior::SplitLogNormal {
            mode: first,
            below: second,
            above: first,
        },
        _ => Prior::Uniform {
            lower: first,
            upper: second,
        },
    });
    let values = proptest::collection::vec(number(), 1..4);
    search(
        1500,
        (prior, values, options()),
        |(prior, values, options)| {
            no_panic(DOCUMENTED, || {
                let values = Tensor::<1>::from_data(values.as_slice(), (&options.0, options.1));
                let _ = prior.log_density(values).into_data();
                let _ = (prior.support(), prior.to_string());
                let text = serde_json::to_string(&prior).unwrap();
                let _ = serde_json::from_str::<Prior>(&text);
            })?;
            Ok(())
        },
    );
}
