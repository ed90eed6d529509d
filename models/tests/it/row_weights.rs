//! Weights of training rows count as repetitions.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, HeteroskedasticConfig, LikelihoodConfig},
    ops::{Stationary, number},
};
use burn_gp_models::{
    AnySvgp, SvgpConfig,
    training::{AnyTrainer, MiniBatchTraining, Model, TrainingData, TrainingError},
};

const WEIGHTS: [usize; 6] = [1, 3, 0, 2, 1, 4];
const INPUTS: [f64; 6] = [-2.0, -1.1, -0.3, 0.4, 1.2, 2.1];

/// The targets of the rows, of so many columns, as labels and variances allow them.
fn targets(columns: usize) -> Vec<Vec<f64>> {
    let row = |row: usize| {
        let label = f64::from(u8::from(INPUTS[row].sin() > 0.0));
        [label, 0.5 + 0.1 * row as f64][..columns].to_vec()
    };
    (0..INPUTS.len()).map(row).collect()
}

fn data(inputs: &[f64], targets: &[Vec<f64>], dtype: DType) -> TrainingData {
    let device = Device::default().autodiff();
    let columns = targets[0].len();
    TrainingData::with_target_columns(inputs, &targets.concat(), columns, &device, dtype)
}

/// Every row as often as its weight says.
fn repeated(columns: usize, dtype: DType) -> TrainingData {
    let targets = targets(columns);
    let rows = WEIGHTS.iter().enumerate();
    let rows: Vec<usize> = rows.flat_map(|(row, &count)| vec![row; count]).collect();
    let inputs: Vec<f64> = rows.iter().map(|&row| INPUTS[row]).collect();
    let targets: Vec<Vec<f64>> = rows.iter().map(|&row| targets[row].clone()).collect();
    data(&inputs, &targets, dtype)
}

fn weighted(columns: usize, dtype: DType) -> TrainingData {
    let rows = targets(columns).into_iter().zip(WEIGHTS);
    let rows = rows.map(|(row, weight)| [row, vec![weight as f64]].concat());
    data(&INPUTS, &rows.collect::<Vec<_>>(), dtype)
}

fn model(likelihood: LikelihoodConfig, columns: usize, dtype: DType) -> AnySvgp {
    let kernel = StationaryConfig::new(Stationary::Matern32);
    let config = SvgpConfig::new(kernel, likelihood).with_inducing(4);
    (config.init(&data(&INPUTS, &targets(columns), dtype))).expect("distinct inputs")
}

/// Both sums have the same terms; those of repeated rows are added one by one.
#[test]
fn the_objective_is_that_of_repeated_rows() {
    let likelihoods: [(LikelihoodConfig, usize); 4] = [
        (GaussianConfig { noise: 0.2 }.into(), 1),
        (LikelihoodConfig::bernoulli_logit(), 1),
        (HeteroskedasticConfig::default().into(), 1),
        (LikelihoodConfig::fixed_noise(), 2),
    ];
    for (dtype, tolerance) in [(DType::F64, 1e-12), (DType::F32, 1e-4)] {
        for (likelihood, columns) in &likelihoods {
            let model = model(likelihood.clone(), *columns, dtype);
            let TrainingData { inputs, targets } = repeated(*columns, dtype);
            let count = WEIGHTS.iter().sum();
            let expected = model.objective(inputs, targets, count).expect("factors");
            let TrainingData { inputs, targets } = weighted(*columns, dtype);
            let model = model.with_row_weights();
            let found = (model.objective(inputs, targets, WEIGHTS.len())).expect("factors");
            let [found, expected] = [found, expected].map(|terms| number(terms.value()));
            assert!(
                (found - expected).abs() <= tolerance * expected.abs(),
                "{likelihood:?}: {found} {expected}"
            );
        }
    }
}

/// A row of weight zero has no influence, whatever its target.
#[test]
fn a_row_of_weight_zero_does_not_matter() {
    let train = |outlier: f64| {
        let mut data = weighted(1, DType::F64);
        let device = data.targets.device();
        let value = Tensor::from_data([[outlier]], (&device, DType::F64));
        data.targets = data.targets.slice_assign([2..3, 0..1], value);
        let model = model(GaussianConfig { noise: 0.2 }.into(), 1, DType::F64);
        let mut model = model.boxed();
        assert!(model.use_row_weights());
        let mut trainer = AnyTrainer::new(model, data, MiniBatchTraining::new(20).into());
        (0..20)
            .map(|_| trainer.step().expect("a step").loss)
            .collect::<Vec<f64>>()
    };
    let losses = train(0.0);
    assert_eq!(losses, train(2.5));
    assert!(losses[19] < losses[0]);
}

#[test]
fn negative_weights_are_refused() {
    let mut data = weighted(1, DType::F64);
    let device = data.targets.device();
    let value = Tensor::from_data([[-1.0]], (&device, DType::F64));
    data.targets = data.targets.slice_assign([3..4, 1..2], value);
    let model = model(GaussianConfig { noise: 0.2 }.into(), 1, DType::F64).with_row_weights();
    let mut trainer = AnyTrainer::new(model, data, MiniBatchTraining::new(2).into());
    let error = trainer.step().expect_err("a negative weight");
    let TrainingError::Target(impossible) = &error else {
        panic!("{error}");
    };
    assert_eq!((impossible.row, impossible.column), (3, 1));
    assert!(
        error.to_string().contains("weights that are not negative"),
        "{error}"
    );
}

/// A trained model predicts and scores without weights.
#[test]
fn a_trained_model_needs_no_weights() {
    let model = model(LikelihoodConfig::bernoulli_logit(), 1, DType::F64).with_row_weights();
    let trained = model.trained(&weighted(1, DType::F64)).expect("factors");
    let predictor = trained.predictor().expect("factors");
    let densities = predictor.log_density(&INPUTS, 1, &targets(1).concat());
    assert_eq!(densities.expect("labels").len(), INPUTS.len());
}
