//! Multi-output models from a configuration: shared and separate kernels, independent and mixed
//! functions, training, saving and loading.

use burn::{
    module::Module,
    tensor::{DType, Device},
};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, LikelihoodConfig, SoftmaxConfig},
    ops::Stationary,
    optim::NaturalGradient,
    process::CovarianceShape,
    sampling::{PathOptions, SamplePaths},
    variational::{
        AuxiliaryUpdate, InverseFreeConfig, LSvgpConfig, OrthogonallyDecoupledConfig,
        Parameterization, PosteriorConfig, SolveGpConfig, UnwhitenedConfig, WhitenedConfig,
    },
};
use burn_gp_models::{
    AnySvgp, AnyTrained, CoregionalizationConfig, ModelConfig, Precision, SavedModel, Summary,
    SvgpConfig, Trained,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData, matrix},
};

const ROWS: usize = 60;
const COLUMNS: usize = 3;

fn inputs() -> Vec<f64> {
    (0..ROWS).map(|row| row as f64 / 15.0 - 2.0).collect()
}

/// Three mixtures of two functions, row-major.
fn targets() -> Vec<f64> {
    let waves = |x: &f64| [(2.0 * x).sin(), (0.7 * x * x).cos()];
    (inputs().iter().map(waves))
        .flat_map(|[a, b]| [a, 0.5 * a - b, a + 0.8 * b])
        .collect()
}

fn data(targets: &[f64], columns: usize) -> TrainingData {
    let device = Device::flex().autodiff();
    TrainingData::with_target_columns(&inputs(), targets, columns, &device, DType::F64)
}

/// Every combination of kernels, mixing and posterior.
fn configurations(likelihood: &LikelihoodConfig) -> Vec<SvgpConfig> {
    let covariance = CovarianceShape::Full;
    let posteriors = [
        PosteriorConfig::from(WhitenedConfig { covariance }),
        PosteriorConfig::from(UnwhitenedConfig { covariance }),
        PosteriorConfig::from(WhitenedConfig {
            covariance: CovarianceShape::Diagonal,
        }),
        PosteriorConfig::from(SolveGpConfig {
            covariance,
            parameterization: Parameterization::Whitened,
        }),
        PosteriorConfig::from(SolveGpConfig {
            covariance,
            parameterization: Parameterization::Unwhitened,
        }),
        PosteriorConfig::from(OrthogonallyDecoupledConfig {
            covariance,
            parameterization: Parameterization::Unwhitened,
            columns: Some(3),
            seed: 1,
        }),
        PosteriorConfig::from(LSvgpConfig {
            observations: Default::default(),
        }),
        PosteriorConfig::from(InverseFreeConfig::default()),
        PosteriorConfig::from(InverseFreeConfig {
            auxiliary: AuxiliaryUpdate::Optimizer { start: 0.1 },
            ..Default::default()
        }),
    ];
    let kernel = StationaryConfig::new(Stationary::Matern52);
    let base = SvgpConfig::new(kernel, likelihood.clone()).with_inducing(10);
    let mixtures = [None, Some(CoregionalizationConfig { latent: 2, seed: 5 })];
    let mut all = Vec::new();
    for posterior in posteriors {
        for separate_kernels in [false, true] {
            for coregionalization in mixtures {
                let orthogonal = if posterior.has_orthogonal_set() { 5 } else { 0 };
                let config = base.clone().with_orthogonal(orthogonal);
                all.push(SvgpConfig {
                    separate_kernels,
                    coregionalization,
                    ..config.with_posterior(posterior.clone())
                });
            }
        }
    }
    all
}

/// The first and last losses of some steps, and the model.
fn train(config: &SvgpConfig, data: &TrainingData) -> (f64, f64, AnyTrained) {
    let model = config.init(data).expect("distinct inputs");
    let has_gaussians = !(model.posterior()).distributions().is_empty();
    let training = MiniBatchTraining {
        batch_size: ROWS,
        learning_rate: 0.05,
        natural_gradient: has_gaussians.then(|| NaturalGradient::new(0.5).with_warm_up(1e-3, 5)),
        ..MiniBatchTraining::new(if has_gaussians { 40 } else { 300 })
    };
    let mut trainer = MiniBatchTrainer::new(model, data.clone(), training);
    let mut losses = Vec::new();
    while !trainer.is_finished() {
        losses.push(trainer.step().expect("the step is sound").loss);
    }
    let last = losses.last().copied().unwrap_or(f64::NAN);
    (losses[0], last, trainer.model().valid().into_trained())
}

