//! Deep kernel learning is a model on the outputs of a network. A Bayesian last layer is linear
//! regression on these outputs.

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    features::PerceptronConfig,
    inducing::Initializer,
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
    ops::{Jitter, Stationary},
    parameter::{ParameterConfig, Prior},
};
use burn_gp_models::{
    AnyLastLayer, AnyModel, AnySgpr, AnyTrained, BasisConfig, DeepKernelConfig, ExactConfig,
    LastLayerConfig, ModelConfig, SgprConfig, SvgpConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Model, Trainer, TrainingData, matrix},
};

const ROWS: usize = 30;
const NOISE: f64 = 0.05;
const KERNEL: Stationary = Stationary::SquaredExponential;

fn inputs() -> Vec<f64> {
    (0..2 * ROWS).map(|i| (1.3 * i as f64).sin()).collect()
}

fn targets() -> Vec<f64> {
    let x = inputs();
    (0..ROWS)
        .map(|i| x[2 * i] * x[2 * i + 1] + 0.1 * (7.0 * i as f64).cos())
        .collect()
}

fn data(dtype: DType) -> TrainingData {
    TrainingData::new(&inputs(), &targets(), &Device::default().autodiff(), dtype)
}

fn network(seed: u64) -> PerceptronConfig {
    PerceptronConfig {
        hidden: vec![8],
        seed,
        ..PerceptronConfig::default()
    }
}

/// The objective on all data.
fn objective(model: &impl Model, data: &TrainingData) -> Tensor<1> {
    let (inputs, targets) = (data.inputs.clone(), data.targets.clone());
    model
        .objective(inputs, targets, data.len())
        .unwrap()
        .value()
}

fn deep<C>(model: C) -> DeepKernelConfig<C> {
    DeepKernelConfig {
        network: network(3).into(),
        features: 2,
        model,
    }
}

fn noise() -> GaussianConfig {
    GaussianConfig { noise: NOISE }
}

fn numbers(tensor: Tensor<2>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

fn value(tensor: Tensor<1>) -> f64 {
    tensor.into_scalar()
}

/// Row-major `A⁻¹b` and `log|A|` by elimination.
fn solved(matrix: &[Vec<f64>], right: &[f64]) -> (Vec<f64>, f64) {
    let size = right.len();
    let (mut a, mut b, mut log_determinant) = (matrix.to_vec(), right.to_vec(), 0.0);
    for pivot in 0..size {
        log_determinant += a[pivot][pivot].ln();
        for row in pivot + 1..size {
            let factor = a[row][pivot] / a[pivot][pivot];
            let above = a[pivot].clone();
            for (entry, above) in a[row].iter_mut().zip(above) {
                *entry -= factor * above;
            }
            b[row] -= factor * b[pivot];
        }
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size)
            .map(|column| a[row][column] * b[column])
            .sum();
        b[row] = (b[row] - known) / a[row][row];
    }
    (b, log_determinant)
}

/// The features of the network, row by row.
fn features(model: &impl Fn(Tensor<2>) -> Tensor<2>) -> Vec<Vec<f64>> {
    let x = matrix(&inputs(), 2, &Device::default(), DType::F64);
    let all = model(x);
    let [_, width] = all.dims();
    numbers(all).chunks(width).map(<[f64]>::to_vec).collect()
}

