//! Weights of training rows count as repetitions.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    features::PerceptronConfig,
    inference::RowColumns,
    kernels::StationaryConfig,
    likelihoods::{GaussianConfig, HeteroskedasticConfig, LikelihoodConfig},
    ops::{Stationary, number},
    parameter::ParameterConfig,
};
use burn_gp_models::{
    AnySvgp, BasisConfig, DeepGpConfig, DeepKernelConfig, Fit, FitModel, Fitted, InducingConfig,
    LayerConfig, ModelConfig, SvdbkConfig, SvgpConfig,
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

const WEIGHT_COLUMN: RowColumns = RowColumns {
    weights: true,
    noise: false,
};

/// The models with an expected log density for each row, all with the same mechanism.
#[test]
fn every_variational_model_takes_weights() {
    let kernel = StationaryConfig::new(Stationary::Matern32);
    let svgp = SvgpConfig::new(kernel.clone(), LikelihoodConfig::bernoulli()).with_inducing(4);
    let deep = DeepGpConfig::new(LayerConfig::new(kernel), LikelihoodConfig::bernoulli());
    let mut basis = SvdbkConfig::new(LikelihoodConfig::bernoulli());
    basis.basis = BasisConfig::new(PerceptronConfig::default(), 4);
    let configs: [ModelConfig; 4] = [
        svgp.clone().into(),
        deep.into(),
        basis.into(),
        DeepKernelConfig::new(svgp).into(),
    ];
    for config in configs {
        let what = config.name();
        assert!(config.takes_row_columns().weights, "{what}");
        let rows = data(&INPUTS, &targets(1), DType::F64);
        let mut resolved = config.clone();
        resolved.resolve(&rows);
        let mut model = resolved.init(&rows).expect("a model");
        let TrainingData { inputs, targets } = repeated(1, DType::F64);
        let count = WEIGHTS.iter().sum();
        let expected = model.objective(inputs, targets, count).expect("factors");
        let TrainingData { inputs, targets } = weighted(1, DType::F64);
        assert!(model.use_row_columns(WEIGHT_COLUMN), "{what}");
        model.check_targets(&targets).expect("labels and weights");
        let found = (model.objective(inputs, targets, WEIGHTS.len())).expect("factors");
        let [found, expected] = [found, expected].map(|terms| number(terms.value()));
        // Both sums have the same terms; those of repeated rows are added one by one.
        let error = (found - expected).abs();
        assert!(
            error <= 1e-12 * expected.abs(),
            "{what}: {found} {expected}"
        );
        let trained = model.trained(&weighted(1, DType::F64)).expect("factors");
        let predictor = trained.predictor().expect("factors");
        let densities = predictor.log_density(&INPUTS, 1, &labels());
        assert_eq!(densities.expect("labels").len(), INPUTS.len(), "{what}");
    }
}

/// The labels of the rows.
fn labels() -> Vec<f64> {
    targets(1).concat()
}

/// On all rows at once, too: the optimum with weights is that of repeated rows.
#[test]
fn a_fit_with_weights_is_a_fit_to_repeated_rows() {
    let x = [-2.0, -1.1, -0.3, 0.4, 1.2, 2.1];
    let y = [-0.8, -1.0, -0.2, 0.5, 0.8, 0.9];
    let weights = [1.0, 3.0, 2.0, 2.0, 1.0, 4.0];
    let (mut every_x, mut every_y) = (Vec::new(), Vec::new());
    for ((x, y), weight) in x.iter().zip(y).zip(weights) {
        every_x.extend(vec![*x; weight as usize]);
        every_y.extend(vec![y; weight as usize]);
    }
    // The points are those of the distinct rows. With fixed hyperparameters the optimum is unique.
    let frozen = ["kernel", "likelihood", "posterior.inducing"].map(str::to_owned);
    let parameters = ParameterConfig {
        frozen: frozen.into(),
        ..ParameterConfig::default()
    };
    let config = SvgpConfig::new(StationaryConfig::rbf(), GaussianConfig { noise: 0.1 })
        .with_inducing(InducingConfig::new(6))
        .with_parameters(parameters);
    let fit = || {
        let fit = Fit::l_bfgs().steps(400).tolerance(1e-14);
        (fit.scale_inputs(false).scale_targets(false)).on((&Device::default(), DType::F64))
    };
    let new = [-1.5, 0.0, 0.8, 3.0];
    let predictions = |gp: Fitted| gp.predict(new).expect("predictions").predictions().clone();
    let repeated = predictions(config.fit(&every_x, &every_y, &fit()).expect("a fit"));
    let weighted = fit().row_weights(weights);
    let weighted = predictions(config.fit(x, y, &weighted).expect("a fit"));
    // L-BFGS stops near the optimum, where the objective is flat.
    assert_near(&weighted.mean, &repeated.mean, 1e-4);
    assert_near(&weighted.variance, &repeated.variance, 1e-4);
    let unweighted = predictions(config.fit(x, y, &fit()).expect("a fit"));
    let change = (unweighted.variance.iter()).zip(&repeated.variance);
    assert!(
        change
            .into_iter()
            .any(|(one, other)| (one - other).abs() > 0.01)
    );
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < tolerance, "{found} {expected}");
    }
}

#[test]
fn weights_that_cannot_be_are_refused_by_fit() {
    let (x, y) = ([0.0, 1.0, 2.0], [0.1, 0.9, 2.1]);
    let svgp = SvgpConfig::new(StationaryConfig::rbf(), GaussianConfig::default()).with_inducing(2);
    let refused = |weights: &[f64], sentence: &str| {
        let fit = Fit::adam(0.1).steps(1).row_weights(weights);
        let error = svgp.fit(x, y, &fit).expect_err("wrong weights").to_string();
        assert!(error.contains(sentence), "{error}");
    };
    refused(
        &[1.0, 2.0],
        "the number of weights of rows is 2; expected one for each of 3",
    );
    refused(
        &[1.0, -2.0, 1.0],
        "a weight of a row is -2; it must not be negative",
    );
    refused(&[0.0; 3], "it must be positive for at least one row");
    refused(&[1.0, f64::NAN, 1.0], "not a finite number");
    let fit = Fit::adam(0.1).steps(1).row_weights([1.0; 3]).restarts(2);
    let error = svgp.fit(x, y, &fit).expect_err("restarts").to_string();
    assert!(error.contains("restarts has no effect"), "{error}");
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
        assert!(model.use_row_columns(WEIGHT_COLUMN));
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
