//! Mismatched sizes are named in the panic message, and zero rows give empty results.

use crate::support::{
    Platform, Random,
    kernel_registry::{DIMENSIONS, registry},
    numbers,
    panics::assert_names,
    platforms,
    posterior_case::{Case, kernel},
};
use burn::tensor::Tensor;
use burn_gp_core::{
    features::{Features, PerceptronConfig, ResidualNetworkConfig},
    kernels::{KernelConfig, KernelModule, KernelPart, covariance_product},
    means::MeanConfig,
    process::Process,
    variational::Posterior,
};
use serde_json::json;

fn points(platform: &Platform, rows: usize, dimensions: usize) -> Tensor<2> {
    platform.matrix(&Random::new(61).points(rows, dimensions))
}

fn no_points(platform: &Platform, dimensions: usize) -> Tensor<2> {
    Tensor::zeros([0, dimensions], platform.options())
}

/// Kernels that use only some of the columns. Additional columns change nothing.
fn ignores_some(config: &KernelConfig) -> bool {
    let passes = |part: &KernelPart<'_>| ignores_some(part.kernel) || is_anywhere(part.kernel);
    match config.name() {
        "active-dimensions" | "index" | "ordinal" => true,
        "scaled" => config.parts().iter().all(|part| ignores_some(part.kernel)),
        "sum" | "product" => config.parts().iter().all(passes),
        _ => false,
    }
}

/// Whether a kernel accepts points with any number of dimensions.
fn is_anywhere(config: &KernelConfig) -> bool {
    match config.name() {
        "constant" | "white" | "gibbs" => true,
        "scaled" | "sum" | "product" => config.parts().iter().all(|part| is_anywhere(part.kernel)),
        // If the base of a periodic kernel panics, its message names the size of the points on the
        // circles.
        "exchangeable" | "stationary" | "matern" | "rational-quadratic" | "cosine"
        | "damped-oscillator" | "polynomial" | "arc-cosine" | "linear" | "periodic" => {
            json!(config)["ard"] == json!(false)
        }
        _ => false,
    }
}

#[test]
fn points_of_different_dimensions_have_no_covariance() {
    let platform = &platforms()[0];
    for (name, config) in registry() {
        let kernel = config.init(DIMENSIONS, platform.options());
        for (first, second) in [
            (DIMENSIONS, 1),
            (1, DIMENSIONS),
            (DIMENSIONS, DIMENSIONS + 1),
        ] {
            let sizes = [format!("[5, {first}]"), format!("[4, {second}]")];
            let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
            let what = format!("{name}: {first} and {second} dimensions");
            let (x1, x2) = (points(platform, 5, first), points(platform, 4, second));
            assert_names(&what, &sizes, || {
                kernel.covariance_at(x1.clone(), x2.clone())
            });
            let vectors = points(platform, 4, 2);
            assert_names(&what, &[], || {
                covariance_product(&kernel, x1.clone(), Some(x2.clone()), vectors.clone())
            });
        }
    }
}

/// One dimension too few, which would broadcast, and one too many.
#[test]
fn points_of_other_dimensions_than_the_kernels_are_refused() {
    let platform = &platforms()[0];
    for (name, config) in registry() {
        let kernel = config.init(DIMENSIONS, platform.options());
        for dimensions in [1, DIMENSIONS + 1] {
            if is_anywhere(&config) || (dimensions > 1 && ignores_some(&config)) {
                continue;
            }
            let (what, x) = (
                format!("{name}: {dimensions}"),
                points(platform, 5, dimensions),
            );
            // A sum may have a part that accepts any number of dimensions.
            let size = format!("[5, {dimensions}]");
            assert_names(&what, &[&size], || kernel.matrix_at(x.clone()));
            assert_names(&what, &[&size], || kernel.diagonal_at(x.clone()));
        }
    }
}

