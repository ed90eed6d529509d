//! The sparse variational model with every likelihood: training, saving, prediction.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use burn::{
    module::Module,
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::{Likelihood, LikelihoodConfig, SoftmaxConfig},
    ops::{NotPositiveDefinite, Stationary},
    parameter::numbers,
    process::{AnyProcess, CovarianceShape, Marginals},
    variational::{
        InverseFreeConfig, LSvgpConfig, OrthogonallyDecoupledConfig, Parameterization,
        PosteriorConfig, SolveGpConfig, TraceProbes, UnwhitenedConfig, WhitenedConfig,
    },
};
use burn_gp_models::{
    AnyTrained, ModelConfig, Precision, Predictor, SavedModel, Summary, SvgpConfig, Trained,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData},
};
use burn_gp_test_support::likelihood_cases::{Case, in_columns, registry};
use rand::{SeedableRng, rngs::ChaCha8Rng};

/// The number of rows in every test.
const ROWS: usize = 60;

/// Inputs spread over [-2, 2].
fn inputs() -> Vec<f64> {
    let last = (ROWS - 1) as f64;
    (0..ROWS).map(|row| 4.0 * row as f64 / last - 2.0).collect()
}

/// Targets drawn from the likelihood with functions `2·sin(2x)`, `2·sin(2x + 1)`, …, with their second
/// columns.
fn targets(likelihood: &dyn Likelihood) -> Vec<f64> {
    let latents = likelihood.description().latents;
    let function: Vec<f64> = (inputs().iter())
        .flat_map(|x| (0..latents).map(move |latent| 2.0 * (2.0 * x + latent as f64).sin()))
        .collect();
    let function =
        Tensor::<1>::from_data(function.as_slice(), options()).reshape([1, ROWS, latents]);
    let drawn = numbers(likelihood.sample(function, &mut ChaCha8Rng::seed_from_u64(5)));
    in_columns(likelihood, drawn)
}

fn options() -> (&'static Device, DType) {
    static DEVICE: std::sync::OnceLock<Device> = std::sync::OnceLock::new();
    (DEVICE.get_or_init(Device::default), DType::F64)
}

fn svgp(likelihood: LikelihoodConfig, posterior: PosteriorConfig) -> SvgpConfig {
    let orthogonal = if posterior.has_orthogonal_set() { 5 } else { 0 };
    SvgpConfig::new(StationaryConfig::new(Stationary::Matern52), likelihood)
        .with_inducing(10)
        .with_orthogonal(orthogonal)
        .with_posterior(posterior)
}

fn posteriors() -> [PosteriorConfig; 7] {
    let full = CovarianceShape::Full;
    let diagonal = CovarianceShape::Diagonal;
    [
        PosteriorConfig::from(WhitenedConfig { covariance: full }),
        PosteriorConfig::from(WhitenedConfig {
            covariance: diagonal,
        }),
        PosteriorConfig::from(UnwhitenedConfig { covariance: full }),
        PosteriorConfig::from(SolveGpConfig {
            covariance: full,
            parameterization: Parameterization::Whitened,
        }),
        PosteriorConfig::from(OrthogonallyDecoupledConfig {
            covariance: full,
            parameterization: Parameterization::Unwhitened,
            columns: Some(2),
            seed: 0,
        }),
        PosteriorConfig::from(LSvgpConfig {
            observations: Default::default(),
        }),
        PosteriorConfig::from(InverseFreeConfig {
            probes: Some(TraceProbes { count: 5, seed: 0 }),
            ..Default::default()
        }),
    ]
}

/// Trains on data drawn from the likelihood. Returns the model, the targets and the losses before
/// and after some steps.
fn train(config: &SvgpConfig) -> (AnyTrained, Vec<f64>, [f64; 2]) {
    let likelihood = config.likelihood.init(options());
    let targets = targets(&*likelihood);
    let description = likelihood.description();
    let columns = description.columns;
    assert_eq!(description.check_targets(&targets, columns), Ok(()));
    let (device, dtype) = options();
    let device = device.clone().autodiff();
    let data = TrainingData::with_target_columns(&inputs(), &targets, columns, &device, dtype);
    let model = config.init(&data).expect("a model");
    let training = MiniBatchTraining {
        batch_size: ROWS,
        learning_rate: 0.05,
        ..MiniBatchTraining::new(75)
    };
    let mut trainer = MiniBatchTrainer::new(model, data, training);
    let first = trainer.step().expect("a first step").loss;
    let mut last = first;
    while !trainer.is_finished() {
        last = trainer.step().expect("a step").loss;
    }
    (
        trainer.model().valid().into_trained(),
        targets,
        [first, last],
    )
}

/// Full-batch training decreases the loss for every likelihood and posterior.
#[test]
fn every_likelihood_trains_with_every_posterior() {
    for Case {
        config: likelihood, ..
    } in registry()
    {
        for posterior in posteriors() {
            let config = svgp(likelihood.clone(), posterior);
            let (_, _, [first, last]) = train(&config);
            assert!(last < first - 0.01, "{config:?}: {first} to {last}");
        }
    }
}

