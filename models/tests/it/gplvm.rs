//! The Bayesian Gaussian-process latent variable model as a ready-made model: the dimensions it finds, new rows, missing
//! outputs, refusals and files.

use std::fs;

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    kernels::{KernelConfig, KernelDefinition, LinearConfig, StationaryConfig},
    likelihoods::GaussianConfig,
};
use burn_gp_models::{
    Error, FittedGplvm, GPLVM_FILE, GplvmConfig, InitError, RowMoments, SavedModelError,
    training::FullBatchTraining,
};
use rand::{SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};
use temp_dir::TempDir;

const OUTPUTS: usize = 5;

/// The standard deviation of the noise.
const NOISE: f64 = 0.05;

/// A curve in five dimensions.
fn curve(t: f64) -> [f64; OUTPUTS] {
    [
        t.sin(),
        2.0 * (t / 2.0).sin(),
        0.5 * t,
        t.sin() + 0.2 * t,
        3.0 + 0.3 * (t + 2.0).powi(2),
    ]
}

/// Points of the curve with noise, at places between −2 and 2.
fn rows(count: usize, seed: u64) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let places: Vec<f64> = (0..count)
        .map(|row| -2.0 + 4.0 * (row as f64 + 0.5) / count as f64)
        .collect();
    let row = |t: &f64| {
        let noisy = curve(*t).map(|y| {
            let noise: f64 = StandardNormal.sample(&mut random);
            y + NOISE * noise
        });
        noisy.to_vec()
    };
    let rows = places.iter().map(row).collect();
    (places, rows)
}

fn config() -> GplvmConfig {
    GplvmConfig::new(4).with_inducing(12)
}

/// A model of few rows that is trained for a few steps.
fn small(kernel: impl Into<KernelConfig>) -> GplvmConfig {
    let training = FullBatchTraining {
        iterations: 5,
        ..GplvmConfig::TRAINING
    };
    GplvmConfig::new(2)
        .with_kernel(kernel)
        .with_inducing(4)
        .with_training(training)
}

fn fitted() -> FittedGplvm {
    config().fit(&rows(60, 1).1).expect("a model")
}

/// The root of the mean squared difference of the entries that `counts` selects.
fn rmse(ours: &[Vec<f64>], expected: &[Vec<f64>], counts: impl Fn(usize, usize) -> bool) -> f64 {
    let (mut sum, mut number) = (0.0, 0.0);
    for (row, (ours, expected)) in ours.iter().zip(expected).enumerate() {
        for (column, (a, b)) in ours.iter().zip(expected).enumerate() {
            if counts(row, column) {
                sum += (a - b) * (a - b);
                number += 1.0;
            }
        }
    }
    f64::sqrt(sum / number)
}

fn exact(places: &[f64]) -> Vec<Vec<f64>> {
    places.iter().map(|t| curve(*t).to_vec()).collect()
}

/// The correlation of the ranks of numbers, without ties.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let rank = |value: &f64| values.iter().filter(|other| *other < value).count() as f64;
        values.iter().map(rank).collect()
    };
    let (a, b) = (ranks(a), ranks(b));
    let n = a.len() as f64;
    let squares: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum();
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}

