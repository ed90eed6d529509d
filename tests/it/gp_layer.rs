//! Layers made from configurations, inside networks that burn's own tools train and save.

use burn::{
    module::{Module, ParamGroup},
    nn::{Linear, LinearConfig},
    optim::{AdamConfig, GradientsParams, ModuleOptimizer},
    tensor::{DType, Tensor},
};
use burn_gp_core::{
    inducing::SetsError,
    kernels::{LinearConfig as LinearKernelConfig, StationaryConfig},
    layers::{
        BasisLayerConfig, ConvGpLayerConfig, GpLayer, GpLayerConfig, Layer, LayerError,
        PatchLayerConfig,
    },
    likelihoods::{Gaussian, Likelihood},
    means::MeanConfig,
    ops::{Jitter, Stationary},
    parameter::Role,
    patches::ImageShape,
    process::Process,
    variational::{Evaluation, PosteriorName},
};

use crate::support::{
    Dense, Platform, Random, assert_close, numbers, panics::assert_names, parameter_values,
    platforms,
};

const ROWS: usize = 40;

/// A network author's module: a body, a head and, in this order, an absent and two present layers.
#[derive(Module, Debug)]
struct Net {
    body: Linear,
    head: GpLayer,
    absent: Option<GpLayer>,
    more: Vec<GpLayer>,
    likelihood: Gaussian,
}

impl Net {
    fn new(platform: &Platform, head: &GpLayerConfig) -> Self {
        platform.device.seed(3);
        let more = GpLayerConfig::new(2, 1).with_inducing(4);
        let net = Self {
            body: LinearConfig::new(3, 2).init(&platform.device),
            head: head.init(platform.options()),
            absent: None,
            more: vec![more.init(platform.options()), more.init(platform.options())],
            likelihood: Gaussian::new(0.3, platform.options()),
        };
        let body = platform.matrix(&Random::new(5).matrix(3, 2));
        Self {
            body: Linear {
                weight: net.body.weight.map(|_| body.require_grad()),
                bias: None,
            },
            ..net
        }
    }

    fn loss(&self, (x, y): (Tensor<2>, Tensor<2>)) -> Tensor<1> {
        let features = self.body.forward(x);
        let Evaluation {
            mut marginals,
            mut kl,
        } = self.head.evaluate(features.clone()).expect("a factor");
        for layer in self.more.iter().chain(&self.absent) {
            let values = layer.evaluate(features.clone()).expect("a factor");
            marginals.mean = marginals.mean + values.marginals.mean;
            marginals.variance = marginals.variance + values.marginals.variance;
            kl = kl + values.kl;
        }
        self.likelihood.negative_elbo(y, marginals, kl, 10 * ROWS)
    }

    /// One step, with the hook of the head.
    fn step(self, optimizer: &mut ModuleOptimizer, batch: (Tensor<2>, Tensor<2>)) -> (Self, f64) {
        let loss = self.loss(batch);
        let gradients = GradientsParams::from_grads(loss.backward(), &self);
        let mut net = optimizer.step(0.02, self, gradients);
        net.head.after_step();
        (net, numbers(loss)[0])
    }
}

fn batch(platform: &Platform) -> (Tensor<2>, Tensor<2>) {
    let x = Random::new(11).points(ROWS, 3);
    let y = Dense::from_function(ROWS, 1, |row, _| {
        let x = x.row(row);
        (x[0] - 0.5 * x[1]).sin() + 0.2 * x[2]
    });
    (platform.matrix(&x), platform.matrix(&y))
}

/// The configuration of a head for every registered posterior.
fn heads() -> Vec<(&'static str, GpLayerConfig)> {
    let head = |name: PosteriorName| {
        let posterior = name.config();
        let orthogonal = if posterior.has_orthogonal_set() { 5 } else { 0 };
        let head = GpLayerConfig::new(2, 1)
            .with_inducing(8)
            .with_orthogonal(orthogonal)
            .with_posterior(posterior);
        (name.name(), head)
    };
    PosteriorName::all().map(head).collect()
}

/// A hand-written loop with burn's optimizer lowers the loss, for every posterior.
#[test]
fn trains_in_a_loop_of_burns_tools_with_every_posterior() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        for (name, head) in heads() {
            let mut net = Net::new(&tracked, &head);
            net.head.synchronize();
            let mut optimizer = AdamConfig::new().init();
            let mut losses = Vec::new();
            for _ in 0..30 {
                let (next, loss) = net.step(&mut optimizer, batch(&tracked));
                net = next;
                losses.push(loss);
            }
            assert!(
                losses[29] < losses[0] - 0.02,
                "{name} on {platform}: {losses:?}"
            );
        }
    }
}

