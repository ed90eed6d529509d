//! Rows with equal inputs that are merged into one, compared with the same rows one by one.

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{Collapsed, Exact, LeaveOneOut},
    kernels::{
        AnyKernel, KernelConfig, StationaryConfig, StationaryKernel, SumConfig, WhiteConfig,
    },
    likelihoods::Gaussian,
    means::MeanConfig,
    ops::{Jitter, NotPositiveDefinite, Stationary},
    process::{ConditionedProcess, Process, WithMean},
};

use crate::support::{
    Platform, assert_close, check_module_gradients, numbers, parameter_gradients, plane, platforms,
};

/// The input of each row. None is between its copies.
const INPUTS: [usize; 13] = [2, 0, 1, 0, 3, 4, 1, 0, 2, 4, 4, 0, 4];
const ROWS: usize = INPUTS.len();
const DISTINCT: usize = 5;
const OUTPUTS: usize = 2;
const NOISE: f64 = 0.2;
const INDUCING: usize = 3;

/// How rows and their noise are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Noise {
    /// σ² alone.
    Trained,
    /// Known noise besides, equal for all copies of an input.
    OfInputs,
    /// Known noise besides, of which copies may differ.
    OfRows,
}

const NOISES: [Noise; 3] = [Noise::Trained, Noise::OfInputs, Noise::OfRows];

impl Noise {
    fn variances(self) -> Vec<f64> {
        let rows = INPUTS.iter().enumerate();
        let variance = |(row, input): (usize, &usize)| match self {
            Self::Trained => 0.0,
            Self::OfInputs => 0.1 * (input % 3) as f64,
            // The last of four copies of the last input has another noise.
            Self::OfRows => 0.1 * (input % 3) as f64 + if row == ROWS - 1 { 0.3 } else { 0.0 },
        };
        rows.map(variance).collect()
    }

    /// The number of rows after merging.
    fn merged(self) -> usize {
        DISTINCT + usize::from(self == Self::OfRows)
    }
}

/// The rows, whose targets differ between copies.
fn rows(platform: &Platform, noise: Noise) -> (Tensor<2>, Tensor<2>) {
    let points = numbers(plane(platform, DISTINCT).0);
    let inputs: Vec<f64> = (INPUTS.iter())
        .flat_map(|&input| points[2 * input..2 * input + 2].to_vec())
        .collect();
    let targets = plane(platform, ROWS).1;
    let targets = match noise {
        Noise::Trained => targets,
        _ => Tensor::cat(
            vec![targets, platform.tensor(&noise.variances(), [ROWS, 1])],
            1,
        ),
    };
    (platform.tensor(&inputs, [ROWS, 2]), targets)
}

fn kernel(platform: &Platform) -> AnyKernel {
    let config = StationaryConfig::rbf().with_lengthscale(0.8);
    KernelConfig::from(config).init(2, platform.options())
}

fn exact(platform: &Platform, noise: Noise) -> Exact<AnyKernel> {
    let mean = MeanConfig::linear().init(2, OUTPUTS, platform.options());
    let model = Exact::new(
        kernel(platform),
        mean,
        Gaussian::new(NOISE, platform.options()),
    );
    match noise {
        Noise::Trained => model,
        _ => model.with_row_noise(),
    }
}

fn collapsed(platform: &Platform, noise: Noise) -> Collapsed {
    let z = InducingPoints::new(plane(platform, INDUCING).0 * 0.9);
    let mean = MeanConfig::linear().init(2, OUTPUTS, platform.options());
    let likelihood = Gaussian::new(NOISE, platform.options());
    let model = Collapsed::new(kernel(platform), mean, likelihood, z, Jitter::NONE);
    match noise {
        Noise::Trained => model,
        _ => model.with_row_noise(),
    }
}

/// Double precision loses a few digits to the covariance of all rows, single precision four.
fn tolerance(platform: &Platform) -> f64 {
    platform.tolerance(1e-10, 1e-3)
}

fn count(process: &WithMean<ConditionedProcess>) -> usize {
    process.process().inducing().count()
}

