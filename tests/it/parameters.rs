//! Reading, setting, bounding and freezing parameters given by their paths.

use crate::support::{
    Platform, Random, assert_close, gradients::central_difference, numbers, parameter_values,
    platforms,
};
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{Gradients, Tensor},
};
use burn_gp_core::{
    features::{Perceptron, PerceptronConfig},
    inducing::InducingPoints,
    kernels::{AnyKernel, KernelConfig, KernelModule, SpectralMixtureConfig, StationaryConfig},
    means::{AnyMean, MeanConfig},
    ops::Stationary,
    parameter::{
        Bounds, DegreesOfFreedom, LOWER_BOUND, ParameterConfig, ParameterError, Parameters, Part,
        Positive, Prior, Role, at_floor, hyperparameters,
    },
};

const DIMENSIONS: usize = 2;

fn config() -> KernelConfig {
    let smooth = StationaryConfig::new(Stationary::Matern52).with_lengthscale(0.8);
    KernelConfig::from(smooth)
        .scaled(1.5)
        .plus(KernelConfig::from(SpectralMixtureConfig::default()).on_dimensions(vec![1]))
}

fn kernel(platform: &Platform) -> AnyKernel {
    config().init(DIMENSIONS, platform.options())
}

const LENGTHSCALE: &str = "first.base.lengthscale";
const FREQUENCY: &str = "second.base.components.2.frequency";

#[test]
fn paths_are_names_of_fields() {
    #[derive(Module, Debug)]
    struct Pair {
        mean: AnyMean,
        kernels: Vec<AnyKernel>,
    }
    let platform = &platforms()[0];
    let network = PerceptronConfig {
        hidden: vec![2],
        ..PerceptronConfig::default()
    };
    let deep = KernelConfig::from(Stationary::Matern12).deep(network, 1);
    let pair = Pair {
        mean: MeanConfig::linear().init(DIMENSIONS, 1, platform.options()),
        kernels: vec![deep.init(DIMENSIONS, platform.options())],
    };
    assert_eq!(
        pair.parameter_paths(),
        [
            "mean.weights",
            "mean.offset",
            "kernels.0.base.lengthscale",
            "kernels.0.base.variance",
            "kernels.0.network.layers.0.weight",
            "kernels.0.network.layers.0.bias",
            "kernels.0.network.layers.1.weight",
            "kernels.0.network.layers.1.bias",
        ]
    );
}

/// A model of another crate, whose fields have the names of other roles.
#[test]
fn roles_decide_what_is_reported_and_names_do_not() {
    #[derive(Module, Debug)]
    struct Own {
        policy: Positive,
        spectrum: Positive,
        network: Positive,
        landmarks: InducingPoints,
        weights: Part<Positive>,
        body: Part<Perceptron>,
    }
    let platform = &platforms()[0];
    let options = platform.options();
    let positive = || Positive::new(&[0.5], options);
    let own = Own {
        policy: positive(),
        spectrum: positive(),
        network: positive(),
        landmarks: InducingPoints::new(Tensor::zeros([3, 2], options)),
        weights: Part::new(Role::Posterior, positive()),
        body: Part::network(PerceptronConfig::default().init(2, 1, options)),
    };
    let reported = hyperparameters(&own).into_iter();
    let reported: Vec<String> = reported.map(|found| found.path).collect();
    assert_eq!(reported, ["policy", "spectrum", "network"]);
    // Messages leave out the weights of networks alone.
    let message = refused(own.with_parameter("spectra", &[1.0]));
    assert!(
        message.contains("policy, spectrum, network, landmarks.points, weights"),
        "{message}"
    );
    assert!(!message.contains("body"), "{message}");
}

#[test]
fn values_are_set_and_read() {
    for platform in platforms() {
        let tolerance = platform.tolerance(1e-14, 1e-6);
        let kernel = kernel(&platform)
            .with_parameter(LENGTHSCALE, &[0.3, 7.0])
            .and_then(|kernel| kernel.with_parameter(FREQUENCY, &[-1.5]))
            .expect("parameters");
        for (path, expected) in [
            (LENGTHSCALE, vec![0.3, 7.0]),
            (FREQUENCY, vec![-1.5]),
            ("first.outputscale", vec![1.5]),
        ] {
            let values = kernel.parameter(path).expect("a parameter");
            assert_close(
                &format!("{path} on {platform}"),
                &values,
                &expected,
                tolerance,
            );
        }
        // A single value sets all entries.
        let kernel = kernel.with_parameter(LENGTHSCALE, &[2.0]).expect("one");
        let values = kernel.parameter(LENGTHSCALE).expect("a parameter");
        assert_close(&format!("{platform}"), &values, &[2.0, 2.0], tolerance);
    }
}