/// One model of 60 rows for all checks, since training takes most of the time.
#[test]
fn a_curve_has_one_dimension_and_new_rows_find_their_place() {
    let (places, training) = rows(60, 1);
    let gplvm = fitted();

    // One of four dimensions is relevant, and orders the rows along the curve.
    let relevance = gplvm.relevance();
    let largest = relevance.iter().copied().fold(0.0, f64::max);
    let relevant: Vec<usize> = (0..4).filter(|&q| relevance[q] > 0.02 * largest).collect();
    assert_eq!(relevant.len(), 1, "{relevance:?}");
    let latent = gplvm.latent();
    let along: Vec<f64> = latent.means.iter().map(|row| row[relevant[0]]).collect();
    let correlation = rank_correlation(&along, &places).abs();
    assert!(correlation > 0.99, "{correlation}");

    // Rows are smoothed: closer to the curve than the noise, and their deviations contain the noise.
    let model = gplvm.reconstruct();
    let everything = |_, _| true;
    let error = rmse(&model.means, &exact(&places), everything);
    assert!(error < NOISE, "{error}");
    let residual = rmse(&model.means, &training, everything);
    assert!((0.5 * NOISE..1.5 * NOISE).contains(&residual), "{residual}");
    let deviation = model.deviations.concat().iter().sum::<f64>() / 300.0;
    assert!(
        (0.7 * NOISE..2.5 * NOISE).contains(&deviation),
        "{deviation}"
    );

    // New rows get latent inputs at which the outputs are those of the curve.
    let (places, new) = rows(17, 2);
    let latent = gplvm.infer(&new).expect("latent inputs");
    let outputs = gplvm.outputs_at(&latent.means).expect("outputs");
    let error = rmse(&outputs.means, &exact(&places), everything);
    assert!(error < 1.5 * NOISE, "{error}");

    // Two outputs of each new row are missing.
    let is_missing = |row: usize, column: usize| column == row % 5 || column == (row + 2) % 5;
    let mut partly = new.clone();
    for (row, values) in partly.iter_mut().enumerate() {
        for (column, value) in values.iter_mut().enumerate() {
            if is_missing(row, column) {
                *value = f64::NAN;
            }
        }
    }
    let imputed = gplvm.impute(&partly).expect("outputs");
    let error = rmse(&imputed.means, &exact(&places), is_missing);
    assert!(error < 3.0 * NOISE, "{error}");
    for (row, values) in new.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            if !is_missing(row, column) {
                assert_eq!(imputed.means[row][column], *value);
                assert_eq!(imputed.deviations[row][column], 0.0);
            }
        }
    }
}

/// A row's latent input does not depend on the rows beside it, and a row without outputs has the prior.
#[test]
fn rows_are_inferred_one_by_one() {
    let (_, training) = rows(20, 3);
    let gplvm = small(StationaryConfig::rbf())
        .fit(&training)
        .expect("a model");
    let new = vec![
        training[4].clone(),
        vec![f64::NAN; OUTPUTS],
        training[11].clone(),
    ];
    let together = gplvm.infer(&new).expect("latent inputs");
    for (row, values) in new.iter().enumerate() {
        let alone = gplvm.infer(vec![values.clone()]).expect("a latent input");
        assert_eq!(alone.means[0], together.means[row]);
        assert_eq!(alone.deviations[0], together.deviations[row]);
    }
    assert_eq!(together.means[1], [0.0, 0.0]);
    let is_one = |value: &f64| (value - 1.0).abs() < 1e-12;
    assert!(together.deviations[1].iter().all(is_one), "{together:?}");
    // Without observed outputs, the means are those of the prior of the inputs.
    let imputed = gplvm
        .impute(vec![vec![f64::NAN; OUTPUTS]])
        .expect("outputs");
    assert!(
        imputed.deviations[0]
            .iter()
            .all(|deviation| *deviation > 0.1)
    );
}

/// Scaling and shifting a column scales its predictions, and changes the bound by the logarithm of the scale.
#[test]
fn predictions_and_the_bound_are_in_the_units_of_the_data() {
    let (_, training) = rows(20, 4);
    let scaled: Vec<Vec<f64>> = (training.iter())
        .map(|row| row.iter().map(|y| 100.0 * y - 7.0).collect())
        .collect();
    let [plain, scaled] = [training, scaled].map(|rows| {
        let gplvm = small(StationaryConfig::rbf()).fit(&rows);
        gplvm.expect("a model")
    });
    let expected = plain.bound() - 20.0 * OUTPUTS as f64 * 100f64.ln();
    assert!((scaled.bound() - expected).abs() < 1e-4 * expected.abs());
    let (plain, scaled) = (plain.reconstruct(), scaled.reconstruct());
    for (plain, scaled) in plain.means.concat().iter().zip(scaled.means.concat()) {
        assert!((100.0 * plain - 7.0 - scaled).abs() < 1e-2);
    }
    for (plain, scaled) in plain
        .deviations
        .concat()
        .iter()
        .zip(scaled.deviations.concat())
    {
        assert!((100.0 * plain - scaled).abs() < 1e-2);
    }
}