/// Three copies of the first input and two of the last.
#[test]
fn values_are_those_of_an_independent_implementation() {
    let log_density = -3.0441001639236016;
    let bound = -5.258435652932329;
    let means = [
        0.463553857245286,
        0.39567285541203245,
        0.5088078584674551,
        0.28099394201844163,
        0.012063971743401791,
        0.2689636015036041,
    ];
    let variances = [
        0.10167780085551834,
        0.10167780085551834,
        0.10167780085551834,
        0.23291757392806597,
        0.1299432469440472,
        0.1299432469440472,
    ];
    for platform in &platforms() {
        let options = platform.options();
        let kernel = || StationaryKernel::new(Stationary::SquaredExponential, &[0.7], 0.9, options);
        let mean = || MeanConfig::zero().init(1, 1, options);
        let likelihood = || Gaussian::new(0.07, options);
        let x = platform.tensor(&[0.1, 0.1, 0.1, 0.6, 1.2, 1.2], [6, 1]);
        let y = platform.tensor(&[0.4, 0.55, 0.3, 0.9, 0.2, -0.1], [6, 1]);
        let exact = Exact::new(kernel(), mean(), likelihood()).with_merged_replicates();
        let z = InducingPoints::new(platform.tensor(&[0.3, 1.0], [2, 1]));
        let sparse = Collapsed::new(kernel(), mean(), likelihood(), z, Jitter::NONE);
        let sparse = sparse.with_merged_replicates();
        let density = exact
            .full_objective(x.clone(), y.clone())
            .expect("a factor");
        let found = sparse
            .full_objective(x.clone(), y.clone())
            .expect("a factor");
        let others = exact.leave_one_out(x, y).expect("a factor");
        for (what, found, expected) in [
            ("evidence", numbers(density), &[log_density][..]),
            ("bound", numbers(found), &[bound]),
            ("means", numbers(others.mean), &means),
            ("variances", numbers(others.variance), &variances),
        ] {
            assert_close(what, &found, expected, platform.tolerance(1e-12, 1e-4));
        }
    }
}

#[test]
fn log_densities_and_bounds_are_those_of_all_rows() {
    for platform in &platforms() {
        for noise in NOISES {
            let (x, y) = rows(platform, noise);
            let (exact, sparse) = (exact(platform, noise), collapsed(platform, noise));
            let (merged, sparsely) = (
                exact.clone().with_merged_replicates(),
                sparse.clone().with_merged_replicates(),
            );
            let process = merged.condition(x.clone(), y.clone()).expect("a process");
            assert_eq!(count(&process), noise.merged());
            let of = |found: Result<Tensor<1>, _>| numbers(found.expect("a factor"));
            let data = || (x.clone(), y.clone());
            let both = [(&exact, &sparse), (&merged, &sparsely)].map(|(exact, sparse)| {
                let ((x, y), (u, v)) = (data(), data());
                let (a, b) = (exact.full_objective(x, y), sparse.full_objective(u, v));
                let ((x, y), (u, v)) = (data(), data());
                let (c, d) = (
                    sparse.tighter_bound(x, y),
                    sparse.deterministic_training_conditional(u, v),
                );
                let (x, y) = data();
                let e = sparse.fully_independent_training_conditional(x, y);
                [of(a), of(b), of(c), of(d), of(e)].concat()
            });
            let what = format!("{noise:?} on {platform}");
            assert_close(&what, &both[1], &both[0], tolerance(platform));
        }
    }
}

/// The gradients of an objective with respect to all parameters of a model.
fn gradients<M: Module>(
    model: &M,
    objective: impl Fn(&M) -> Result<Tensor<1>, NotPositiveDefinite>,
) -> Vec<f64> {
    let gradients = objective(model).expect("a factor").backward();
    parameter_gradients(model, &gradients).concat()
}

/// Also with an objective for each of several models.
#[test]
fn gradients_are_those_of_all_rows() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        for noise in NOISES {
            let (x, y) = rows(&tracked, noise);
            let same = |what: &str, [each, merged]: [Vec<f64>; 2]| {
                let what = format!("{what}, {noise:?} on {platform}");
                assert_close(&what, &merged, &each, tolerance(&platform));
            };
            let model = exact(&tracked, noise);
            let models = [model.clone(), model.with_merged_replicates()];
            same(
                "exact",
                models.map(|own| gradients(&own, |own| own.full_objective(x.clone(), y.clone()))),
            );
            let model = collapsed(&tracked, noise);
            let models = [model.clone(), model.with_merged_replicates()];
            same(
                "collapsed",
                models.map(|own| gradients(&own, |own| own.full_objective(x.clone(), y.clone()))),
            );
        }
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    let noise = Noise::OfInputs;
    let build = |platform: &Platform| exact(platform, noise).with_merged_replicates();
    check_module_gradients("exact", (1e-6, 1e-2), build, |platform, model| {
        let (x, y) = rows(platform, noise);
        model.full_objective(x, y).expect("a factor")
    });
    let build = |platform: &Platform| collapsed(platform, noise).with_merged_replicates();
    check_module_gradients("collapsed", (1e-6, 1e-2), build, |platform, model| {
        let (x, y) = rows(platform, noise);
        model.full_objective(x, y).expect("a factor")
    });
}

