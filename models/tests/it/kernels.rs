//! A sparse variational model with every kernel.

use burn::{
    module::Module,
    tensor::{DType, Device},
};
use burn_gp_core::{
    features::PerceptronConfig,
    kernels::{
        ArcCosineConfig, Change, ChangePointConfig, ConstantConfig, CosineConfig, GibbsConfig,
        KernelConfig, LinearConfig, PolynomialConfig, RationalQuadraticConfig,
        SpectralMixtureConfig, WhiteConfig,
    },
    likelihoods::GaussianConfig,
    ops::Stationary,
};
use burn_gp_models::{
    SvgpConfig, Trained,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData},
};

const POINTS: usize = 200;
const STEPS: usize = 300;

fn kernels() -> Vec<(&'static str, KernelConfig)> {
    let smooth = KernelConfig::from(Stationary::SquaredExponential);
    let linear = KernelConfig::from(LinearConfig {
        ard: true,
        variance: 1.0,
        ..LinearConfig::default()
    });
    let network = PerceptronConfig {
        hidden: vec![16],
        ..PerceptronConfig::default()
    };
    vec![
        ("stationary", smooth.clone()),
        (
            "rational quadratic",
            KernelConfig::from(RationalQuadraticConfig::default()),
        ),
        (
            "linear and polynomial",
            linear.clone().plus(KernelConfig::from(PolynomialConfig {
                degree: 3,
                ..PolynomialConfig::default()
            })),
        ),
        ("arc-cosine", KernelConfig::from(ArcCosineConfig::default())),
        (
            "cosine and constant",
            KernelConfig::from(CosineConfig {
                period: 3.0,
                ..CosineConfig::default()
            })
            .plus(KernelConfig::from(ConstantConfig { variance: 1.0 })),
        ),
        (
            "spectral mixture",
            KernelConfig::from(SpectralMixtureConfig::default()),
        ),
        (
            "gibbs",
            KernelConfig::from(GibbsConfig {
                network: network.clone(),
                ..GibbsConfig::default()
            }),
        ),
        (
            "periodic and white",
            smooth
                .clone()
                .periodic(3.0)
                .plus(KernelConfig::from(WhiteConfig { variance: 0.01 })),
        ),
        ("deep", smooth.clone().deep(network, 2)),
        (
            "change point",
            KernelConfig::from(ChangePointConfig {
                first: smooth.clone(),
                second: linear.clone(),
                change: Change::default(),
            }),
        ),
        (
            "product on a dimension, scaled",
            smooth.times(linear).on_dimensions(vec![0]).scaled(2.0),
        ),
    ]
}

/// Inputs, and targets that are a sine with a little deterministic noise.
fn sine() -> (Vec<f64>, Vec<f64>) {
    let place = |i: usize| -2.0 + 4.0 * i as f64 / POINTS as f64;
    let noise = |i: usize| 0.05 * ((7919 * i) as f64).sin();
    let target = |i: usize| (2.0 * place(i)).sin() + noise(i);
    (
        (0..POINTS).map(place).collect(),
        (0..POINTS).map(target).collect(),
    )
}

/// After a few hundred steps, the model with any kernel explains most of a sine and predicts.
#[test]
fn every_kernel_fits() {
    let (device, (inputs, targets)) = (Device::default(), sine());
    let precisions = [DType::F64, DType::F32];
    for dtype in precisions
        .into_iter()
        .filter(|&dtype| device.supports_dtype(dtype))
    {
        let data = TrainingData::new(&inputs, &targets, &device, dtype);
        for (name, kernel) in kernels() {
            let config = SvgpConfig::new(kernel, GaussianConfig::default()).with_inducing(20);
            let model = config.init(&data).expect("a model");
            let training = MiniBatchTraining {
                learning_rate: 0.05,
                batch_size: POINTS,
                ..MiniBatchTraining::new(STEPS)
            };
            let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
            while !trainer.is_finished() {
                if let Err(error) = trainer.step() {
                    panic!("{name} in {dtype:?}: {error}");
                }
            }
            let model = trainer.model().valid().into_trained();
            let predictor = model.predictor().expect("a predictor");
            let predictions = predictor.predict(&inputs, 1);
            let errors = predictions.mean.iter().zip(&targets);
            let squares: f64 = errors.map(|(mean, y)| (mean - y).powi(2)).sum();
            let error = (squares / POINTS as f64).sqrt();
            // The sine has a standard deviation of 0.7. A straight line cannot reach half of it.
            assert!(error < 0.35, "{name} in {dtype:?}: error {error}");
            let positive = predictions.variance.iter().all(|variance| *variance > 0.0);
            assert!(positive, "{name} in {dtype:?}");
        }
    }
}
