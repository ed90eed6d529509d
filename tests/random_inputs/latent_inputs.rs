//! Latent variable models of arbitrary outputs.

use burn_gp_core::{
    inducing::InducingPoints,
    latent_inputs::{BayesianGplvm, LatentInputs},
    likelihoods::GaussianConfig,
    ops::Jitter,
};
use proptest::prelude::*;

use crate::search::{no_panic, search};
use crate::values::{DOCUMENTED, Table, number, options, points, usual, usual_kernel};

#[test]
fn latent_variable_models_of_any_numbers() {
    let tables = (
        points(6),
        points(4),
        proptest::collection::vec(number(), 12),
        prop_oneof![usual(), number()],
    );
    let numbers = (usual(), prop_oneof![Just(1e-6), number()]);
    let inputs = (usual_kernel(), tables, numbers, options());
    search(
        700,
        inputs,
        |(config, (mean, z, outputs, deviation), (noise, jitter), options)| {
            no_panic(DOCUMENTED, || {
                if config.missing_dimension(mean.columns).is_some() || mean.columns != z.columns {
                    return;
                }
                let place = (&options.0, options.1);
                let y = Table {
                    rows: mean.rows,
                    columns: 2,
                    values: outputs[..2 * mean.rows].to_vec(),
                };
                let deviations = vec![deviation; mean.rows * mean.columns];
                let latent = LatentInputs::new(mean.tensor(&options), &deviations);
                let model = BayesianGplvm::new(
                    config.init(mean.columns, place),
                    GaussianConfig { noise }.init(place),
                    InducingPoints::new(z.tensor(&options)),
                    latent,
                    Jitter::relative(jitter),
                );
                let Ok(model) = model else {
                    return;
                };
                let y = y.tensor(&options);
                if let Ok(bound) = model.bound(y.clone()) {
                    match bound.is_autodiff() {
                        true => drop(bound.backward()),
                        false => drop(bound.into_data()),
                    }
                }
                if let Ok(process) = model.condition(y.clone()) {
                    let (x, y) = (z.tensor(&options).inner(), y.inner());
                    let _ = process.marginals(x.clone()).variance.into_data();
                    let marginals = process.expected_marginals(x.clone(), x.clone().square());
                    let _ = marginals.variance.into_data();
                    if z.rows <= mean.rows {
                        let outputs = y.narrow(0, 0, z.rows);
                        let density = process.expected_log_density(x.clone(), x.square(), outputs);
                        let _ = density.into_data();
                    }
                }
            })?;
            Ok(())
        },
    );
}
