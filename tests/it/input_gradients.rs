//! Gradients of predictions and draws with respect to the inputs, through conditioned processes.

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    inducing::{InducingPatches, InducingPoints, Nystrom},
    inference::{
        BlockActions, Collapsed, CollapsedOrthogonal, ComputationAware, ConditionError,
        ConjugateGradients, ConjugateGradientsSettings, Exact, LowRankRegression,
    },
    kernels::{AnyKernel, Basis, Convolutional, Kernel, Kernels, StationaryConfig},
    layers::{GpLayer, Layer, LayerNoise, PatchLayer, Stack},
    likelihoods::Gaussian,
    means::{LinearMean, MeanConfig, ZeroMean},
    ops::{Blocks, Jitter, Stationary},
    patches::{ImageShape, PatchGrid},
    process::{AnyProcess, Joint, Marginals, Mixture, Process, VarianceCorrection, WithMean},
    sampling::{PathOptions, SamplePaths},
    variational::{
        AnyPosterior, InverseFreeConfig, LSvgpConfig, Posterior, PosteriorName,
        PseudoObservationsConfig, Whitened,
    },
};

use crate::support::{
    Dense, Input, Platform, Random, check_gradients, check_gradients_to, kernel_registry,
    low_rank_case::Waves,
    module_gradients::{parameter_values, with_parameter_values},
    platforms,
    posterior_case::{Case, DIMENSIONS, INDUCING, kernel},
};

/// The number of new inputs.
const ROWS: usize = 4;

/// The relative error allowed in single precision.
const SINGLE: f64 = 2e-2;

/// Fixed weights of either sign, which no symmetry cancels.
fn weights<const D: usize>(like: &Tensor<D>) -> Tensor<D> {
    let shape = like.dims();
    let count = shape.iter().product::<usize>();
    let values = (0..count).map(|index| (1.7 * index as f64 + 0.6).sin());
    let values: Vec<f64> = values.collect();
    let data = burn::tensor::TensorData::new(values, shape);
    Tensor::from_data(data, (&like.device(), like.dtype()))
}

/// Means, variances and a quantity made of both, as an acquisition function is.
fn of_marginals(Marginals { mean, variance }: Marginals) -> Tensor<1> {
    let score = (mean.clone() / (variance.clone() + 0.1).sqrt()).tanh();
    (mean.clone() * weights(&mean)).sum()
        + (variance.clone() * weights(&variance)).sum()
        + (score.clone() * weights(&score)).sum()
}

/// Means and covariances.
fn of_joint(Joint { mean, covariance }: Joint) -> Tensor<1> {
    (mean.clone() * weights(&mean)).sum() + (covariance.clone() * weights(&covariance)).sum()
}

/// New inputs of `dimensions` dimensions.
fn inputs(dimensions: usize) -> Dense {
    Random::new(613).points(ROWS, dimensions)
}

/// Checks the gradients of the marginals, the joint distribution and a sample at given inputs.
#[track_caller]
fn check_process<P: Process>(what: &str, x: &Dense, make: impl Fn(&Platform) -> P) {
    let (shape, given) = ([x.rows, x.columns], [Input::from(x)]);
    let at = |inputs: &[Tensor<1>]| inputs[0].clone().reshape(shape);
    check_gradients(
        &format!("{what}, marginals"),
        &given,
        SINGLE,
        &|platform, inputs| of_marginals(make(&platform.without_autodiff()).marginals(at(inputs))),
    );
    check_gradients(
        &format!("{what}, joint"),
        &given,
        SINGLE,
        &|platform, inputs| of_joint(make(&platform.without_autodiff()).joint(at(inputs))),
    );
    // A sample is the root of a covariance times noise: rounding is divided by its eigenvalues.
    let tolerances = (1e-5, 5e-2);
    check_gradients_to(
        &format!("{what}, sample"),
        &given,
        tolerances,
        &|platform, inputs| {
            let process = make(&platform.without_autodiff());
            let draws = process.sample(at(inputs), 2, 5).expect("a factor");
            (draws.clone() * weights(&draws)).sum()
        },
    );
}

/// Moves every parameter of a posterior away from the prior.
fn moved<M: Module>(module: M) -> M {
    let moved: Vec<Vec<f64>> = (parameter_values(&module).into_iter().zip(1..))
        .map(|(values, number)| {
            let values = values.into_iter().enumerate();
            let shift = |index: usize| 0.15 * (2.3 * index as f64 + f64::from(number)).sin();
            values.map(|(index, value)| value + shift(index)).collect()
        })
        .collect();
    with_parameter_values(module, &moved)
}

