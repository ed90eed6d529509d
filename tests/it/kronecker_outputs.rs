//! Exact regression of several outputs on tables with few holes, by eigenvectors, compared with the same model by a
//! factor of the covariance of all targets.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inference::{ExactOutputs, OutputsProcess},
    kernels::{
        ActiveDimensions, AnyKernel, Index, Kernel, KernelModule, Product, StationaryKernel, Sum,
        White,
    },
    likelihoods::Gaussian,
    means::LinearMean,
    ops::Stationary,
    process::{Joint, JointAcrossOutputs, Marginals, Process, WithMean},
};

use crate::support::{
    Dense, Input, Platform, Random, assert_close, check_gradients, check_module_gradients,
    double_precision_platforms, numbers, parameter_gradients, platforms,
};

const ROWS: usize = 24;
const OUTPUTS: usize = 6;
const NONE: f64 = f64::NAN;

/// Places of missing targets.
const HOLES: [usize; 4] = [3, 4, 50, 143];

type Options<'a> = (&'a Device, DType);

/// Inputs of two dimensions, and targets with NaN in the holes.
struct Data {
    x: Dense,
    y: Dense,
}

impl Data {
    fn new(holes: &[usize]) -> Self {
        Self::with(holes, NONE)
    }

    /// The holes have this content.
    fn with(holes: &[usize], content: f64) -> Self {
        let mut random = Random::new(71);
        let (x, mut y) = (random.points(ROWS, 2), random.matrix(ROWS, OUTPUTS));
        holes.iter().for_each(|&hole| y.values[hole] = content);
        Self { x, y }
    }

    fn tensors(&self, platform: &Platform) -> (Tensor<2>, Tensor<2>) {
        (platform.matrix(&self.x), platform.matrix(&self.y))
    }
}

/// Γ of rank two, or the identity.
#[derive(Clone, Copy, Debug)]
enum Coupling {
    RankTwo,
    Identity,
}

const COUPLINGS: [Coupling; 2] = [Coupling::RankTwo, Coupling::Identity];

fn index(coupling: Coupling, dimension: usize, options: Options<'_>) -> Index {
    let weights = match coupling {
        Coupling::RankTwo => {
            let values = Random::new(5).matrix(OUTPUTS, 2);
            let values = burn::tensor::TensorData::new(values.values, [OUTPUTS, 2]);
            Tensor::from_data(values, options)
        }
        Coupling::Identity => Tensor::zeros([OUTPUTS, 0], options),
    };
    let own = match coupling {
        Coupling::RankTwo => [0.3, 0.5, 0.2, 0.4, 0.6, 0.3],
        Coupling::Identity => [1.0; OUTPUTS],
    };
    Index::new(weights, &own, dimension, options)
}

fn kernel(options: Options<'_>) -> StationaryKernel {
    StationaryKernel::new(Stationary::Matern52, &[0.7, 1.1], 1.3, options)
}

fn regression<K: KernelModule>(
    kernel: K,
    coregionalization: Option<Index>,
    coupling: Coupling,
    platform: &Platform,
    targets: &Tensor<2>,
) -> ExactOutputs<K> {
    let noise = match coupling {
        Coupling::RankTwo => [0.1, 0.2, 0.05, 0.3, 0.15, 0.08],
        Coupling::Identity => [0.1; OUTPUTS],
    };
    let slopes = platform.matrix(&Random::new(9).matrix(2, OUTPUTS).scaled(0.2));
    let offsets = platform.tensor(&[0.1, -0.2, 0.3, 0.0, 0.2, -0.1], [OUTPUTS]);
    ExactOutputs::new(
        kernel,
        coregionalization,
        LinearMean::new(slopes, offsets),
        Gaussian::of_outputs(&noise, platform.options()),
        targets,
    )
}

/// The model that may use eigenvectors.
fn structured(
    platform: &Platform,
    coupling: Coupling,
    targets: &Tensor<2>,
) -> ExactOutputs<StationaryKernel> {
    let options = platform.options();
    let outputs = index(coupling, 0, options);
    regression(kernel(options), Some(outputs), coupling, platform, targets)
}

/// The same as a kernel of three inputs, which says nothing about a product.
fn dense(platform: &Platform, coupling: Coupling, targets: &Tensor<2>) -> ExactOutputs<AnyKernel> {
    let options = platform.options();
    let of_inputs = ActiveDimensions::new(kernel(options), vec![0, 1]);
    let both = Product::new(index(coupling, 2, options), of_inputs);
    regression(both.boxed(), None, coupling, platform, targets)
}

fn process<K: KernelModule>(
    model: &ExactOutputs<K>,
    (x, y): (Tensor<2>, Tensor<2>),
) -> WithMean<OutputsProcess> {
    model.condition(x, y).expect("a posterior")
}

/// Every coupling with and without holes, on every platform.
fn cases() -> Vec<(Platform, Coupling, Data, String)> {
    let mut all = Vec::new();
    for platform in platforms() {
        for coupling in COUPLINGS {
            for holes in [&[][..], &HOLES[..]] {
                let what = format!("{platform}, {coupling:?}, {} holes", holes.len());
                all.push((platform.clone(), coupling, Data::new(holes), what));
            }
        }
    }
    all
}