/// A linear kernel finds a plane, as factor analysis does.
#[test]
fn a_linear_kernel_finds_linear_factors() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let row = |_| {
        let (a, b) = (normal(), normal());
        let each = [a, b, a + b, a - 2.0 * b, 0.5 * a].map(|y| y + NOISE * normal());
        each.to_vec()
    };
    let training: Vec<Vec<f64>> = (0..40).map(row).collect();
    let config = GplvmConfig::new(4)
        .with_kernel(LinearConfig::default())
        .with_inducing(4);
    let gplvm = config.fit(&training).expect("a model");
    let relevance = gplvm.relevance();
    let largest = relevance.iter().copied().fold(0.0, f64::max);
    let relevant = relevance
        .iter()
        .filter(|&&own| own > 0.02 * largest)
        .count();
    assert_eq!(relevant, 2, "{relevance:?}");
}

#[test]
fn single_precision_and_tensors_give_about_the_same() {
    let (_, training) = rows(20, 6);
    let config = small(StationaryConfig::rbf());
    let double = config.fit(&training).expect("a model");
    let device = Device::default();
    let rows = Tensor::<2>::from_data(
        burn::tensor::TensorData::new(training.concat(), [20, OUTPUTS]),
        (&device, DType::F32),
    );
    let single = config.fit(&rows).expect("a model");
    assert_eq!(double.place().1, DType::F64);
    assert_eq!(single.place().1, DType::F32);
    let error = rmse(
        &single.reconstruct().means,
        &double.reconstruct().means,
        |_, _| true,
    );
    assert!(error < 0.05, "{error}");
    let double = config
        .fit_on(&rows, (&device, DType::F64))
        .expect("a model");
    assert_eq!(double.place().1, DType::F64);
}

/// Rows that are equal, constant columns, and more latent dimensions than outputs.
#[test]
fn degenerate_outputs_have_a_model() {
    let cases = [
        vec![vec![1.0, 2.0]; 6],
        vec![vec![3.0]],
        (0..8).map(|row| vec![f64::from(row), 5.0]).collect(),
        (0..8).map(|row| vec![f64::from(row)]).collect(),
    ];
    for rows in cases {
        let mut config = small(StationaryConfig::rbf());
        config.inducing.at_most = true;
        let gplvm = config.fit(&rows).expect("a model");
        let moments = gplvm.reconstruct();
        let all = [
            moments.means.concat(),
            moments.deviations.concat(),
            vec![gplvm.bound()],
        ];
        assert!(
            all.concat().iter().all(|value| value.is_finite()),
            "{rows:?}"
        );
    }
}

#[test]
fn impossible_configurations_and_rows_are_refused() {
    let (_, training) = rows(20, 7);
    let fit = |config: GplvmConfig| config.fit(&training).expect_err("refused");
    let refused = fit(small(StationaryConfig::matern52()));
    assert!(
        matches!(refused, Error::Init(InitError::ExpectedProducts(_))),
        "{refused}"
    );
    let sum = StationaryConfig::rbf().plus(LinearConfig::default());
    let refused = fit(small(sum));
    assert!(
        refused.to_string().starts_with("Sum has no closed form"),
        "{refused}"
    );
    let refused = fit(small(StationaryConfig::rbf()).with_dimensions(0));
    assert!(
        matches!(refused, Error::Init(InitError::NoLatentDimensions)),
        "{refused}"
    );
    let refused = fit(small(StationaryConfig::rbf().with_variance(-1.0)));
    assert!(
        matches!(refused, Error::Init(InitError::Parameter(_))),
        "{refused}"
    );
    let refused = fit(small(StationaryConfig::rbf()).with_likelihood(GaussianConfig::new(0.0)));
    assert!(
        matches!(refused, Error::Init(InitError::Parameter(_))),
        "{refused}"
    );
    let refused = fit(small(StationaryConfig::rbf()).with_inducing(21));
    assert!(
        matches!(refused, Error::Init(InitError::Selection(_))),
        "{refused}"
    );

    let config = small(StationaryConfig::rbf());
    let mut holes = training.clone();
    holes[3][1] = f64::NAN;
    let refused = config.fit(&holes).expect_err("refused");
    assert!(matches!(refused, Error::Target(_)), "{refused}");
    let refused = config.fit(Vec::<Vec<f64>>::new()).expect_err("refused");
    assert!(matches!(refused, Error::Empty { .. }), "{refused}");

    let gplvm = config.fit(&training).expect("a model");
    for refused in [gplvm.infer([[1.0, 2.0]]), gplvm.impute([[1.0, 2.0]])] {
        let refused = refused.expect_err("refused");
        assert!(
            matches!(refused, Error::TargetColumns { found: 2, .. }),
            "{refused}"
        );
    }
    let refused = gplvm
        .infer([[f64::INFINITY, 0.0, 0.0, 0.0, 0.0]])
        .expect_err("refused");
    assert!(
        matches!(
            refused,
            Error::NotFinite {
                row: 0,
                column: 0,
                ..
            }
        ),
        "{refused}"
    );
    let refused = gplvm.outputs_at([[1.0]]).expect_err("refused");
    assert!(
        matches!(
            refused,
            Error::InputColumns {
                found: 1,
                expected: 2
            }
        ),
        "{refused}"
    );
    let refused = gplvm.outputs_at([[f64::NAN, 0.0]]).expect_err("refused");
    assert!(
        matches!(
            refused,
            Error::NotFinite {
                row: 0,
                column: 0,
                ..
            }
        ),
        "{refused}"
    );
}

