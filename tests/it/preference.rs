//! The kernel of comparisons, beyond what every kernel of the registry is tested for.

use crate::support::{Dense, Platform, Random, assert_close, numbers, platforms};
use burn_gp_core::{
    kernels::{
        AnyKernel, IndexConfig, KernelConfig, KernelModule, LinearConfig, PreferenceConfig,
        StationaryConfig, Structure,
    },
    parameter::stacked,
};

const INPUTS: usize = 4;

fn config(lengthscale: f64) -> KernelConfig {
    let base = StationaryConfig::matern52().with_lengthscale(lengthscale);
    let base = KernelConfig::from(base).plus(LinearConfig::default());
    PreferenceConfig { base }.into()
}

fn kernel(lengthscale: f64, platform: &Platform) -> AnyKernel {
    config(lengthscale).init(INPUTS, platform.options())
}

/// Both items of every row in the other order.
fn swapped(x: &Dense) -> Dense {
    Dense::from_function(x.rows, INPUTS, |row, input| {
        x[(row, (input + INPUTS / 2) % INPUTS)]
    })
}

/// The function of the swapped items is the negative function, in every digit, so that probabilities add up to one.
#[test]
fn items_that_change_places_change_the_sign() {
    let mut random = Random::new(811);
    let (x, z) = (random.points(9, INPUTS), random.points(6, INPUTS));
    for platform in platforms() {
        let kernel = kernel(0.9, &platform);
        let covariances =
            |x: &Dense| numbers(kernel.covariance_at(platform.matrix(x), platform.matrix(&z)));
        let negative: Vec<f64> = covariances(&swapped(&x)).iter().map(|k| -k).collect();
        assert_eq!(covariances(&x), negative, "{platform}");
    }
}

/// An item is as good as itself.
#[test]
fn equal_items_have_no_variance() {
    let items = Random::new(812).points(70, INPUTS / 2);
    let x = Dense::from_function(70, INPUTS, |row, input| items[(row, input % 2)]);
    for platform in platforms() {
        let variances = numbers(kernel(0.9, &platform).diagonal_at(platform.matrix(&x)));
        // The variances of utilities are about 1 to 10, and their rounding errors remain.
        let what = format!("{platform}");
        let tolerance = platform.tolerance(1e-13, 1e-5);
        assert!(
            variances.iter().all(|k| k.abs() < tolerance),
            "{what}: {variances:?}"
        );
    }
}

/// Rows are taken in tiles if there are several kernels. There are more rows than a tile has.
#[test]
fn variances_of_many_rows_are_those_of_each_member() {
    let x = Random::new(813).points(150, INPUTS);
    for platform in platforms() {
        let members = [0.6, 1.7].map(|lengthscale| kernel(lengthscale, &platform));
        let both = stacked(&members);
        let points = platform.matrix(&x);
        let found = numbers(burn_gp_core::kernels::Kernel::diagonal(
            &both,
            points.clone().unsqueeze(),
        ));
        let expected = members.map(|member| numbers(member.diagonal_at(points.clone())));
        let tolerance = platform.tolerance(1e-14, 1e-6);
        assert_close(
            &format!("{platform}"),
            &found,
            &expected.concat(),
            tolerance,
        );
    }
}

/// It is neither stationary nor a sum of which operations know.
#[test]
fn the_form_is_general() {
    for platform in platforms() {
        let kernel = kernel(1.0, &platform);
        let kernel: &dyn burn_gp_core::kernels::Kernel = &kernel;
        assert!(matches!(kernel.structure(), Structure::General));
        assert_eq!(kernel.input_scales(INPUTS), None);
    }
}

#[test]
fn an_odd_number_of_inputs_is_refused() {
    let refusal = |config: &KernelConfig, inputs: usize| {
        let refusal = config
            .check_for("kernel", inputs)
            .expect_err("an odd number");
        refusal.to_string()
    };
    assert_eq!(
        refusal(&config(1.0), 3),
        "kernel: the preference kernel compares two items and takes an even number of inputs, those of the first item \
         and then those of the second, not 3"
    );
    assert_eq!(config(1.0).check_for("kernel", 4), Ok(()));
    let three = config(1.0).on_dimensions(vec![0, 1, 2]);
    assert!(refusal(&three, 4).ends_with("not 3"));
    assert!(refusal(&config(1.0).periodic(2.0), 5).ends_with("not 5"));
    // An item with an input of each.
    let missing = PreferenceConfig {
        base: KernelConfig::default().on_dimensions(vec![1]),
    };
    assert_eq!(KernelConfig::from(missing).missing_dimension(2), Some(1));
}

/// The columns of both items have one scale, and codes of items are codes for both.
#[test]
fn columns_of_both_items_are_known() {
    let columns = [0, 1, 2, 3, 4];
    let levels = KernelConfig::from(IndexConfig::new(3)).on_dimensions(vec![1]);
    let pairs = KernelConfig::from(PreferenceConfig {
        base: KernelConfig::default().plus(levels),
    });
    let within = KernelConfig::default().times(pairs.on_dimensions(vec![4, 3, 1, 0]));
    assert_eq!(within.equal_columns(&columns), [[1, 4], [0, 3]]);
    assert_eq!(within.code_columns(&columns), [0, 3]);
    assert!(KernelConfig::default().equal_columns(&columns).is_empty());
    // Comparisons of pairs of items.
    let nested = PreferenceConfig { base: config(1.0) };
    let nested = KernelConfig::from(nested);
    assert_eq!(nested.equal_columns(&[0, 1, 2, 3]), [[0, 1, 2, 3]]);
}