#[test]
fn eigenvectors_are_used_where_they_take_less_time() {
    for (platform, coupling, data, what) in cases() {
        let (x, y) = data.tensors(&platform);
        let own = structured(&platform, coupling, &y);
        let own = process(&own, (x.clone(), y.clone()));
        let is_by_eigenvectors = matches!(own.process(), OutputsProcess::Kronecker(_));
        // GPUs factor the dense matrix.
        assert_eq!(is_by_eigenvectors, platform.is_host(), "{what}");
        let other = process(&dense(&platform, coupling, &y), (x, y));
        assert!(
            matches!(other.process(), OutputsProcess::Entries(_)),
            "{what}"
        );
    }
    // With half of the targets missing, there is nothing to gain.
    let platform = &platforms()[0];
    let holes: Vec<usize> = (0..ROWS * OUTPUTS / 2).map(|hole| 2 * hole).collect();
    let (x, y) = Data::new(&holes).tensors(platform);
    let own = process(&structured(platform, Coupling::RankTwo, &y), (x, y));
    assert!(matches!(own.process(), OutputsProcess::Entries(_)));
}

/// Values to 1e-9 and gradients of all parameters to 1e-8 in double precision.
#[test]
fn evidence_and_gradients_are_those_of_the_dense_matrix() {
    for (platform, coupling, data, what) in cases() {
        let platform = platform.autodiff();
        let (x, y) = data.tensors(&platform);
        let (own, other) = (
            structured(&platform, coupling, &y),
            dense(&platform, coupling, &y),
        );
        let values = own.full_objective(x.clone(), y.clone()).expect("a value");
        let expected = other.full_objective(x, y).expect("a factor");
        let tolerance = platform.tolerance(1e-12, 1e-5);
        let (found, dense) = (numbers(values.clone()), numbers(expected.clone()));
        assert_close(&what, &found, &dense, tolerance);
        let mut found = parameter_gradients(&own, &values.backward());
        let expected = parameter_gradients(&other, &expected.backward());
        // The kernel of inputs comes before Γ in one model, and after it in the other.
        found[..2 + coupling_parameters(coupling)].rotate_left(2);
        assert_eq!(found.len(), expected.len(), "{what}");
        for (found, expected) in found.iter().zip(&expected) {
            let tolerance = platform.tolerance(1e-10, 1e-3);
            assert_close(&what, found, expected, tolerance);
        }
    }
}

