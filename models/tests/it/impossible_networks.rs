//! Networks that cannot be made are errors, and no panic is printed on the way.

use std::{cell::Cell, panic, sync::Once};

use burn_gp_core::{
    features::{NetworkConfig, PerceptronConfig, ResidualNetworkConfig, Standardization},
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
};
use burn_gp_models::{
    BasisConfig, DbkConfig, DeepKernelConfig, ExactConfig, Fit, FitModel, ModelConfig, SvdbkConfig,
};

thread_local! {
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

/// The panics of this thread while `work` runs.
fn panics_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    static COUNTED: Once = Once::new();
    COUNTED.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            PANICS.set(PANICS.get() + 1);
            report(panic);
        }));
    });
    let before = PANICS.get();
    let result = work();
    (result, PANICS.get() - before)
}

fn residual(change: impl FnOnce(&mut ResidualNetworkConfig)) -> NetworkConfig {
    let mut config = ResidualNetworkConfig {
        width: 4,
        blocks: 1,
        ..ResidualNetworkConfig::default()
    };
    change(&mut config);
    config.into()
}

/// Networks on two inputs with three outputs, and a part of the error of each.
fn impossible() -> Vec<(NetworkConfig, usize, &'static str)> {
    let perceptron = PerceptronConfig::default().with_hidden(vec![4, 0]);
    let other_size = Standardization {
        means: vec![0.0; 3],
        deviations: vec![1.0; 2],
    };
    vec![
        (
            residual(|it| it.from_identity = true),
            3,
            "as many outputs as inputs",
        ),
        (residual(|it| it.width = 0), 3, "width of the network is 0"),
        (perceptron.into(), 3, "hidden[1] of the network is 0"),
        (
            residual(|it| it.standardization = Some(other_size)),
            3,
            "the network's inputs are 3 and 2; it needs 2 of each",
        ),
        (
            residual(|_| ()),
            0,
            "the number of outputs of the network is 0",
        ),
    ]
}

#[test]
fn impossible_networks_are_errors_without_a_panic() {
    let x: Vec<[f64; 2]> = (0..8)
        .map(|row| [f64::from(row), f64::from(row % 3)])
        .collect();
    let y: Vec<f64> = (0..8).map(|row| f64::from(row).sin()).collect();
    for (network, outputs, expected) in impossible() {
        let deep_kernel = DeepKernelConfig {
            network: network.clone(),
            features: outputs,
            model: ExactConfig::new(StationaryConfig::matern52()),
        };
        let basis = BasisConfig::new(network, outputs);
        let mut stochastic = SvdbkConfig::new(GaussianConfig::default());
        stochastic.basis = basis.clone();
        let configs: [ModelConfig; 3] = [
            deep_kernel.into(),
            DbkConfig::new().with_basis(basis).into(),
            stochastic.into(),
        ];
        for config in configs {
            let fit = || config.fit(x.as_slice(), y.as_slice(), &Fit::new().steps(1));
            let (result, panics) = panics_of(fit);
            let Err(error) = result else {
                panic!("{expected}: accepted");
            };
            let error = error.to_string();
            assert!(error.contains(expected), "{error}");
            assert_eq!(panics, 0, "{error}");
        }
    }
}