/// A record carries the whole layer, also into a network that was made with another seed.
#[test]
fn records_restore_the_layer() {
    for platform in platforms() {
        for (name, head) in heads() {
            let tracked = platform.autodiff();
            let mut net = Net::new(&tracked, &head);
            let mut optimizer = AdamConfig::new().init();
            for _ in 0..2 {
                net = net.step(&mut optimizer, batch(&tracked)).0;
            }
            let folder = std::env::temp_dir().join(format!(
                "burn-gp-layer-{name}-{}-{:?}",
                std::process::id(),
                platform.dtype
            ));
            std::fs::create_dir_all(&folder).expect("a writable folder");
            let file = folder.join("net");
            net.clone().save_file(&file).expect("a writable folder");
            let other = Net::new(&tracked, &head.with_seed(9));
            let restored = other.load_file(&file);
            assert_eq!(
                parameter_values(&restored),
                parameter_values(&net),
                "{name}"
            );
            let x = batch(&platform).0.narrow(1, 0, 2);
            let predict = |net: &Net| {
                let process = net.head.condition().expect("a factor");
                numbers(process.marginals(x.clone()).mean)
            };
            assert_eq!(predict(&restored), predict(&net), "{name} on {platform}");
            // Parameters are read when they are first used.
            std::fs::remove_dir_all(&folder).expect("a folder");
        }
    }
}

/// burn's parameter groups find the inducing points: they get an optimizer of their own, or are
/// frozen while everything else moves. At the prior, the loss does not depend on whitened points, so
/// the first step leaves them where they are.
#[test]
fn optimizer_groups_hold_the_inducing_points() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        let (_, head) = heads().swap_remove(0);
        let start = Net::new(&tracked, &head);
        let points = |net: &Net| {
            let sets = net.head.posterior().inducing();
            numbers(sets[0].inputs().expect("points"))
        };
        let weights = |net: &Net| numbers(net.body.weight.val());
        let group: ParamGroup = Role::Inducing.group(&start);
        let adam = AdamConfig::new();
        let after_steps = |mut net: Net| {
            let own = adam.build();
            let mut optimizer = adam.init().with_group(group.clone(), own, None);
            for _ in 0..3 {
                net = net.step(&mut optimizer, batch(&tracked)).0;
            }
            net
        };
        let moved = after_steps(start.clone());
        assert_ne!(points(&moved), points(&start), "{platform}");
        let held = after_steps(start.clone().freeze_group(group.clone()));
        assert_eq!(points(&held), points(&start), "{platform}");
        assert_ne!(weights(&held), weights(&start), "{platform}");
    }
}

/// Points are those of a cluster center each, the given ones, or a cloud of unit variance.
#[test]
fn inducing_points_are_placed_as_asked() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        let features = Dense::from_function(30, 2, |row, column| {
            let center = [[8.0, 1.0], [-6.0, 2.0], [0.0, -9.0]][row % 3][column];
            center + 0.01 * (row / 3) as f64
        });
        let config = GpLayerConfig::new(2, 2).with_inducing(3);
        let placed = config
            .init_from(&tracked.matrix(&features))
            .expect("three clusters");
        let points = |layer: &GpLayer| {
            let sets = layer.posterior().inducing();
            sets.into_iter()
                .map(|set| set.inputs().expect("points"))
                .collect::<Vec<_>>()
        };
        assert!(points(&placed)[0].is_autodiff(), "{platform}");
        let mut first: Vec<f64> = numbers(points(&placed)[0].clone().narrow(1, 0, 1));
        first.sort_by(f64::total_cmp);
        let expected = [-6.0, 0.0, 8.0].map(|center| center + 0.045);
        assert_close(
            "centers",
            &first,
            &expected,
            platform.tolerance(1e-12, 1e-6),
        );

        let given = platform.matrix(&Random::new(3).points(5, 2));
        let layer = config
            .init_at(vec![given.clone()])
            .expect("distinct points");
        assert_eq!(numbers(points(&layer)[0].clone()), numbers(given));

        let cloud = GpLayerConfig::new(3, 1)
            .with_inducing(64)
            .init(platform.options());
        let cloud = points(&cloud)[0].clone();
        assert_eq!((cloud.dims(), cloud.dtype()), ([64, 3], platform.dtype));
        let squares = numbers(cloud.square().mean_dim(0));
        assert_close(
            "squares",
            &squares,
            &[1.0; 3],
            platform.tolerance(1e-12, 1e-5),
        );
    }
}