/// `log N(y | 0, K + σ²I)` with `K = exp(−½‖h − h′‖²)` for the network's outputs h.
#[test]
fn exact_evidence_is_that_of_dense_algebra_on_the_features() {
    let kernel = StationaryConfig::new(KERNEL).with_lengthscale(1.0);
    let config = deep(ExactConfig::new(kernel).with_likelihood(noise()));
    let data = data(DType::F64);
    let model = config.init(&data).unwrap();
    let network = model.network().valid();
    let h = features(&|x| network.forward(x));
    let covariance = |a: &Vec<f64>, b: &Vec<f64>| {
        let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
        (-0.5 * squares).exp()
    };
    let matrix: Vec<Vec<f64>> = (h.iter().enumerate())
        .map(|(i, a)| {
            let row = h.iter().enumerate();
            row.map(|(j, b)| covariance(a, b) + if i == j { NOISE } else { 0.0 })
                .collect()
        })
        .collect();
    let y = targets();
    let (weights, log_determinant) = solved(&matrix, &y);
    let fit: f64 = y.iter().zip(&weights).map(|(y, weight)| y * weight).sum();
    let constant = ROWS as f64 * (2.0 * std::f64::consts::PI).ln();
    let expected = -0.5 * (fit + log_determinant + constant);
    let actual = value(objective(&model, &data));
    // The noise is stored in transformed form with sixteen digits.
    assert!(
        (actual - expected).abs() < 1e-8,
        "{actual}, expected {expected}"
    );
}

/// With an inducing point at every feature, the bounds equal the evidence up to the jitter. With
/// fewer points they are below it, and the mini-batch bound is below the collapsed one.
#[test]
fn bounds_are_below_the_evidence_and_reach_it() {
    let data = data(DType::F64);
    let exact = deep(ExactConfig::new(KERNEL).with_likelihood(noise()))
        .init(&data)
        .unwrap();
    let evidence = value(objective(&exact, &data));
    let bound = |count: usize| {
        let mut config = SgprConfig::new(KERNEL)
            .with_likelihood(noise())
            .with_inducing(count);
        config.inducing.initializer = Initializer::Subset;
        config.inducing.jitter = Some(Jitter::relative(1e-10));
        let model = deep(config).init(&data).unwrap();
        let sgpr = model.model().downcast_ref::<AnySgpr>().unwrap();
        let points = numbers(sgpr.inducing().inputs().expect("points").inner());
        assert_eq!(
            points.len(),
            2 * count,
            "points are places among two features"
        );
        value(objective(&model, &data))
    };
    let (few, all) = (bound(4), bound(ROWS));
    assert!(few < evidence, "{few}, {evidence}");
    // The jitter 1e-10 relative to the noise 0.05, times 30 rows.
    assert!((all - evidence).abs() < 1e-5, "{all}, {evidence}");
    let mut config = SvgpConfig::new(KERNEL, noise()).with_inducing(4);
    config.inducing.initializer = Initializer::Subset;
    let model = deep(config).init(&data).unwrap();
    let prior = model.objective(data.inputs.clone(), data.targets.clone(), ROWS);
    assert!(value(prior.unwrap().value()) < few);
}

/// Every model trains, and the network has gradients.
#[test]
fn gradients_reach_the_network() {
    #[derive(Default)]
    struct Networks(Vec<String>, Vec<Vec<f64>>);
    impl ModuleVisitor for Networks {
        fn enter_module(&mut self, name: &str, _container_type: &str) {
            self.0.push(name.to_owned());
        }
        fn exit_module(&mut self, _name: &str, _container_type: &str) {
            self.0.pop();
        }
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if self.0.iter().any(|name| name == "network") {
                self.1.push(param.val().into_data().iter::<f64>().collect());
            }
        }
    }
    let weights = |model: &AnyModel| {
        let mut networks = Networks::default();
        model.visit(&mut networks);
        networks.1
    };
    for dtype in [DType::F64, DType::F32] {
        let data = data(dtype);
        let configs = [
            ModelConfig::from(deep(ExactConfig::new(KERNEL).with_likelihood(noise()))),
            ModelConfig::from(deep(
                SgprConfig::new(KERNEL)
                    .with_likelihood(noise())
                    .with_inducing(6),
            )),
            ModelConfig::from(deep(SvgpConfig::new(KERNEL, noise()).with_inducing(6))),
            ModelConfig::from(last_layer()),
        ];
        for config in configs {
            let data = config.arranged(data.clone());
            let model = config.init(&data).unwrap();
            let before = weights(&model);
            assert_eq!(before.len(), 4, "two layers with biases");
            let training = MiniBatchTraining {
                batch_size: ROWS,
                ..MiniBatchTraining::new(60)
            };
            let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
            let first = trainer.step().unwrap().loss;
            let mut last = first;
            while !trainer.is_finished() {
                last = trainer.step().unwrap().loss;
            }
            assert!(last < first, "{config:?}: {first} to {last}");
            let after = weights(trainer.model());
            let moved = before
                .iter()
                .zip(&after)
                .all(|(before, after)| before != after);
            assert!(moved, "{config:?}");
        }
    }
}