/// A kernel initialized with certain values equals one whose values are set later.
#[test]
fn set_values_are_those_that_count() {
    let x = Random::new(211).points(6, DIMENSIONS);
    for platform in platforms() {
        let made = StationaryConfig::new(Stationary::Matern32)
            .with_lengthscale(0.4)
            .with_variance(2.2)
            .init(DIMENSIONS, platform.options());
        let given = StationaryConfig::new(Stationary::Matern32)
            .init(DIMENSIONS, platform.options())
            .with_parameter("lengthscale", &[0.4])
            .and_then(|kernel| kernel.with_parameter("variance", &[2.2]))
            .expect("parameters");
        let [made, given] =
            [made, given].map(|kernel| numbers(kernel.matrix_at(platform.matrix(&x))));
        assert_close(
            &format!("{platform}"),
            &given,
            &made,
            platform.tolerance(1e-15, 1e-7),
        );
    }
}

fn refused<T>(result: Result<T, ParameterError>) -> String {
    match result {
        Ok(_) => panic!("this should be an error"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn mistakes_are_named() {
    let kernel = || kernel(&platforms()[0]);
    let unknown = refused(kernel().parameter("first.base.lenghtscale"));
    let start = "there is no parameter first.base.lenghtscale; did you mean \
                 first.base.lengthscale? Known parameters: first.base.lengthscale, first.base.variance, \
                 first.outputscale, second.base.components.0.variance";
    assert!(unknown.starts_with(start), "{unknown}");
    assert_eq!(
        unknown,
        refused(kernel().with_frozen("first.base.lenghtscale"))
    );
    assert_eq!(
        refused(kernel().with_parameter(LENGTHSCALE, &[1.0, 2.0, 3.0])),
        "the number of values of first.base.lengthscale is 2, not 3; give as many, or one for all"
    );
    assert_eq!(
        refused(kernel().with_parameter(LENGTHSCALE, &[1.0, -2.0])),
        "first.base.lengthscale is -2; it must be finite and above 0.000001"
    );
    assert!(kernel().with_parameter(FREQUENCY, &[f64::NAN]).is_err());
    assert!(
        kernel()
            .with_parameter(FREQUENCY, &[f64::INFINITY])
            .is_err()
    );
    assert_eq!(
        refused(kernel().with_bounds(LENGTHSCALE, Bounds::between(2.0, 1.0))),
        "no value of first.base.lengthscale lies between the bounds 2 and 1"
    );
    assert_eq!(
        refused(kernel().with_bounds(LENGTHSCALE, Bounds::below(-1.0))),
        "no value of first.base.lengthscale lies between the bounds 0.000001 and -1"
    );
    assert_eq!(
        refused(kernel().with_bounds(LENGTHSCALE, Bounds::above(1.0))),
        "first.base.lengthscale is 0.8; it must be finite and above 1".replace(
            "0.8",
            &kernel().parameter(LENGTHSCALE).expect("there")[0].to_string()
        )
    );
    let bounded = kernel().with_bounds(LENGTHSCALE, Bounds::above(0.5));
    let again = bounded.and_then(|kernel| kernel.with_bounds(LENGTHSCALE, Bounds::below(2.0)));
    assert_eq!(
        refused(again),
        "first.base.lengthscale already has bounds; set all of its bounds at once"
    );
}

fn every_kind_of_bounds() -> Vec<(&'static str, Bounds, f64)> {
    vec![
        (LENGTHSCALE, Bounds::between(0.5, 3.0), 2.9),
        (LENGTHSCALE, Bounds::above(0.5), 0.6),
        (LENGTHSCALE, Bounds::below(3.0), 1e-3),
        // The lower bound is below the minimum of positive parameters.
        (LENGTHSCALE, Bounds::between(0.0, 3.0), 1e-3),
        (FREQUENCY, Bounds::between(-1.0, 2.0), -0.9),
        (FREQUENCY, Bounds::above(-1.0), -0.5),
        (FREQUENCY, Bounds::below(2.0), 1.7),
    ]
}

#[test]
fn bounds_keep_values_and_give_them_back() {
    for platform in platforms() {
        let tolerance = platform.tolerance(1e-12, 1e-5);
        for (path, bounds, value) in every_kind_of_bounds() {
            let what = format!("{path} {bounds:?} on {platform}");
            let before = kernel(&platform);
            let kernel = before.clone().with_bounds(path, bounds).expect("within");
            let values = [&before, &kernel].map(|kernel| kernel.parameter(path).expect("there"));
            assert_close(&what, &values[1], &values[0], tolerance);
            // The kernel computes with the values that are read.
            let x = platform.matrix(&Random::new(223).points(4, DIMENSIONS));
            let [expected, actual] =
                [&before, &kernel].map(|kernel| numbers(kernel.matrix_at(x.clone())));
            assert_close(&what, &actual, &expected, tolerance);
            let kernel = kernel.with_parameter(path, &[value]).expect("within");
            let values = kernel.parameter(path).expect("there");
            assert_close(&what, &[values[0]], &[value], tolerance);
            let natural = if path == LENGTHSCALE {
                Bounds::above(LOWER_BOUND)
            } else {
                Bounds::default()
            };
            let (expected, actual) = (
                bounds.and(natural).ends(),
                kernel.parameter_bounds(path).expect("there").ends(),
            );
            for (expected, actual) in [(expected.0, actual.0), (expected.1, actual.1)] {
                let same = expected == actual || (expected - actual).abs() < tolerance * 3.0;
                assert!(same, "{what}: bound {actual}, expected {expected}");
            }
            let outside = bounds.lower.map_or(100.0, |lower| lower - 1.0);
            assert!(kernel.with_parameter(path, &[outside]).is_err(), "{what}");
        }
    }
}

/// Values stay within their bounds up to rounding, for any stored numbers.
#[test]
fn no_stored_number_leaves_the_bounds() {
    for platform in platforms() {
        for (path, bounds, _) in every_kind_of_bounds() {
            let bounded = kernel(&platform).with_bounds(path, bounds).expect("within");
            for shift in [-1e4, -50.0, -5.0, 5.0, 50.0, 1e4] {
                let moved = shifted(bounded.clone(), shift);
                let rounding = platform.tolerance(1e-14, 1e-6);
                let (lower, upper) = bounded.parameter_bounds(path).expect("there").ends();
                for value in moved.parameter(path).expect("there") {
                    let within = lower - rounding <= value && value <= upper + rounding;
                    assert!(within, "{path} {bounds:?} on {platform}: {value}");
                }
            }
        }
    }
}

/// Adds a number to every stored parameter, but not to the data attached to parameters.
struct Shift {
    by: f64,
    attached: usize,
}

const ATTACHED: &str = "Reparameterization";

impl ModuleMapper for Shift {
    fn enter_module(&mut self, _name: &str, container: &str) {
        self.attached += usize::from(container == ATTACHED);
    }

    fn exit_module(&mut self, _name: &str, container: &str) {
        self.attached -= usize::from(container == ATTACHED);
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if self.attached > 0 {
            return param;
        }
        param.map(|tensor| tensor + self.by)
    }
}

fn shifted<M: Module>(module: M, by: f64) -> M {
    module.map(&mut Shift { by, attached: 0 })
}

/// The gradient of every parameter, in the order of the paths, without the data attached to
/// parameters.
struct Slopes<'a> {
    gradients: &'a Gradients,
    found: Vec<Option<Vec<f64>>>,
    attached: usize,
}

impl ModuleVisitor for Slopes<'_> {
    fn enter_module(&mut self, _name: &str, container: &str) {
        self.attached += usize::from(container == ATTACHED);
    }

    fn exit_module(&mut self, _name: &str, container: &str) {
        self.attached -= usize::from(container == ATTACHED);
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = param.val().grad(self.gradients).map(numbers);
        if self.attached == 0 {
            self.found.push(gradient);
        } else {
            assert!(gradient.is_none(), "bounds are not trained");
        }
    }
}

fn gradients_of(module: &impl Module, gradients: &Gradients) -> Vec<Option<Vec<f64>>> {
    let mut slopes = Slopes {
        gradients,
        found: Vec::new(),
        attached: 0,
    };
    module.visit(&mut slopes);
    slopes.found
}

/// Gradients along a step that moves all stored numbers equally.
#[test]
fn gradients_through_bounds() {
    let x = Random::new(227).points(6, DIMENSIONS);
    for platform in platforms().into_iter().filter(Platform::is_double) {
        for (path, bounds, value) in every_kind_of_bounds() {
            let build = |platform: &Platform| {
                let kernel = kernel(platform).with_parameter(path, &[value]);
                let bounded = kernel.and_then(|kernel| kernel.with_bounds(path, bounds));
                bounded.expect("within")
            };
            let loss = |kernel: &AnyKernel, platform: &Platform| {
                kernel.matrix_at(platform.matrix(&x)).square().sum()
            };
            let tracked = platform.autodiff();
            let module = build(&tracked);
            let gradients = loss(&module, &tracked).backward();
            let slope: f64 = (gradients_of(&module, &gradients)
                .into_iter()
                .flatten()
                .flatten())
            .sum();
            let plain = build(&platform);
            let difference =
                central_difference(|by| numbers(loss(&shifted(plain.clone(), by), &platform))[0]);
            let what = format!("{path} {bounds:?} on {platform}");
            assert_close(&what, &[slope], &[difference], 1e-6);
        }
    }
}

#[test]
fn frozen_parameters_have_no_gradient() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        let kernel = kernel(&tracked).with_frozen("first.base").expect("a field");
        let kernel = kernel.with_frozen(FREQUENCY).expect("a parameter");
        let x = tracked.matrix(&Random::new(229).points(5, DIMENSIONS));
        let gradients = kernel.matrix_at(x).sum().backward();
        let gradients = gradients_of(&kernel, &gradients);
        let frozen: Vec<String> = (kernel.parameter_paths().into_iter().zip(gradients))
            .filter(|(_, gradient)| gradient.is_none())
            .map(|(path, _)| path)
            .collect();
        assert_eq!(
            frozen,
            [LENGTHSCALE, "first.base.variance", FREQUENCY],
            "{platform}"
        );
    }
}