/// A trained model has a higher density for its data than an untrained one.
#[test]
fn predictions_have_their_shapes_and_survive_saving() {
    for Case {
        config: likelihood, ..
    } in registry()
    {
        let [posterior, ..] = posteriors();
        let config = svgp(likelihood, posterior);
        let (model, targets, _) = train(&config);
        let columns = targets.len() / ROWS;
        let saved = SavedModel {
            model,
            summary: Summary {
                config: ModelConfig::from(config.clone()),
                dimensions: 1,
                target_columns: columns,
                data_count: ROWS,
                precision: Precision::F64,
            },
            context: (),
        };
        let folder = temp_dir::TempDir::new().expect("a folder");
        saved.save(folder.path()).expect("saved");
        let (device, _) = options();
        let loaded = SavedModel::<()>::load(folder.path(), device).expect("loaded");
        let (before, after) = (saved.model.predictor(), loaded.model.predictor());
        let (before, after) = (before.expect("a predictor"), after.expect("a predictor"));
        let predictions = after.predict(&inputs(), 1);
        let what = format!("{config:?}");
        assert_eq!(predictions, before.predict(&inputs(), 1), "{what}");
        let likelihood = after.likelihood().description();
        let functions = likelihood.latents;
        assert_eq!(predictions.function_mean.len(), functions * ROWS, "{what}");
        let classes = likelihood.classes;
        assert_eq!(
            predictions.probabilities.len(),
            classes.unwrap_or(0) * ROWS,
            "{what}"
        );
        if let Some(classes) = classes {
            for row in predictions.probabilities.chunks(classes) {
                let sum: f64 = row.iter().sum();
                assert!(
                    (sum - 1.0).abs() < 1e-2,
                    "{what}: probabilities add up to {sum}"
                );
            }
        }
        let density = (after.log_density(&inputs(), 1, &targets)).expect("possible targets");
        assert_eq!(density.len(), ROWS, "{what}");
        assert_eq!(
            density,
            (before.log_density(&inputs(), 1, &targets)).expect("possible targets"),
            "{what}"
        );
        let x = Tensor::<1>::from_data(&inputs()[..7], options()).reshape([7, 1]);
        let drawn = after
            .sample_targets(x, 3, &mut ChaCha8Rng::seed_from_u64(7))
            .expect("samples");
        assert_eq!(drawn.dims(), [3, 7, 1], "{what}");
    }
}

fn predictor_of_four_classes() -> Predictor {
    let [posterior, ..] = posteriors();
    let (model, _, _) = train(&svgp(SoftmaxConfig::new(4).into(), posterior));
    model.predictor().expect("a predictor")
}

/// Inputs with labels of four classes.
fn labeled(rows: u32) -> (Vec<f64>, Vec<f64>) {
    (0..rows)
        .map(|row| ((f64::from(row) * 0.37).sin() * 2.0, f64::from(row % 4)))
        .unzip()
}

/// Predictions in chunks equal predictions of each row.
#[test]
fn predictions_of_many_rows_are_those_of_each() {
    let predictor = predictor_of_four_classes();
    let (many, labels) = labeled(5000);
    let all = predictor.predict(&many, 1);
    let density = predictor.log_density(&many, 1, &labels).expect("labels");
    for row in [0, 2047, 2048, 4999] {
        let one = predictor.predict(&many[row..=row], 1);
        for class in 0..4 {
            let (a, b) = (one.probabilities[class], all.probabilities[4 * row + class]);
            assert!((a - b).abs() < 1e-12, "row {row}, class {class}: {a}, {b}");
        }
        let own = predictor.log_density(&many[row..=row], 1, &labels[row..=row]);
        let own = own.expect("a label")[0];
        assert!((own - density[row]).abs() < 1e-12, "row {row}");
    }
    assert_eq!(predictor.predict(&[], 1), Default::default());
    assert!(
        predictor
            .log_density(&[], 1, &[])
            .expect("no rows")
            .is_empty()
    );
}

/// The functions of a predictor, which count the inputs of their evaluations.
struct Counted {
    functions: Predictor,
    inputs: Arc<AtomicUsize>,
}

impl AnyProcess for Counted {
    fn components(&self, x: Tensor<2>) -> Vec<Marginals> {
        self.inputs.fetch_add(x.dims()[0], Ordering::Relaxed);
        self.functions.process().components(x)
    }

    fn rows_per_input(&self) -> usize {
        self.functions.process().rows_per_input()
    }

    fn layer_means(&self, x: Tensor<2>) -> Vec<Tensor<2>> {
        self.functions.process().layer_means(x)
    }

    fn draws(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        self.functions.process().draws(x, samples, seed)
    }
}

/// Scoring evaluates each prediction only once, which matters if each is a linear solve.
#[test]
fn scores_are_of_predictions_that_are_made_once() {
    let predictor = predictor_of_four_classes();
    let (many, labels) = labeled(3000);
    let (device, dtype) = options();
    let inputs = Arc::new(AtomicUsize::new(0));
    let counted = Counted {
        functions: predictor_of_four_classes(),
        inputs: Arc::clone(&inputs),
    };
    let counted = Predictor::new(Box::new(counted), predictor.likelihood(), device, dtype);

    let (predictions, densities) = counted.score(&many, 1, &labels).expect("labels");

    assert_eq!(inputs.load(Ordering::Relaxed), many.len());
    assert_eq!(predictions, predictor.predict(&many, 1));
    let own = predictor.log_densities(&many, 1, &labels).expect("labels");
    assert_eq!(densities, own);
    let nothing = counted.score(&[], 1, &[]).expect("no rows");
    assert_eq!(nothing, Default::default());
}

/// The progress callback is called for every chunk, and the predictions are the same.
#[test]
fn predictions_can_be_watched() {
    let predictor = predictor_of_four_classes();
    let (many, labels) = labeled(5000);
    let (mut predicted, mut scored) = (Vec::new(), Vec::new());

    let predictions = predictor.predict_with(&many, 1, |rows| predicted.push(rows));
    let scores = predictor
        .score_with(&many, 1, &labels, |rows| scored.push(rows))
        .expect("labels");

    assert_eq!(predicted, [0, 2048, 4096]);
    assert_eq!(scored, predicted);
    assert_eq!(predictions, predictor.predict(&many, 1));
    assert_eq!(scores, predictor.score(&many, 1, &labels).expect("labels"));
}