fn last_layer() -> LastLayerConfig {
    LastLayerConfig {
        basis: BasisConfig::new(network(5), 4),
        mean: Default::default(),
        likelihood: noise(),
        parameters: ParameterConfig::default(),
    }
}

/// The posterior `N(Λ⁻¹Φᵀy, σ²Λ⁻¹)`, `Λ = ΦᵀΦ + σ²I`, over the weights of the trained features.
#[test]
fn a_bayesian_last_layer_is_linear_regression() {
    let data = data(DType::F64);
    let data = ModelConfig::from(last_layer()).arranged(data);
    let model = ModelConfig::from(last_layer()).init(&data).unwrap();
    let training = MiniBatchTraining::new(40);
    let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
    while !trainer.is_finished() {
        trainer.step().unwrap();
    }
    let model = trainer.model().downcast_ref::<AnyLastLayer>().unwrap();
    let noise = value(model.likelihood().noise().inner());
    let bayesian = model.bayesian();
    // The features are the four outputs divided by √4.
    let phi = features(&|x| bayesian.kernel().network().forward(x) * 0.5);
    let y = targets();
    let precision: Vec<Vec<f64>> = (0..4)
        .map(|i| {
            let entry = |j: usize| {
                let sum: f64 = phi.iter().map(|row| row[i] * row[j]).sum();
                sum + if i == j { noise } else { 0.0 }
            };
            (0..4).map(entry).collect()
        })
        .collect();
    let right: Vec<f64> = (0..4)
        .map(|i| phi.iter().zip(&y).map(|(row, y)| row[i] * y).sum())
        .collect();
    let (weights, _) = solved(&precision, &right);
    let trained: AnyTrained = model.trained(&data).unwrap();
    let predicted = trained.predictor().unwrap().predict(&inputs(), 2);
    for (row, features) in phi.iter().enumerate() {
        let mean: f64 = features.iter().zip(&weights).map(|(f, w)| f * w).sum();
        let (spread, _) = solved(&precision, features);
        let variance: f64 = features
            .iter()
            .zip(&spread)
            .map(|(f, s)| f * s * noise)
            .sum();
        assert!((predicted.function_mean[row] - mean).abs() < 1e-9);
        assert!((predicted.function_variance[row] - variance).abs() < 1e-9);
    }
}

/// Priors refer to paths of the model without its network, in any position.
#[test]
fn priors_are_part_of_the_objective() {
    let data = data(DType::F64);
    let prior = Prior::Gamma {
        shape: 2.0,
        rate: 3.0,
    };
    let mut parameters = ParameterConfig::default();
    parameters.priors.0.insert("likelihood.noise".into(), prior);
    // log(9·s²·e^(−3s)), the density of log s, at s = 0.05.
    let expected = 9f64.ln() + 2.0 * NOISE.ln() - 3.0 * NOISE;
    let configs = [
        ModelConfig::from(deep(ExactConfig {
            parameters: parameters.clone(),
            ..ExactConfig::new(KERNEL).with_likelihood(noise())
        })),
        ModelConfig::from(deep(SvgpConfig {
            parameters: parameters.clone(),
            ..SvgpConfig::new(KERNEL, noise()).with_inducing(5)
        })),
        ModelConfig::from(LastLayerConfig {
            parameters,
            ..last_layer()
        }),
    ];
    for config in configs {
        let model = config.init(&data).unwrap();
        let density = model.priors().log_density(&model).expect("a prior");
        let actual = value(density.inner());
        assert!(
            (actual - expected).abs() < 1e-9,
            "{actual}, expected {expected}"
        );
    }
}
