//! Kernels whose dimensions share lengthscales in groups.

use crate::support::{Dense, assert_close, numbers, platforms};
use burn_gp_core::{
    kernels::{KernelConfig, KernelModule, LinearConfig, StationaryConfig},
    ops::Stationary,
    parameter::hyperparameters,
};

/// Levels of a category with a shared lengthscale are exchangeable: all pairs of different levels have
/// the same covariance, with values of the trained lengthscales that differ between the groups.
#[test]
fn levels_with_a_shared_lengthscale_are_exchangeable() {
    const LEVELS: usize = 12;
    let groups: Vec<usize> = std::iter::once(0)
        .chain(std::iter::repeat_n(1, LEVELS))
        .collect();
    let levels = Dense::from_function(LEVELS, LEVELS + 1, |row, column| match column {
        0 => 0.3,
        column => f64::from(u8::from(column == row + 1)),
    });
    let kinds = [
        KernelConfig::from(StationaryConfig::new(Stationary::Matern52)),
        KernelConfig::from(StationaryConfig::rbf()).plus(LinearConfig::default()),
    ];
    for platform in platforms() {
        for config in &kinds {
            let kernel = config.clone().sharing(&groups);
            let kernel = kernel.init(LEVELS + 1, platform.options());
            let counts: Vec<usize> = (hyperparameters(&kernel).iter())
                .map(|found| found.values.len())
                .filter(|&count| count > 1)
                .collect();
            assert!(counts.iter().all(|&count| count == 2), "{counts:?}");
            let values = numbers(kernel.matrix_at(platform.matrix(&levels)));
            let (same, different) = (values[0], values[1]);
            assert!(same > different);
            let expected = Dense::from_function(LEVELS, LEVELS, |a, b| match a == b {
                true => same,
                false => different,
            });
            let what = format!("exchangeable on {platform}");
            assert_close(
                &what,
                &values,
                &expected.values,
                platform.tolerance(1e-13, 1e-5),
            );
        }
    }
}

#[test]
#[should_panic(expected = "groups for 2 dimensions, but its inputs have 3")]
fn groups_of_another_number_of_dimensions_are_the_callers_error() {
    let kernel = KernelConfig::from(StationaryConfig::rbf()).sharing(&[0, 0]);
    kernel.init(3, &burn::tensor::Device::default());
}

#[test]
#[should_panic(expected = "expected the numbers 0, 1, 2, ... without gaps")]
fn numbers_of_groups_with_gaps_are_the_callers_error() {
    let _ = KernelConfig::from(StationaryConfig::rbf()).sharing(&[0, 2, 2]);
}
