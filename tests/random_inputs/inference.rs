//! Full-batch regression on arbitrary points and targets.

use burn::tensor::Tensor;
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{
        BlockActions, Collapsed, CollapsedOrthogonal, ComputationAware, ConditionError,
        ConjugateGradients, ConjugateGradientsSettings, DenseActions, Exact, IterationRule,
        Iterations,
    },
    kernels::AnyKernel,
    likelihoods::{Gaussian, GaussianConfig},
    means::ZeroMean,
    ops::{Blocks, Jitter, NotPositiveDefinite},
    process::Process,
};
use proptest::prelude::*;

use crate::search::{no_panic, search};
use crate::values::{DOCUMENTED, Table, number, options, points, size, usual, usual_kernel};

/// Computes the gradient of an objective, and predictions of a process.
fn ask<P: Process>(
    objective: Result<Tensor<1>, NotPositiveDefinite>,
    process: Result<P, ConditionError>,
    new: &Tensor<2>,
) {
    if let Ok(objective) = objective {
        if objective.is_autodiff() {
            let _ = objective.backward();
        } else {
            let _ = objective.into_data();
        }
    }
    if let Ok(process) = process {
        let new = new.clone().inner();
        let _ = process.marginals(new.clone()).variance.into_data();
        let _ = process.joint(new.clone()).covariance.into_data();
        let _ = process.sample(new, 2, 0);
    }
}

/// A model with settings from `numbers`.
fn every_model(
    model: usize,
    (kernel, likelihood): (AnyKernel, Gaussian),
    [x, y, z]: [Tensor<2>; 3],
    (count, tolerance, jitter): (usize, f64, f64),
) {
    let mean = ZeroMean::new(1);
    let jitter = Jitter::relative(jitter);
    let (new, inducing) = (z.clone(), InducingPoints::new(z));
    macro_rules! ask {
        ($model:expr) => {{
            let model = $model;
            let objective = model.full_objective(x.clone(), y.clone());
            ask(objective, model.condition(x.clone(), y.clone()), &new)
        }};
    }
    match model {
        0 => ask!(Exact::new(kernel, mean, likelihood)),
        1 => ask!(Collapsed::new(kernel, mean, likelihood, inducing, jitter)),
        2 => {
            let other = InducingPoints::new(x.clone());
            let model = CollapsedOrthogonal::new(kernel, mean, likelihood, inducing, other, jitter);
            ask!(model);
        }
        3 => {
            let settings = ConjugateGradientsSettings {
                iterations: count,
                tolerance,
                cached_variances: (count % 2 == 0).then_some(count),
                mixed_precision: false,
                rank: Some(count),
                probes: count,
                seed: 1,
            };
            ask!(ConjugateGradients::new(kernel, mean, likelihood, settings));
        }
        4 => {
            let rules = [
                IterationRule::Residuals,
                IterationRule::PreconditionedResiduals { rank: count },
                IterationRule::UnitVectors,
                IterationRule::RandomVectors,
                IterationRule::Eigenvectors,
            ];
            let policy = Iterations::new(rules[count % 5], count, tolerance);
            ask!(ComputationAware::new(kernel, mean, likelihood, policy));
        }
        5 => {
            let blocks = Blocks::new(x.dims()[0], count);
            let values = y.clone().reshape([-1]);
            let policy = BlockActions::new(blocks, values);
            ask!(ComputationAware::new(kernel, mean, likelihood, policy));
        }
        _ => {
            let policy = DenseActions::new(y.clone());
            ask!(ComputationAware::new(kernel, mean, likelihood, policy));
        }
    }
}

#[test]
fn regression_on_any_numbers() {
    let tables = (points(7), points(4), proptest::collection::vec(number(), 7));
    let numbers = (
        size(8),
        prop_oneof![usual(), number()],
        prop_oneof![Just(1e-6), number()],
    );
    let inputs = (
        0usize..7,
        usual_kernel(),
        prop_oneof![usual(), Just(1e-4)],
        tables,
        numbers,
        options(),
    );
    search(
        1500,
        inputs,
        |(model, config, noise, (x, z, targets), numbers, options)| {
            let documented = [DOCUMENTED, &["blocks of"]].concat();
            no_panic(&documented, || {
                if config.missing_dimension(x.columns).is_some() || x.columns != z.columns {
                    return;
                }
                let y = Table {
                    rows: x.rows,
                    columns: 1,
                    values: targets[..x.rows].to_vec(),
                };
                let kernel = config.init(x.columns, (&options.0, options.1));
                let likelihood = GaussianConfig { noise }.init((&options.0, options.1));
                let tensors = [x, y, z].map(|table| table.tensor(&options));
                every_model(model, (kernel, likelihood), tensors, numbers);
            })?;
            Ok(())
        },
    );
}