/// A posterior by its name, with values that are not those of the prior.
fn posterior(
    platform: &Platform,
    name: &PosteriorName,
    kernel: &Kernels,
    outputs: usize,
) -> AnyPosterior {
    // The default variance of pseudo-observations depends on the precision, so this is another.
    let observations = PseudoObservationsConfig::default().with_variance(1e-2);
    let mut config = name.config();
    if let Some(own) = config.downcast_ref::<LSvgpConfig>() {
        config = own.with_observations(observations).into();
    } else if let Some(own) = config.downcast_ref::<InverseFreeConfig>() {
        config = own.with_observations(observations).into();
    }
    let sets = if config.has_orthogonal_set() { 2 } else { 1 };
    let mut random = Random::new(77);
    let mut set = || InducingPoints::new(platform.matrix(&random.points(INDUCING, DIMENSIONS)));
    let sets = (0..sets).map(|_| set()).collect::<Vec<_>>();
    let (jitter, options) = (Jitter::INDUCING, platform.options());
    let posterior = config.init(sets, kernel, outputs, jitter, options);
    let mut posterior = moved(posterior.expect("a factor"));
    posterior.synchronize(kernel);
    posterior
}

fn smooth(platform: &Platform, lengthscale: f64) -> AnyKernel {
    let config = StationaryConfig::new(Stationary::Matern52).with_lengthscale(lengthscale);
    config.init(DIMENSIONS, platform.options()).boxed()
}

/// The kernel of regressions.
fn alone(platform: &Platform) -> AnyKernel {
    kernel(platform).first().clone()
}

/// Makes the kernels on a platform.
type Make<'a> = &'a dyn Fn(&Platform) -> Kernels;