#[test]
fn objectives_of_several_models_are_those_of_each() {
    for platform in &platforms() {
        let (x, y) = rows(platform, Noise::Trained);
        let models = [0.1, 0.4].map(|noise| {
            let mean = MeanConfig::zero().init(2, OUTPUTS, platform.options());
            Exact::new(
                kernel(platform),
                mean,
                Gaussian::new(noise, platform.options()),
            )
        });
        let merged = models.clone().map(Exact::with_merged_replicates);
        let both = [&models, &merged].map(|models| {
            numbers(Exact::full_objectives(models, x.clone(), y.clone()).expect("factors"))
        });
        let what = format!("{platform}");
        assert_close(&what, &both[1], &both[0], tolerance(platform));
    }
}

#[test]
fn predictions_are_those_of_all_rows() {
    for platform in &platforms() {
        let new = platform.tensor(&[0.3, -0.4, 1.1, 0.9], [2, 2]);
        for noise in NOISES {
            let (x, y) = rows(platform, noise);
            let (exact, sparse) = (exact(platform, noise), collapsed(platform, noise));
            let (merged, sparsely) = (
                exact.clone().with_merged_replicates(),
                sparse.clone().with_merged_replicates(),
            );
            let both = [(&exact, &sparse), (&merged, &sparsely)].map(|(exact, sparse)| {
                let exact = exact.condition(x.clone(), y.clone()).expect("a process");
                let sparse = sparse.condition(x.clone(), y.clone()).expect("a process");
                // A further row, once more at an old input.
                let at = x.clone().narrow(0, 0, 1);
                let target = y.clone().narrow(0, 1, 1).narrow(1, 0, OUTPUTS);
                let variance = platform.tensor(&[0.3], [1, 1]).squeeze_dim(1);
                let more = exact.condition_on_observations(at, target, variance);
                let joints = [
                    exact.joint(new.clone()),
                    sparse.joint(new.clone()),
                    more.expect("a process").joint(new.clone()),
                ];
                let each = joints.map(|own| [numbers(own.mean), numbers(own.covariance)].concat());
                each.concat()
            });
            let what = format!("{noise:?} on {platform}");
            assert_close(&what, &both[1], &both[0], tolerance(platform));
        }
    }
}

fn assert_same(what: &str, platform: &Platform, found: &LeaveOneOut, expected: &LeaveOneOut) {
    // In single precision the differences of covariances lose four digits.
    let tolerance = platform.tolerance(1e-10, 2e-3);
    let [found, expected] =
        [found, expected].map(|own| (numbers(own.mean.clone()), numbers(own.variance.clone())));
    let what = format!("{what} on {platform}");
    assert_close(&what, &found.0, &expected.0, tolerance);
    assert_close(&what, &found.1, &expected.1, tolerance);
}

#[test]
fn each_copy_is_left_out_by_itself() {
    for platform in &platforms() {
        for noise in NOISES {
            let (x, y) = rows(platform, noise);
            let (exact, sparse) = (exact(platform, noise), collapsed(platform, noise));
            let expected = exact.leave_one_out(x.clone(), y.clone()).expect("a factor");
            let exact = exact.with_merged_replicates();
            let found = exact.leave_one_out(x.clone(), y.clone()).expect("a factor");
            assert_same("exact", platform, &found, &expected);
            let expected = sparse
                .leave_one_out(x.clone(), y.clone())
                .expect("a factor");
            let found = sparse.with_merged_replicates().leave_one_out(x, y);
            assert_same("collapsed", platform, &found.expect("a factor"), &expected);
        }
    }
}

/// Each row by itself, all copies of an input, and folds that share copies.
#[test]
fn folds_are_left_out_as_from_all_rows() {
    let folds = [
        (0..ROWS).collect::<Vec<_>>(),
        INPUTS.to_vec(),
        vec![0, 1, 2, 0, 0, 1, 1, 2, 2, 0, 1, 2, 0],
    ];
    for platform in &platforms() {
        let new = platform.tensor(&[0.3, -0.4, 1.1, 0.9], [2, 2]);
        for (noise, folds) in NOISES.into_iter().flat_map(|noise| {
            let each = folds.iter();
            each.map(move |folds| (noise, folds))
        }) {
            let (x, y) = rows(platform, noise);
            let exact = exact(platform, noise);
            let merged = exact.clone().with_merged_replicates();
            let [found, expected] = [&merged, &exact].map(|model| {
                let folds = model.leave_folds_out(x.clone(), y.clone(), folds);
                folds.expect("a factor")
            });
            assert_same("targets", platform, found.targets(), expected.targets());
            let [found, expected] = [found, expected].map(|own| {
                let at = own.at(new.clone());
                let densities = numbers(own.log_density());
                [numbers(at.mean), numbers(at.variance), densities].concat()
            });
            let what = format!("{noise:?}, {folds:?} on {platform}");
            assert_close(&what, &found, &expected, platform.tolerance(1e-10, 3e-3));
        }
    }
}