#[test]
fn the_divergence_alone_is_that_of_an_evaluation() {
    for platform in platforms() {
        for (name, head) in heads() {
            let mut layer = head.with_deviation(0.5).init(platform.options());
            layer.synchronize();
            let x = platform.matrix(&Random::new(3).points(6, 2));
            let expected = numbers(layer.evaluate(x).expect("a factor").kl);
            let found = numbers(layer.kl().expect("a factor"));
            assert_close(name, &found, &expected, platform.tolerance(1e-12, 1e-5));
        }
    }
}

/// The loss is the bound of all data per datum.
#[test]
fn the_loss_is_the_negative_bound_per_datum() {
    for platform in platforms() {
        let layer = GpLayerConfig::new(3, 1)
            .with_inducing(6)
            .with_deviation(0.7);
        let layer = layer.init(platform.options());
        let (x, y) = batch(&platform);
        let Evaluation { marginals, kl } = layer.evaluate(x).expect("a factor");
        let likelihood = Gaussian::new(0.3, platform.options());
        let expected = likelihood.expected_log_density(y.clone(), marginals.clone());
        let (fit, divergence) = (numbers(expected), numbers(kl.clone())[0]);
        let bound = fit.iter().sum::<f64>() * 25.0 - divergence;
        let loss = likelihood.negative_elbo(y, marginals, kl, 25 * ROWS);
        let per_datum = -bound / (25 * ROWS) as f64;
        assert_close(
            "loss",
            &numbers(loss),
            &[per_datum],
            platform.tolerance(1e-12, 1e-5),
        );
    }
}

#[test]
fn configurations_are_serializable_and_have_defaults() {
    let config = GpLayerConfig::new(3, 2)
        .with_inducing(7)
        .with_jitter(Jitter::INDUCING)
        .with_kernel(StationaryConfig::new(Stationary::SquaredExponential))
        .with_mean(MeanConfig::identity())
        .with_coregionalization(1)
        .with_deviation(0.1);
    let text = serde_json::to_string(&config).expect("serializable");
    let read: GpLayerConfig = serde_json::from_str(&text).expect("readable");
    assert_eq!(read, config);
    let short: GpLayerConfig = serde_json::from_str(r#"{"inputs":3,"outputs":2}"#).expect("short");
    assert_eq!(short, GpLayerConfig::new(3, 2));
    let platform = &platforms()[0];
    let separate = GpLayerConfig::new(3, 2)
        .with_separate_kernels()
        .with_inducing(4);
    for config in [config, separate] {
        let layer = config.init(platform.options());
        let x = platform.matrix(&Random::new(3).points(5, 3));
        assert_eq!(layer.forward(x).expect("a factor").mean.dims(), [5, 2]);
    }
}

#[test]
fn sets_that_do_not_fit_the_posterior_are_errors() {
    let platform = &platforms()[0];
    let features = platform.matrix(&Random::new(3).points(20, 2));
    let solve = PosteriorName::find("solve").expect("registered").config();
    let config = GpLayerConfig::new(2, 1).with_inducing(4);
    let missing = config.clone().with_posterior(solve).init_from(&features);
    let error = LayerError::Sets(SetsError::NoOrthogonalPoints);
    assert_eq!(missing.err(), Some(error));
    let extra = config.clone().with_orthogonal(3).init_from(&features);
    let error = LayerError::Sets(SetsError::OrthogonalPoints { count: 3 });
    assert_eq!(extra.err(), Some(error));
    let few = config.with_inducing(40).init_from(&features).err();
    assert!(matches!(few, Some(LayerError::Selection(_))), "{few:?}");
    let sizes = ["[20, 2]", "[N, 3]"];
    assert_names("columns", &sizes, || {
        GpLayerConfig::new(3, 1).init_from(&features)
    });
}

const IMAGE: ImageShape = ImageShape {
    height: 4,
    width: 5,
    channels: 2,
};

/// Layers on images are trained and predict like layers on points.
#[test]
fn layers_on_images_have_configurations() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        let images = tracked.matrix(&Random::new(2).points(6, IMAGE.len()));
        let location = StationaryConfig::new(Stationary::Matern32);
        let convolutional = ConvGpLayerConfig::new(IMAGE, 3).with_patches(3, 1);
        let convolutional = convolutional.with_inducing(5).with_location(location);
        let map = PatchLayerConfig::new(IMAGE, 3)
            .with_patches(2, 2)
            .with_inducing(5);
        let plain = images.clone().inner();
        let check = |values: Evaluation, predicted: [usize; 2], outputs: usize| {
            assert_eq!(values.marginals.mean.dims(), [6, outputs], "{platform}");
            assert_eq!(predicted, [6, outputs], "{platform}");
            let loss = values.marginals.mean.square().sum() + values.kl;
            assert!(numbers(loss)[0].is_finite(), "{platform}");
        };
        let fresh = convolutional.init(tracked.options()).expect("patches");
        let placed = convolutional.init_from(&images).expect("patches");
        for layer in [fresh, placed] {
            let predicted = layer
                .condition()
                .expect("a factor")
                .marginals(plain.clone());
            let values = layer.evaluate(images.clone()).expect("a factor");
            check(values, predicted.mean.dims(), 3);
        }
        // Two rows and two columns of patches.
        let fresh = map.init(tracked.options()).expect("patches");
        let placed = map.init_from(&images).expect("patches");
        for layer in [fresh, placed] {
            let predicted = layer
                .condition()
                .expect("a factor")
                .marginals(plain.clone());
            let values = layer.evaluate(images.clone()).expect("a factor");
            check(values, predicted.mean.dims(), 12);
        }
        let large = ConvGpLayerConfig::new(IMAGE, 1).with_patches(6, 1);
        let error = large.init(platform.options()).err();
        assert!(matches!(error, Some(LayerError::Patches(_))), "{error:?}");
    }
}

