//! Every ready-made model.

use burn_gp_core::{
    features::PerceptronConfig,
    inducing::Initializer,
    inference::{ActionStart, ConjugateGradientsSettings},
    likelihoods::GaussianConfig,
    ops::{Jitter, Stationary},
    patches::ImageShape,
};

use super::{Case, Group, Harness, Reason};
use burn_gp_models::{
    ActionRows, ActionsConfig, BasisConfig, ComputationAwareConfig, ConjugateGradientsConfig,
    ConvolutionalForm, DbkConfig, DeepGpConfig, DeepKernelConfig, DenseForm, ExactConfig,
    InducingConfig, LastLayerConfig, LayerConfig, LayerForm, ModelConfig, ModelName, PatchForm,
    SgprConfig, SolveCollapsedConfig, SvdbkConfig, SvgpConfig,
    training::{Model, TrainingData},
};

const KERNEL: Stationary = Stationary::Matern52;

/// Training rows and new rows.
const ROWS: usize = 45;
const NEW_ROWS: usize = 19;

/// Inducing points, and orthogonal ones.
const INDUCING: usize = 24;
const ORTHOGONAL: usize = 11;

/// Models that are only made for the CPU so far.
const ON_CPU_ONLY: [&str; 6] = [
    "markov",
    "markov-variational",
    "vecchia",
    "vecchia-laplace",
    "vif",
    "vnngp",
];

pub(super) fn cases() -> Vec<Case> {
    let mut configured = configurations();
    // A model without a configuration here, such as one of another crate, has its default one.
    let compared = ModelName::all().filter(|model| !ON_CPU_ONLY.contains(&model.name()));
    for model in compared {
        if !(configured.iter()).any(|(name, ..)| name.starts_with(model.name())) {
            configured.push((model.name(), 2, model.config()));
        }
    }
    let configured = configured.into_iter().map(|(name, inputs, config)| {
        let compute = move |harness: &mut Harness| compute(&config, inputs, harness);
        Case::compare(Group::Model, name, compute)
    });
    configured.collect()
}

fn noise() -> GaussianConfig {
    GaussianConfig { noise: 0.1 }
}

fn basis() -> BasisConfig {
    let network = PerceptronConfig {
        hidden: vec![9],
        ..PerceptronConfig::default()
    };
    BasisConfig::new(network, 7)
}

fn deep_kernel<C>(model: C) -> DeepKernelConfig<C> {
    DeepKernelConfig {
        network: basis().network,
        ..DeepKernelConfig::new(model)
    }
}

/// Inducing points whose choice and jitter do not depend on the precision.
fn inducing(count: usize) -> InducingConfig {
    InducingConfig {
        initializer: Initializer::Subset,
        jitter: Some(Jitter::INDUCING),
        ..InducingConfig::new(count)
    }
}

fn layer(form: impl Into<LayerForm>) -> LayerConfig {
    let form = form.into();
    let points = match form.patches() {
        None => INDUCING,
        Some(_) => ORTHOGONAL,
    };
    LayerConfig::new(KERNEL)
        .with_form(form)
        .with_inducing(inducing(points))
}