/// The mean `ȳ_i − α̃_i/C̃_ii` and the latent variance `1/C̃_ii − σ²/a_i` without all copies of an input.
#[test]
fn copies_of_an_input_are_left_out_together_in_closed_form() {
    for platform in &platforms() {
        let (x, y) = rows(platform, Noise::Trained);
        let merged = exact(platform, Noise::Trained).with_merged_replicates();
        let folds = merged.leave_folds_out(x.clone(), y.clone(), &INPUTS);
        let folds = folds.expect("a factor");
        // The means, each with the noise of a mean, are rows of their own.
        let points = plane(platform, DISTINCT).0;
        let targets = numbers(y);
        let mut means = vec![0.0; DISTINCT * OUTPUTS];
        let counts = (0..DISTINCT)
            .map(|input| INPUTS.iter().filter(|&&own| own == input).count() as f64)
            .collect::<Vec<_>>();
        for (row, &input) in INPUTS.iter().enumerate() {
            for output in 0..OUTPUTS {
                means[OUTPUTS * input + output] += targets[OUTPUTS * row + output] / counts[input];
            }
        }
        let extra: Vec<f64> = counts.iter().map(|count| NOISE / count).collect();
        let means = platform.tensor(&means, [DISTINCT, OUTPUTS]);
        let of_means = Tensor::cat(vec![means, platform.tensor(&extra, [DISTINCT, 1])], 1);
        // Almost no noise besides that of the means.
        let tiny = platform.tolerance(1e-12, 1e-7);
        let mean = MeanConfig::linear().init(2, OUTPUTS, platform.options());
        let model = Exact::new(
            kernel(platform),
            mean,
            Gaussian::new(tiny, platform.options()),
        );
        let others = model.with_row_noise().leave_one_out(points, of_means);
        let others = others.expect("a factor");
        let (mean, variance) = (numbers(others.mean), numbers(others.variance));
        let (mut means, mut variances) = (Vec::new(), Vec::new());
        for input in INPUTS {
            means.extend(&mean[OUTPUTS * input..][..OUTPUTS]);
            variances.push(variance[input] - NOISE / counts[input] + NOISE);
        }
        let tolerance = platform.tolerance(1e-9, 3e-3);
        let found = folds.targets();
        assert_close("means", &numbers(found.mean.clone()), &means, tolerance);
        let own = numbers(found.variance.clone());
        assert_close("variances", &own, &variances, tolerance);
    }
}

/// Nothing changes in the last bit: the rows are not merged.
#[test]
fn few_copies_and_kernels_with_noise_leave_rows_as_they_are() {
    for platform in &platforms() {
        let (x, y) = rows(platform, Noise::Trained);
        let white = WhiteConfig { variance: 0.3 };
        let sum = SumConfig {
            first: StationaryConfig::rbf().into(),
            second: white.into(),
        };
        let noisy = KernelConfig::from(sum).init(2, platform.options());
        let mean = || MeanConfig::zero().init(2, OUTPUTS, platform.options());
        let likelihood = || Gaussian::new(NOISE, platform.options());
        let noisy = Exact::new(noisy, mean(), likelihood());
        let few = Exact::new(kernel(platform), mean(), likelihood());
        // Twenty rows, one of which is there twice.
        let (some, targets) = plane(platform, 20);
        let some = Tensor::cat(vec![some.clone().narrow(0, 0, 19), some.narrow(0, 3, 1)], 0);
        for (what, model, x, y) in [("white", noisy, x, y), ("few", few, some, targets)] {
            let merged = model.clone().with_merged_replicates();
            let [found, expected] = [&merged, &model].map(|model| {
                numbers(
                    model
                        .full_objective(x.clone(), y.clone())
                        .expect("a factor"),
                )
            });
            assert_eq!(found, expected, "{what} on {platform}");
            let [rows, _] = x.dims();
            let process = merged.condition(x, y).expect("a process");
            assert_eq!(count(&process), rows, "{what} on {platform}");
        }
    }
}

/// Each copy has its own gradient.
#[test]
fn gradients_of_inputs_are_those_of_each_row() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        let (x, y) = rows(&tracked, Noise::Trained);
        let model = exact(&tracked, Noise::Trained);
        let merged = model.clone().with_merged_replicates();
        let [found, expected] = [&merged, &model].map(|model| {
            let x = x.clone().require_grad();
            let objective = model.full_objective(x.clone(), y.clone());
            let gradients = objective.expect("a factor").backward();
            numbers(x.grad(&gradients).expect("a gradient"))
        });
        assert_eq!(found, expected, "{platform}");
        assert!(found[2..4] != found[6..8], "copies have different targets");
    }
}