/// A deep basis layer is trained by the same loss, and predicts with the level of its inputs.
#[test]
fn basis_layers_have_a_configuration() {
    for platform in platforms() {
        let tracked = platform.autodiff();
        let network = LinearConfig::new(3, 4).init(&tracked.device);
        let weight = tracked.matrix(&Random::new(5).matrix(3, 4));
        let network = Linear {
            weight: network.weight.map(|_| weight.require_grad()),
            bias: None,
        };
        let layer = BasisLayerConfig::new(3, 4, 1).init(network, tracked.options());
        let (x, y) = batch(&tracked);
        let Evaluation { marginals, kl } = layer.evaluate(x.clone()).expect("features");
        let likelihood = Gaussian::new(0.3, tracked.options());
        let gradients = likelihood.negative_elbo(y, marginals, kl, ROWS).backward();
        let network = layer.kernel().network().downcast_ref::<Linear>();
        let weight = &network.expect("a linear layer").weight;
        assert!(weight.grad(&gradients).is_some(), "{platform}");
        let layer = layer.with_level_of(x.clone()).expect("features");
        let predicted = layer.condition().expect("features").marginals(x.inner());
        assert!(
            numbers(predicted.variance)
                .iter()
                .all(|&variance| variance > 0.0)
        );
    }
}

fn mixed() -> (GpLayer, Tensor<2>) {
    let platform = &platforms()[0];
    let layer = GpLayerConfig::new(2, 1).with_inducing(4);
    let layer = layer.init((&platform.device, DType::F32));
    (layer, Tensor::zeros([3, 2], (&platform.device, DType::F64)))
}

#[test]
#[should_panic(expected = "GpLayer: inputs in f64, parameters in f32; cast one of them")]
fn inputs_of_another_precision_are_named_by_layers() {
    let (layer, x) = mixed();
    let _ = layer.forward(x);
}

#[test]
#[should_panic(expected = "the stationary kernel: points in f64, parameters in f32")]
fn inputs_of_another_precision_are_named_by_processes() {
    let (layer, x) = mixed();
    let _ = layer.condition().expect("a factor").marginals(x);
}

#[test]
#[should_panic(expected = "the gaussian likelihood: targets in f64, functions in f32")]
fn targets_of_another_precision_are_named_by_likelihoods() {
    let (layer, x) = mixed();
    let marginals = layer.forward(x.clone().cast(DType::F32)).expect("a factor");
    let likelihood = Gaussian::new(0.1, (&x.device(), DType::F32));
    let _ = likelihood.expected_log_density(x.narrow(1, 0, 1), marginals);
}

#[test]
#[should_panic(expected = "regression: inputs in f64, targets in f32")]
fn targets_of_another_precision_are_named_by_regression() {
    use burn_gp_core::{inference::Exact, means::ZeroMean};
    let (_, x) = mixed();
    let kernel = LinearKernelConfig::default();
    let kernel =
        burn_gp_core::kernels::KernelConfig::from(kernel).init(2, (&x.device(), DType::F64));
    let noise = Gaussian::new(0.1, (&x.device(), DType::F64));
    let y = x.clone().narrow(1, 0, 1).cast(DType::F32);
    let _ = Exact::new(kernel, ZeroMean::new(1), noise).full_objective(x, y);
}