#[test]
fn of_every_posterior_with_shared_and_with_separate_kernels() {
    for name in PosteriorName::all() {
        let shared = |platform: &Platform| Kernels::from(smooth(platform, 0.9));
        let separate = |platform: &Platform| {
            let kernels = [0.9, 1.3].map(|lengthscale| smooth(platform, lengthscale));
            Kernels::separate(kernels)
        };
        let kernels: [(&str, Make<'_>); 2] = [("shared", &shared), ("separate", &separate)];
        for (form, kernels) in kernels {
            let what = format!("{}, {form} kernels", name.name());
            check_process(&what, &inputs(DIMENSIONS), |platform| {
                let kernels = kernels(platform);
                let posterior = posterior(platform, &name, &kernels, 2);
                posterior.condition(&kernels).expect("a factor")
            });
        }
    }
}

/// Twelve rows of data.
fn data(platform: &Platform) -> (Tensor<2>, Tensor<2>) {
    let mut random = Random::new(271);
    let (x, y) = (random.points(12, DIMENSIONS), random.matrix(12, 1));
    (platform.matrix(&x), platform.matrix(&y))
}

fn linear_mean(platform: &Platform) -> LinearMean {
    let weights = Dense::new(DIMENSIONS, 1, vec![0.3, -0.8]);
    LinearMean::new(platform.matrix(&weights), platform.tensor(&[0.4], [1]))
}

/// Checks the process that `condition` makes of a regression and the data.
#[track_caller]
fn check_regression<P: Process>(
    what: &str,
    condition: impl Fn(&Platform, (Tensor<2>, Tensor<2>)) -> Result<P, ConditionError>,
) {
    check_process(what, &inputs(DIMENSIONS), |platform| {
        condition(platform, data(platform)).expect("a factor")
    });
}

fn noise(platform: &Platform) -> Gaussian {
    Gaussian::new(0.2, platform.options())
}

#[test]
fn of_exact_and_sparse_regression() {
    check_regression("exact", |platform, (x, y)| {
        let exact = Exact::new(alone(platform), linear_mean(platform), noise(platform));
        exact.condition(x, y)
    });
    let case = Case::new(1);
    check_regression("sgpr", |platform, (x, y)| {
        let (kernel, inducing) = (alone(platform), case.inducing(platform));
        let mean = linear_mean(platform);
        Collapsed::new(kernel, mean, noise(platform), inducing, Jitter::INDUCING).condition(x, y)
    });
    check_regression("collapsed solve", |platform, (x, y)| {
        let (kernel, inducing) = (alone(platform), case.inducing(platform));
        let others = Random::new(3).points(5, DIMENSIONS);
        let others = InducingPoints::new(platform.matrix(&others));
        let (mean, noise) = (linear_mean(platform), noise(platform));
        CollapsedOrthogonal::new(kernel, mean, noise, inducing, others, Jitter::INDUCING)
            .condition(x, y)
    });
}

#[test]
fn of_computation_aware_regression() {
    check_regression("computation-aware", |platform, (x, y)| {
        let values = platform.tensor(&Random::new(31).normals(12), [12]);
        let actions = BlockActions::new(Blocks::new(12, 4), values);
        ComputationAware::new(
            alone(platform),
            linear_mean(platform),
            noise(platform),
            actions,
        )
        .condition(x, y)
    });
}

/// Variances by new solves, and from cached directions.
#[test]
fn of_regression_by_conjugate_gradients() {
    for cached_variances in [None, Some(12), Some(5)] {
        check_regression(
            &format!("conjugate gradients, {cached_variances:?}"),
            |platform, (x, y)| {
                let settings = ConjugateGradientsSettings {
                    iterations: 200,
                    // The gradient of a variance assumes that the solve has converged.
                    tolerance: platform.tolerance(1e-13, 1e-6),
                    cached_variances,
                    rank: Some(3),
                    ..ConjugateGradientsSettings::default()
                };
                let mean = linear_mean(platform);
                ConjugateGradients::new(alone(platform), mean, noise(platform), settings)
                    .condition(x, y)
            },
        );
    }
}

#[test]
fn of_regression_of_low_rank() {
    let correction = VarianceCorrection::default();
    check_process("basis", &inputs(1), |platform| {
        let mut random = Random::new(271);
        let (x, y) = (random.points(12, 1), random.matrix(12, 1));
        let (kernel, mean) = (Basis::new(Waves { rank: 3 }), ZeroMean::new(1));
        LowRankRegression::new(kernel, mean, noise(platform), correction)
            .condition(platform.matrix(&x), platform.matrix(&y))
            .expect("a factor")
    });
    check_regression("nyström", |platform, (x, y)| {
        let inducing = Case::new(1).inducing(platform);
        let kernel = Nystrom::new(alone(platform), inducing, Jitter::INDUCING);
        LowRankRegression::new(kernel, linear_mean(platform), noise(platform), correction)
            .condition(x, y)
    });
}

/// A kernel enters a process by its covariances with inducing points, its variances and its matrix.
#[test]
fn of_every_kernel() {
    let dimensions = kernel_registry::DIMENSIONS;
    for (name, config) in kernel_registry::registry() {
        if !kernel_registry::sees_inputs(&config) {
            continue;
        }
        let x = inputs(dimensions);
        let (shape, given) = ([ROWS, dimensions], [Input::from(&x)]);
        let process = |platform: &Platform| {
            let platform = platform.without_autodiff();
            let mut random = Random::new(89);
            let (x, y) = (random.points(6, dimensions), random.matrix(6, 1));
            let kernel = config.init(dimensions, platform.options());
            Exact::new(kernel, ZeroMean::new(1), noise(&platform))
                .condition(platform.matrix(&x), platform.matrix(&y))
                .expect("a factor")
        };
        check_gradients(&name, &given, SINGLE, &|platform, inputs| {
            let (process, x) = (process(platform), inputs[0].clone().reshape(shape));
            of_marginals(process.marginals(x.clone())) + of_joint(process.joint(x))
        });
    }
}

/// Draws that can be evaluated anywhere, of every posterior, shifted and mixed.
#[test]
fn of_draws() {
    let mixing = Dense::new(3, 2, vec![1.0, 0.3, -0.7, 0.9, 0.4, -1.6]);
    for name in PosteriorName::all() {
        let x = inputs(DIMENSIONS);
        let (shape, given) = ([ROWS, DIMENSIONS], [Input::from(&x)]);
        check_gradients(name.name(), &given, SINGLE, &|platform, inputs| {
            let platform = platform.without_autodiff();
            let kernels = Kernels::from(smooth(&platform, 0.9));
            let posterior = posterior(&platform, &name, &kernels, 2);
            let process = posterior.condition(&kernels).expect("a factor");
            let process = Mixture::new(process, platform.matrix(&mixing));
            let weights = Dense::new(DIMENSIONS, 3, vec![0.3, -0.2, 0.1, 0.8, 0.7, -0.4]);
            let constant = platform.tensor(&[1.0, -1.0, 0.5], [3]);
            let mean = LinearMean::new(platform.matrix(&weights), constant);
            let process = WithMean::new(process, mean);
            let options = PathOptions::new(2).with_frequencies(50);
            let paths = process.paths(options).expect("a stationary kernel");
            let draws = paths.evaluate(inputs[0].clone().reshape(shape));
            (draws.clone() * self::weights(&draws)).sum()
        });
    }
}

type AnyDense = GpLayer;

fn layer(platform: &Platform, outputs: usize, mean: &MeanConfig) -> AnyDense {
    let kernels = Kernels::from(smooth(platform, 1.1));
    let name = PosteriorName::find("whitened").expect("it is registered");
    let posterior = posterior(platform, &name, &kernels, outputs);
    let mean = mean.init(DIMENSIONS, outputs, platform.options());
    GpLayer::new(kernels, mean, posterior)
}

/// The components of a deep process, and its joint samples.
#[test]
fn of_deep_processes() {
    let x = inputs(DIMENSIONS);
    let (shape, given) = ([ROWS, DIMENSIONS], [Input::from(&x)]);
    let process = |platform: &Platform| {
        let platform = platform.without_autodiff();
        let hidden = layer(&platform, DIMENSIONS, &MeanConfig::identity());
        let output = layer(&platform, 1, &MeanConfig::linear());
        let noise = LayerNoise {
            training: 1,
            prediction: 5,
            seed: 2,
        };
        let stack = Stack::new(vec![hidden], output, noise);
        stack.condition().expect("a factor")
    };
    check_gradients("deep, components", &given, SINGLE, &|platform, inputs| {
        let components = process(platform).components(inputs[0].clone().reshape(shape));
        of_marginals(Marginals::of_mixture(components).expect("some"))
    });
    check_gradients("deep, layer means", &given, SINGLE, &|platform, inputs| {
        let means = process(platform).layer_means(inputs[0].clone().reshape(shape));
        let sums = means
            .into_iter()
            .map(|mean| (mean.clone() * weights(&mean)).sum());
        Tensor::cat(sums.collect(), 0).sum()
    });
    // See `check_process`.
    let tolerances = (1e-5, 5e-2);
    check_gradients_to("deep, draws", &given, tolerances, &|platform, inputs| {
        let x = inputs[0].clone().reshape(shape);
        let draws = process(platform).draws(x, 2, 3).expect("a factor");
        (draws.clone() * weights(&draws)).sum()
    });
}

/// Processes of images: a feature map, and a sum over patches.
#[test]
fn of_layers_on_images() {
    let image = ImageShape {
        height: 2,
        width: 3,
        channels: 1,
    };
    let images = Random::new(5).points(ROWS, image.len());
    let grid = |columns| PatchGrid::new(image, columns, 1).expect("patches in the image");
    check_process("patches", &images, |platform| {
        let kernel = StationaryConfig::new(Stationary::Matern52).init(4, platform.options());
        let mut random = Random::new(7);
        let points = InducingPoints::new(platform.matrix(&random.points(INDUCING, 4)));
        let distribution = Case::new(2).distribution(platform);
        let posterior = Whitened::new(points, distribution, Jitter::INDUCING);
        let layer = GpLayer::new(kernel, ZeroMean::new(2), posterior);
        let layer = PatchLayer::new(layer, grid(2));
        layer.condition().expect("a factor")
    });
    check_process("convolutional", &images, |platform| {
        let base = StationaryConfig::new(Stationary::SquaredExponential);
        let base = base.init(4, platform.options());
        let kernel = Convolutional::new(base, grid(2), platform.options());
        let mut random = Random::new(7);
        let patches = InducingPatches::new(platform.matrix(&random.points(INDUCING, 4)));
        let distribution = Case::new(1).distribution(platform);
        let posterior = Whitened::new(patches, distribution, Jitter::INDUCING);
        posterior.condition(&kernel.into()).expect("a factor")
    });
}

/// The parameters of the posterior are constants of its process.
#[test]
fn parameters_of_a_process_have_no_gradients() {
    for platform in platforms() {
        let case = Case::new(1);
        let tracked = platform.autodiff();
        let posterior = case.whitened(&tracked);
        let process = posterior.condition(&kernel(&tracked)).expect("a factor");
        let x = tracked.matrix(&inputs(DIMENSIONS)).require_grad();
        let gradients = of_marginals(process.marginals(x.clone())).backward();
        assert!(x.grad(&gradients).is_some(), "{platform}");
        let points = posterior.inducing().inputs().expect("points");
        assert!(points.grad(&gradients).is_none(), "{platform}");
    }
}