#[test]
fn every_combination_trains_and_comes_back_from_its_files() {
    let data = data(&targets(), COLUMNS);
    for config in configurations(&GaussianConfig { noise: 0.1 }.into()) {
        let what = format!("{config:?}");
        let text = serde_json::to_string(&config).expect("a configuration is text");
        let read: SvgpConfig = serde_json::from_str(&text).expect("its own text");
        assert_eq!(read, config);
        let (first, last, model) = train(&config, &data);
        assert!(last < first - 1.0, "{what}: from {first} to {last}");
        let saved = SavedModel {
            model,
            summary: Summary {
                config: ModelConfig::from(config.clone()),
                dimensions: 1,
                target_columns: COLUMNS,
                data_count: ROWS,
                precision: Precision::F64,
            },
            context: (),
        };
        let folder = temp_dir::TempDir::new().expect("a folder");
        saved.save(folder.path()).expect("saved");
        let loaded = SavedModel::<()>::load(folder.path(), &Device::flex()).expect("loaded");
        let predictors = (saved.model.predictor(), loaded.model.predictor());
        let before = predictors.0.expect("a predictor").predict(&inputs(), 1);
        let predictor = predictors.1.expect("a predictor");
        let after = predictor.predict(&inputs(), 1);
        assert_eq!(after, before, "{what}");
        assert_eq!(after.mean.len(), ROWS * COLUMNS, "{what}");
        let squares = after.mean.iter().zip(targets());
        let error = squares.map(|(mean, y)| (mean - y).powi(2)).sum::<f64>();
        let error = (error / (ROWS * COLUMNS) as f64).sqrt();
        assert!(error < 0.3, "{what}: root mean squared error {error}");
        let x = matrix(&inputs(), 1, &Device::flex(), DType::F64);
        let model = loaded.model.downcast_ref::<AnySvgp>().expect("an SVGP");
        let paths = (model.condition().expect("a process"))
            .paths(PathOptions::new(4))
            .expect("it is stationary");
        assert_eq!(
            paths.evaluate(x.clone()).dims(),
            [4, COLUMNS, ROWS],
            "{what}"
        );
        let draws = predictor.sample(x, 2, 3).expect("factor");
        assert_eq!(draws.dims(), [2, COLUMNS, ROWS], "{what}");
    }
}

/// The latent functions of classes can be mixed too: a softmax over mixtures of two functions.
#[test]
fn classes_are_mixtures_of_latent_functions() {
    let labels: Vec<f64> = (inputs().iter())
        .map(|x| {
            if *x < -0.7 {
                0.0
            } else if *x < 0.6 {
                1.0
            } else {
                2.0
            }
        })
        .collect();
    let data = data(&labels, 1);
    let likelihood = SoftmaxConfig::new(3).into();
    let kernel = StationaryConfig::new(Stationary::Matern52);
    for config in [
        SvgpConfig::new(kernel.clone(), LikelihoodConfig::clone(&likelihood)),
        SvgpConfig::new(kernel, likelihood).with_separate_kernels(),
    ] {
        let config = config.with_inducing(10).with_coregionalization(2);
        let (first, last, model) = train(&config, &data);
        assert!(last < 0.7 * first, "{config:?}: from {first} to {last}");
        let predictions = model
            .predictor()
            .expect("a predictor")
            .predict(&inputs(), 1);
        let right = predictions.probabilities.chunks(3).zip(&labels);
        let right = right.filter(|(probabilities, label)| {
            let best = (0..3).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
            best == Some(**label as usize)
        });
        assert!(right.count() > ROWS * 9 / 10, "{config:?}");
    }
}