#[test]
fn configurations_are_applied_together() {
    let mut config = ParameterConfig {
        frozen: vec!["first.outputscale".into()],
        ..ParameterConfig::default()
    };
    config.values.insert(LENGTHSCALE.into(), vec![0.3, 0.4]);
    config.bounds.insert(LENGTHSCALE.into(), Bounds::below(1.0));
    let uniform = Prior::Uniform {
        lower: 0.1,
        upper: 5.0,
    };
    config.priors.0.insert(LENGTHSCALE.into(), uniform);
    let text = serde_json::to_string(&config).expect("serializable");
    let read: ParameterConfig = serde_json::from_str(&text).expect("readable");
    assert_eq!(read, config);
    let empty: ParameterConfig = serde_json::from_str("{}").expect("readable");
    assert_eq!(empty, ParameterConfig::default());
    for platform in platforms() {
        let applied = config.apply(kernel(&platform)).expect("applicable");
        let bounds = applied.parameter_bounds(LENGTHSCALE).expect("there").ends();
        let tolerance = platform.tolerance(1e-12, 1e-5);
        assert_close(
            &format!("{platform}"),
            &[bounds.0, bounds.1],
            &[0.1, 1.0],
            tolerance,
        );
        // Loads the record into another module with the same shapes and other values.
        let record = applied.clone().into_record();
        let skeleton = config
            .apply_to_skeleton(kernel(&platform))
            .expect("applicable");
        let loaded = skeleton.load_record(record);
        assert_eq!(
            parameter_values(&loaded),
            parameter_values(&applied),
            "{platform}"
        );
    }
    config.values.insert(LENGTHSCALE.into(), vec![2.0]);
    assert!(matches!(
        config.apply(kernel(&platforms()[0])),
        Err(ParameterError::OutOfBounds { .. })
    ));
}