#[test]
fn a_loaded_model_is_the_saved_one() {
    let (_, training) = rows(20, 8);
    for kernel in [
        KernelConfig::from(StationaryConfig::rbf()),
        LinearConfig::default().scaled(2.0),
    ] {
        let gplvm = small(kernel).fit(&training).expect("a model");
        let folder = TempDir::new().expect("a folder");
        gplvm.save(folder.path()).expect("files");
        let again = FittedGplvm::load(folder.path(), &Device::default()).expect("a model");
        assert_eq!(again.config(), gplvm.config());
        assert_eq!(again.bound(), gplvm.bound());
        assert_eq!(again.latent(), gplvm.latent());
        assert_eq!(again.relevance(), gplvm.relevance());
        assert_eq!(again.reconstruct(), gplvm.reconstruct());
        let new: Vec<Vec<f64>> = training[..2].to_vec();
        assert_eq!(
            again.infer(&new).expect("inputs"),
            gplvm.infer(&new).expect("inputs")
        );
        // Equal models have equal files.
        let other = TempDir::new().expect("a folder");
        again.save(other.path()).expect("files");
        let read =
            |folder: &TempDir, name: &str| fs::read(folder.path().join(name)).expect("a file");
        for name in [GPLVM_FILE, "weights.bpk"] {
            assert!(read(&folder, name) == read(&other, name), "{name}");
        }
    }
}

/// In single precision, a model has the same rows up to its precision.
#[test]
fn a_model_is_loaded_in_single_precision() {
    let gplvm = small(StationaryConfig::rbf()).fit(&rows(20, 8).1);
    let gplvm = gplvm.expect("a model");
    let folder = TempDir::new().expect("a folder");
    gplvm.save(folder.path()).expect("files");
    let place = (&Device::default(), DType::F32);
    let single = FittedGplvm::load(folder.path(), place).expect("a model");
    assert_eq!(single.place().1, DType::F32);
    let RowMoments { means, .. } = single.reconstruct();
    let error = rmse(&means, &gplvm.reconstruct().means, |_, _| true);
    assert!(error < 0.02, "{error}");
}

#[test]
fn damaged_files_are_refused() {
    let gplvm = small(StationaryConfig::rbf())
        .fit(&rows(20, 9).1)
        .expect("a model");
    let folder = TempDir::new().expect("a folder");
    gplvm.save(folder.path()).expect("files");
    let path = folder.path().join(GPLVM_FILE);
    let text = fs::read_to_string(&path).expect("a file");
    fs::write(&path, text.replace("\"rows\": 20", "\"rows\": 21")).expect("a file");
    let refused = FittedGplvm::load(folder.path(), &Device::default()).expect_err("refused");
    assert!(
        matches!(refused, Error::Files(SavedModelError::Damaged(_))),
        "{refused}"
    );
    // With new checksums, the parameter values have another shape.
    let mut checked = burn_gp_models::CheckedFolder::new(folder.path());
    checked.add_files().expect("checksums");
    checked.seal().expect("checksums");
    let refused = FittedGplvm::load(folder.path(), &Device::default()).expect_err("refused");
    assert!(
        matches!(refused, Error::Files(SavedModelError::Read { .. })),
        "{refused}"
    );
}