#[test]
fn kernels_of_no_points_are_empty() {
    for platform in platforms().into_iter().filter(Platform::is_host) {
        for (name, config) in registry() {
            let what = format!("{name} on {platform}");
            let kernel = config.init(DIMENSIONS, platform.options());
            let (some, none) = (
                points(&platform, 4, DIMENSIONS),
                no_points(&platform, DIMENSIONS),
            );
            assert_eq!(kernel.diagonal_at(none.clone()).dims(), [0], "{what}");
            assert_eq!(kernel.matrix_at(none.clone()).dims(), [0, 0], "{what}");
            let covariance =
                |a: &Tensor<2>, b: &Tensor<2>| kernel.covariance_at(a.clone(), b.clone()).dims();
            assert_eq!(covariance(&none, &some), [0, 4], "{what}");
            assert_eq!(covariance(&some, &none), [4, 0], "{what}");
            let vectors = points(&platform, 4, 2);
            let product =
                covariance_product(&kernel, none.clone(), Some(some.clone()), vectors.clone());
            assert_eq!(product.dims(), [0, 2], "{what}");
            let empty = no_points(&platform, 2);
            let product = covariance_product(&kernel, some, Some(none.clone()), empty.clone());
            assert_eq!(numbers(product), [0.0; 8], "{what}");
            assert_eq!(
                covariance_product(&kernel, none, None, empty).dims(),
                [0, 2],
                "{what}"
            );
        }
    }
}

#[test]
fn means_of_other_functions_and_inputs_are_refused() {
    let platform = &platforms()[0];
    let x = points(platform, 20, 3);
    let config = [
        MeanConfig::zero(),
        MeanConfig::constant(0.5),
        MeanConfig::linear(),
        MeanConfig::identity(),
    ];
    for config in config {
        let mean = config.init(3, 2, platform.options());
        let what = format!("{config:?} of two functions over one");
        let one = points(platform, 20, 1);
        let sizes = ["[20, 1]", "[20, 2]"];
        assert_names(&what, &sizes, || mean.residual(one.clone(), x.clone()));
        assert_names(&what, &sizes, || mean.add_to(one.clone(), x.clone()));
        let few = points(platform, 1, 2);
        if !["zero", "constant"].contains(&config.name()) {
            let sizes = ["[1, 2]", "[20, 2]"];
            assert_names(&what, &sizes, || mean.residual(few.clone(), x.clone()));
            assert_names(&what, &sizes, || mean.add_to(few.clone(), x.clone()));
        }
        for platform in platforms() {
            let mean = config.init(3, 2, platform.options());
            let (none, values) = (no_points(&platform, 3), no_points(&platform, 2));
            assert_eq!(mean.forward(none.clone()).dims(), [0, 2], "{config:?}");
            assert_eq!(mean.add_to(values, none).dims(), [0, 2], "{config:?}");
        }
    }
    let linear = MeanConfig::linear().init(3, 2, platform.options());
    assert_names("a linear mean", &["[3, 2]", "[20, 4]"], || {
        linear.forward(points(platform, 20, 4))
    });
}

#[test]
fn networks_name_the_inputs_they_take() {
    let platform = &platforms()[0];
    let perceptron = PerceptronConfig::default().init(3, 2, platform.options());
    let residual = ResidualNetworkConfig::default().init(3, 2, platform.options());
    let x = points(platform, 7, 4);
    assert_names("a perceptron", &["[7, 4]", "[N, 3]"], || {
        perceptron.forward(x.clone())
    });
    assert_names("a residual network", &["[7, 4]", "[N, 3]"], || {
        residual.forward(x.clone())
    });
}

#[test]
fn processes_of_no_points_are_empty() {
    for platform in platforms().into_iter().filter(Platform::is_host) {
        let case = Case::new(2);
        let process = case.whitened(&platform).condition(&kernel(&platform));
        let process = process.expect("factor");
        let x = case.x(&platform);
        let [_, dimensions] = x.dims();
        let none = no_points(&platform, dimensions);
        let marginals = process.marginals(none.clone());
        assert_eq!(marginals.mean.dims(), [0, 2], "{platform}");
        assert_eq!(marginals.variance.dims(), [0, 2], "{platform}");
        assert_eq!(
            process.joint(none.clone()).covariance.dims(),
            [2, 0, 0],
            "{platform}"
        );
        let draws = process.sample(none, 3, 0).expect("nothing to factor");
        assert_eq!(draws.dims(), [3, 2, 0], "{platform}");
        let draws = process.sample(x, 0, 0).expect("factor");
        assert_eq!(numbers(draws).len(), 0, "{platform}");
    }
}