/// Degrees of freedom are named, set, read, bounded and reported as ν, not as their excess over 2.
#[test]
fn degrees_of_freedom_are_above_two() {
    #[derive(Module, Debug)]
    struct Noise {
        degrees: DegreesOfFreedom,
    }
    for platform in platforms() {
        let noise = |value: f64| Noise {
            degrees: DegreesOfFreedom::new(&[value], platform.options()),
        };
        // Of 100, single precision keeps 1e-5.
        for value in [2.5, 4.0, 100.0] {
            let set = noise(3.0).with_parameter("degrees", &[value]).unwrap();
            for module in [noise(value), set] {
                assert_close(
                    "degrees",
                    &module.parameter("degrees").unwrap(),
                    &[value],
                    1e-5,
                );
                assert_close("degrees", &numbers(module.degrees.value()), &[value], 1e-5);
            }
        }
        let bounded = noise(4.0)
            .with_bounds("degrees", Bounds::between(3.0, 10.0))
            .unwrap();
        let bounds = bounded.parameter_bounds("degrees").unwrap().ends();
        assert_close("degrees", &[bounds.0, bounds.1], &[3.0, 10.0], 1e-4);
        let refused = noise(4.0).with_parameter("degrees", &[2.0]).unwrap_err();
        assert!(refused.to_string().contains("degrees"), "{refused}");
        assert_eq!(hyperparameters(&noise(4.0))[0].path, "degrees");
        // In single precision, the smallest distance from 2 is 2.4e-7.
        assert_eq!(at_floor(&noise(2.000_001_5)).len(), 1);
        assert_eq!(at_floor(&noise(2.1)).len(), 0);
    }
}