/// κ, and W unless Γ is diagonal.
fn coupling_parameters(coupling: Coupling) -> usize {
    match coupling {
        Coupling::RankTwo => 2,
        Coupling::Identity => 1,
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    for (coupling, holes) in [(Coupling::RankTwo, &HOLES[..]), (Coupling::Identity, &[])] {
        let data = Data::new(holes);
        check_module_gradients(
            &format!("{coupling:?}"),
            (1e-6, 2e-3),
            |platform| structured(platform, coupling, &data.tensors(platform).1),
            |platform, model| {
                let (x, y) = data.tensors(platform);
                model.full_objective(x, y).expect("a value")
            },
        );
    }
}

/// New inputs, of which two are equal and one is a training input.
fn new_inputs(platform: &Platform, data: &Data) -> Tensor<2> {
    let mut x = Random::new(13).points(5, 2);
    x.values.copy_within(0..2, 6);
    x.values[8..].copy_from_slice(data.x.row(2));
    platform.matrix(&x)
}

#[test]
fn predictions_are_those_of_the_dense_matrix() {
    for (platform, coupling, data, what) in cases() {
        let (x, y) = data.tensors(&platform);
        let own = process(&structured(&platform, coupling, &y), (x.clone(), y.clone()));
        let other = process(&dense(&platform, coupling, &y), (x, y));
        let at = new_inputs(&platform, &data);
        let tolerance = platform.tolerance(1e-11, 2e-5);
        let close = |name: &str, own: Vec<f64>, other: Vec<f64>| {
            assert_close(&format!("{what}, {name}"), &own, &other, tolerance);
        };
        let (a, b) = (own.marginals(at.clone()), other.marginals(at.clone()));
        assert_eq!(a.mean.dims(), [5, OUTPUTS]);
        close("mean", numbers(a.mean), numbers(b.mean));
        close("variance", numbers(a.variance), numbers(b.variance));
        let (a, b) = (own.joint(at.clone()), other.joint(at.clone()));
        assert_eq!(a.covariance.dims(), [OUTPUTS, 5, 5]);
        close("joint mean", numbers(a.mean), numbers(b.mean));
        close("joint", numbers(a.covariance), numbers(b.covariance));
        let (a, b) = (
            own.joint_across_outputs(at.clone()),
            other.joint_across_outputs(at),
        );
        assert_eq!(a.covariance.dims(), [OUTPUTS, OUTPUTS, 5, 5]);
        close("mean of all", numbers(a.mean), numbers(b.mean));
        close("joint of all", numbers(a.covariance), numbers(b.covariance));
    }
}

/// The factor of a covariance with jitter 1e-8 magnifies differences of rounding.
#[test]
fn draws_are_those_of_the_dense_matrix() {
    for (platform, coupling, data, what) in cases() {
        let (x, y) = data.tensors(&platform);
        let own = process(&structured(&platform, coupling, &y), (x.clone(), y.clone()));
        let other = process(&dense(&platform, coupling, &y), (x, y));
        let at = new_inputs(&platform, &data);
        let draws = |process: &WithMean<OutputsProcess>| {
            let draws = process.sample(at.clone(), 3, 17).expect("a factor");
            assert_eq!(draws.dims(), [3, OUTPUTS, 5]);
            numbers(draws)
        };
        let (own, other) = (draws(&own), draws(&other));
        assert_close(&what, &own, &other, platform.tolerance(1e-9, 1e-3));
        let at = |draw: usize, output: usize, row: usize| own[(draw * OUTPUTS + output) * 5 + row];
        for (draw, output) in (0..3).flat_map(|draw| (0..OUTPUTS).map(move |p| (draw, p))) {
            // Equal inputs have equal values, before the mean is added.
            let difference = at(draw, output, 0) - at(draw, output, 3);
            assert!(difference.abs() < platform.tolerance(1e-12, 1e-5), "{what}");
        }
    }
}

#[test]
fn empty_inputs_have_empty_predictions() {
    for platform in platforms() {
        let (x, y) = Data::new(&HOLES).tensors(&platform);
        let own = process(&structured(&platform, Coupling::RankTwo, &y), (x, y));
        let none = || Tensor::<2>::zeros([0, 2], platform.options());
        let Marginals { mean, variance } = own.process().marginals(none());
        assert_eq!([mean.dims(), variance.dims()], [[0, OUTPUTS]; 2]);
        let Joint { covariance, .. } = own.process().joint(none());
        assert_eq!(covariance.dims(), [OUTPUTS, 0, 0]);
        let JointAcrossOutputs { covariance, .. } = own.process().joint_across_outputs(none());
        assert_eq!(covariance.dims(), [OUTPUTS, OUTPUTS, 0, 0]);
        let draws = own.process().sample(none(), 2, 0).expect("no factor");
        assert_eq!(draws.dims(), [2, OUTPUTS, 0]);
    }
}

#[test]
fn gradients_of_predictions_flow_to_the_inputs() {
    let at = Random::new(13).points(3, 2);
    for holes in [&[][..], &HOLES[..]] {
        let data = Data::new(holes);
        let what = format!("{} holes", holes.len());
        check_gradients(&what, &[Input::from(&at)], 2e-2, &|platform, inputs| {
            let plain = platform.without_autodiff();
            let (x, y) = data.tensors(&plain);
            let process = process(&structured(&plain, Coupling::RankTwo, &y), (x, y));
            let at = inputs[0].clone().reshape([3, 2]);
            let Marginals { mean, variance } = process.marginals(at.clone());
            let joint = process.joint_across_outputs(at.clone());
            let draws = process.sample(at, 1, 3).expect("a factor");
            let of_joint = joint.mean.sin().sum() + joint.covariance.sin().sum();
            mean.sin().sum() + variance.sin().sum() + of_joint + draws.sin().sum()
        });
    }
}

/// Bit for bit.
#[test]
fn the_contents_of_holes_do_not_matter() {
    for platform in platforms() {
        let (_, y) = Data::new(&HOLES).tensors(&platform);
        let tracked = platform.autodiff();
        let value = |content: f64| {
            let model = structured(&tracked, Coupling::RankTwo, &y.clone().autodiff());
            let (x, y) = Data::with(&HOLES, content).tensors(&tracked);
            let value = model.full_objective(x, y).expect("a value");
            let gradients = parameter_gradients(&model, &value.clone().backward());
            (numbers(value), gradients)
        };
        let expected = value(NONE);
        for content in [0.0, f64::INFINITY, 1e300] {
            assert_eq!(value(content), expected, "{platform}, {content}");
        }
    }
}

/// Outputs that are noisy at the same input have independent noise, which is no Kronecker product.
#[test]
fn kernels_with_noise_use_the_dense_matrix() {
    let platform = &double_precision_platforms()[0];
    let options = platform.options();
    let (x, y) = Data::new(&[]).tensors(platform);
    let noisy = || Sum::new(kernel(options), White::new(0.2, options)).boxed();
    let (coupling, outputs) = (Coupling::RankTwo, index(Coupling::RankTwo, 0, options));
    let own = regression(noisy(), Some(outputs), coupling, platform, &y);
    let of_inputs = ActiveDimensions::new(noisy(), vec![0, 1]);
    let both = Product::new(index(coupling, 2, options), of_inputs).boxed();
    let other = regression(both, None, coupling, platform, &y);
    let value = |model: &ExactOutputs<AnyKernel>| {
        numbers(
            model
                .full_objective(x.clone(), y.clone())
                .expect("a factor"),
        )
    };
    assert_close("evidence", &value(&own), &value(&other), 1e-12);
    let own = process(&own, (x.clone(), y.clone()));
    assert!(matches!(own.process(), OutputsProcess::Entries(_)));
}