/// A name, the number of inputs, and the configuration of a model.
type Configuration = (&'static str, usize, ModelConfig);

/// A configuration of every model.
fn configurations() -> Vec<Configuration> {
    let separate = svgp().with_separate_kernels();
    let mut all = full_batch();
    all.push(("svgp", 2, svgp().into()));
    all.push(("svgp, separate kernels", 2, separate.into()));
    all.extend(deep());
    all.extend(with_networks());
    all
}

fn exact() -> ExactConfig {
    ExactConfig::new(KERNEL).with_likelihood(noise())
}

fn sgpr() -> SgprConfig {
    SgprConfig {
        inducing: inducing(INDUCING),
        ..SgprConfig::new(KERNEL).with_likelihood(noise())
    }
}

fn svgp() -> SvgpConfig {
    SvgpConfig {
        inducing: inducing(INDUCING),
        ..SvgpConfig::new(KERNEL, noise())
    }
}

fn full_batch() -> Vec<Configuration> {
    let actions = ActionsConfig::Blocks {
        count: 6,
        at_most: false,
        start: ActionStart::default(),
        seed: 0,
        rows: ActionRows::default(),
    };
    let solve = SolveCollapsedConfig {
        inducing: InducingConfig {
            orthogonal: ORTHOGONAL,
            ..inducing(INDUCING)
        },
        ..SolveCollapsedConfig::new(KERNEL).with_likelihood(noise())
    };
    let computation_aware = ComputationAwareConfig::new(KERNEL)
        .with_likelihood(noise())
        .with_actions(actions);
    let conjugate_gradients = ConjugateGradientsConfig {
        settings: ConjugateGradientsSettings::default(),
        ..ConjugateGradientsConfig::new(KERNEL).with_likelihood(noise())
    };
    vec![
        ("exact", 2, exact().into()),
        ("sgpr", 2, sgpr().into()),
        ("solve-collapsed", 2, solve.into()),
        ("computation-aware", 2, computation_aware.into()),
        ("conjugate-gradients", 2, conjugate_gradients.into()),
    ]
}

fn deep() -> [Configuration; 3] {
    let image = ImageShape::new(6, 6, 1);
    let patches = |size, stride| PatchForm { size, stride };
    let convolutional = layer(ConvolutionalForm {
        size: 3,
        stride: 1,
        location: None,
    });
    let dense = layer(DenseForm {});
    let deep = DeepGpConfig::new(dense.clone(), noise()).with_hidden(2, dense);
    let conv = DeepGpConfig::new(convolutional, noise()).with_image(image);
    let deep_conv = conv.clone().with_hidden(1, layer(patches(3, 1)));
    [
        ("deep-gp", 2, deep.into()),
        ("deep-gp, convolutional", image.len(), conv.into()),
        ("deep-gp, deep convolutional", image.len(), deep_conv.into()),
    ]
}

fn with_networks() -> [Configuration; 6] {
    let dbk = DbkConfig {
        basis: basis(),
        ..DbkConfig::default()
    };
    let svdbk = SvdbkConfig {
        basis: basis(),
        ..SvdbkConfig::new(noise())
    };
    let last_layer = LastLayerConfig {
        basis: basis(),
        mean: Default::default(),
        likelihood: noise(),
        parameters: Default::default(),
    };
    [
        ("dbk", 2, dbk.into()),
        ("svdbk", 2, svdbk.into()),
        ("last-layer", 2, last_layer.into()),
        ("dkl", 2, deep_kernel(exact()).into()),
        ("sdkl", 2, deep_kernel(sgpr()).into()),
        ("svdkl", 2, deep_kernel(svgp()).into()),
    ]
}

fn compute(config: &ModelConfig, columns: usize, harness: &mut Harness) -> Result<(), Reason> {
    let inputs = harness.normals(ROWS * columns);
    let targets = harness.normals(ROWS);
    let new = harness.normals(NEW_ROWS * columns);
    let data = TrainingData::new(
        &inputs,
        &targets,
        &harness.device().clone().inner(),
        harness.dtype(),
    );
    let data = config.arranged(data);
    let model = config.init(&data)?;
    let model = harness.module(model);
    let inputs = data.inputs.clone().autodiff();
    let targets = data.targets.clone().autodiff();
    let objective = model.objective(inputs, targets, ROWS)?;
    harness.output("fit", objective.fit);
    if let Some(kl) = objective.kl {
        harness.output("divergence", kl);
    }
    let predictions = model.trained(&data)?.predictor()?.predict(&new, columns);
    harness.numbers("predictive means", predictions.mean);
    harness.numbers("predictive variances", predictions.variance);
    Ok(())
}
