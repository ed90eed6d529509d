//! Known terms of functions: offsets, and the logarithms of exposures of counts.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    kernels::{KernelConfig, KernelDefinition, StationaryConfig},
    likelihoods::{GaussianConfig, LikelihoodConfig},
    means::{MeanConfig, OffsetMeanConfig},
    ops::{number, numbers},
    process::Process,
};
use burn_gp_models::{
    ExactConfig, Fit, FitModel, ModelConfig, SgprConfig, SvgpConfig, VecchiaConfig,
    VecchiaLaplaceConfig, VifConfig,
    training::{Model, TrainingData},
};
use libm::lgamma;
use rand::{SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, Poisson};

const ROWS: usize = 120;

/// The log rate of one unit of exposure.
fn log_rate(x: f64) -> f64 {
    0.5 + x.sin()
}

/// Exposures from 0.1 to 1000 in a mixed order.
fn exposure(row: usize) -> f64 {
    10f64.powf(-1.0 + 4.0 * ((37 * row) % ROWS) as f64 / (ROWS - 1) as f64)
}

fn place(row: usize) -> f64 {
    6.0 * row as f64 / (ROWS - 1) as f64
}

/// Counts of these exposures.
fn counts(exposure: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut count = |row: usize| {
        let rate = exposure(row) * log_rate(place(row)).exp();
        Poisson::new(rate)
            .expect("a positive rate")
            .sample(&mut random)
    };
    (0..ROWS).map(&mut count).collect()
}

/// Places with the logarithms of exposures.
fn inputs(exposure: impl Fn(usize) -> f64) -> Vec<[f64; 2]> {
    (0..ROWS)
        .map(|row| [place(row), exposure(row).ln()])
        .collect()
}

fn data(inputs: &[[f64; 2]], targets: &[f64], dtype: DType) -> TrainingData {
    let device = Device::default().autodiff();
    TrainingData::new(&inputs.concat(), targets, &device, dtype)
}

fn kernel() -> KernelConfig {
    StationaryConfig::rbf().on_dimensions(vec![0])
}

fn mean() -> MeanConfig {
    OffsetMeanConfig::new(vec![1]).into()
}

fn svgp() -> SvgpConfig {
    let config = SvgpConfig::new(kernel(), LikelihoodConfig::poisson());
    config.with_mean(mean()).with_inducing(12)
}

fn vecchia_laplace() -> VecchiaLaplaceConfig {
    let config = VecchiaLaplaceConfig::new(kernel(), LikelihoodConfig::poisson());
    config.with_mean(mean())
}

/// `Σ_n y_n·(μ_n + log e_n) − e_n·exp(μ_n + v_n/2) − log y_n!`, with the marginals of one unit of exposure.
#[test]
fn the_bound_is_that_of_rates_times_exposures() {
    for (dtype, tolerance) in [(DType::F64, 1e-10), (DType::F32, 1e-4)] {
        let (inputs, targets) = (inputs(exposure), counts(exposure));
        let data = data(&inputs, &targets, dtype);
        let model = svgp().init(&data).expect("a model");
        let objective = model.objective(data.inputs.clone(), data.targets.clone(), ROWS);
        let found = number(objective.expect("a bound").fit);
        let process = model.condition().expect("factors");
        let ones: Vec<f64> = (0..ROWS).flat_map(|row| [place(row), 0.0]).collect();
        let options = (&data.inputs.device().inner(), dtype);
        let ones = Tensor::<1>::from_data(&ones[..], options).reshape([ROWS, 2]);
        let marginals = process.marginals(ones);
        let moments = numbers(marginals.mean)
            .into_iter()
            .zip(numbers(marginals.variance));
        let terms = moments.enumerate().map(|(row, (mean, variance))| {
            let (y, e) = (targets[row], exposure(row));
            y * (mean + e.ln()) - e * (mean + 0.5 * variance).exp() - lgamma(y + 1.0)
        });
        let expected: f64 = terms.sum();
        assert!(
            (found - expected).abs() <= tolerance * expected.abs(),
            "{dtype:?}: {found} {expected}"
        );
    }
}

/// The rate of one unit is within its posterior uncertainty, and two units have twice the counts of one.
#[test]
fn rates_are_recovered_whatever_the_exposures() {
    let (x, y) = (inputs(exposure), counts(exposure));
    let models: [(&str, ModelConfig, Fit); 2] = [
        ("svgp", svgp().into(), Fit::l_bfgs()),
        ("vecchia-laplace", vecchia_laplace().into(), Fit::new()),
    ];
    for (name, config, fit) in models {
        let gp = config.fit(&x, &y, &fit).expect("a fit");
        for at in [0.5, 2.0, 3.5, 5.0] {
            let predicted = gp
                .predict([[at, 0.0], [at, 2f64.ln()]])
                .expect("predictions");
            let means: Vec<f64> = predicted.mean().into_data().iter().collect();
            let error = means[0].ln() - log_rate(at);
            // Around each place, 20 rows have some 3000 counts: a relative error of 2 %, and the noise of exposures.
            assert!(error.abs() < 0.1, "{name} at {at}: {error}");
            let ratio = means[1] / means[0];
            assert!((ratio - 2.0).abs() < 1e-4, "{name} at {at}: {ratio}");
        }
    }
}

/// Exposures of one are as good as none, and a column that is added plays no other part.
#[test]
fn exposures_of_one_change_nothing() {
    let y = counts(|_| 1.0);
    let plain: Vec<[f64; 1]> = (0..ROWS).map(|row| [place(row)]).collect();
    let places = [0.4, 1.9, 5.5];
    let constant = || MeanConfig::constant(0.0);
    let rbf = StationaryConfig::rbf;
    let poisson = LikelihoodConfig::poisson;
    let pairs: [(&str, ModelConfig, ModelConfig, Fit); 3] = [
        (
            "svgp",
            svgp().into(),
            SvgpConfig::new(rbf(), poisson())
                .with_mean(constant())
                .with_inducing(12)
                .into(),
            Fit::adam(0.05).steps(30).seed(3),
        ),
        (
            "vecchia-laplace",
            vecchia_laplace().into(),
            VecchiaLaplaceConfig::new(rbf(), poisson())
                .with_mean(constant())
                .into(),
            Fit::new().steps(10),
        ),
        (
            "exact",
            ExactConfig::new(kernel()).with_mean(mean()).into(),
            ExactConfig::new(rbf()).with_mean(constant()).into(),
            Fit::new().steps(10),
        ),
    ];
    let device = (&Device::default(), DType::F64);
    for (name, with, without, fit) in pairs {
        let fit = fit.on(device);
        let with = with.fit(inputs(|_| 1.0), &y, &fit).expect("a fit");
        let without = without.fit(&plain, &y, &fit).expect("a fit");
        let zeros = places.map(|place| [place, 0.0]);
        let with = with.predict(zeros).expect("predictions");
        let without = without
            .predict(places.map(|place| [place]))
            .expect("predictions");
        for (one, other) in [
            (with.mean(), without.mean()),
            (with.standard_deviation(), without.standard_deviation()),
        ] {
            for (one, other) in numbers(one).into_iter().zip(numbers(other)) {
                // The same steps, with sums in another order.
                let difference = (one - other).abs();
                assert!(difference <= 1e-6 * other.abs(), "{name}: {one} {other}");
            }
        }
    }
}

/// Exact regression on `y = sin x + o` with the offset o equals regression on `y − o`, in the units of the data.
#[test]
fn an_offset_of_real_targets_is_subtracted_and_added_back() {
    let offset = |row: usize| 30.0 * ((13 * row) % 11) as f64;
    let x: Vec<[f64; 2]> = (0..40).map(|row| [place(3 * row), offset(row)]).collect();
    let signal: Vec<f64> = x.iter().map(|[x, _]| 5.0 * x.sin()).collect();
    let y: Vec<f64> = (signal.iter().zip(&x))
        .map(|(signal, [_, o])| signal + o)
        .collect();
    let fit = Fit::new().on((&Device::default(), DType::F64));
    let config = ExactConfig::new(kernel()).with_mean(mean());
    let gp = config.fit(&x, &y, &fit).expect("a fit");
    let predicted = gp
        .predict([[1.0, 0.0], [1.0, 1000.0]])
        .expect("predictions");
    let means = numbers(predicted.mean());
    // The signal has no noise.
    assert!((means[0] - 5.0 * 1f64.sin()).abs() < 0.2, "{means:?}");
    assert!((means[1] - means[0] - 1000.0).abs() < 1e-8, "{means:?}");
    let deviations = numbers(predicted.standard_deviation());
    assert!(
        (deviations[1] - deviations[0]).abs() < 1e-10,
        "{deviations:?}"
    );
}

/// Known terms move neither inducing points nor neighbors nor the order of rows: a model of `y` with the offset o is one
/// of `y − o`.
#[test]
fn offsets_are_no_distances() {
    // Standardized places are closer to each other than these offsets, which would count in distances.
    let offset = |row: usize| 2.0 * ((13 * row) % 11) as f64;
    let signal = |row: usize| place(row).sin() + 0.1 * (7.0 * row as f64).cos();
    let with: Vec<[f64; 2]> = (0..ROWS).map(|row| [place(row), offset(row)]).collect();
    let without: Vec<[f64; 1]> = (0..ROWS).map(|row| [place(row)]).collect();
    let targets: Vec<f64> = (0..ROWS).map(signal).collect();
    let shifted: Vec<f64> = (0..ROWS).map(|row| signal(row) + offset(row)).collect();
    let rbf = || KernelConfig::from(StationaryConfig::matern32());
    let constant = || MeanConfig::constant(0.0);
    let config = |kernel: KernelConfig, mean: MeanConfig| -> Vec<(&str, ModelConfig)> {
        let gaussian = GaussianConfig { noise: 0.1 };
        vec![
            (
                "exact",
                ExactConfig::new(kernel.clone())
                    .with_mean(mean.clone())
                    .into(),
            ),
            (
                "vecchia",
                VecchiaConfig::new(kernel.clone())
                    .with_mean(mean.clone())
                    .into(),
            ),
            (
                "sgpr",
                SgprConfig::new(kernel.clone())
                    .with_mean(mean.clone())
                    .with_inducing(9)
                    .into(),
            ),
            (
                "vif",
                VifConfig::new(kernel.clone())
                    .with_mean(mean.clone())
                    .with_inducing(9)
                    .into(),
            ),
            (
                "svgp",
                SvgpConfig::new(kernel, gaussian)
                    .with_mean(mean)
                    .with_inducing(9)
                    .into(),
            ),
        ]
    };
    let added = rbf().on_dimensions(vec![0]);
    let pairs = config(added, mean())
        .into_iter()
        .zip(config(rbf(), constant()));
    let device = (&Device::default(), DType::F64);
    for ((name, one), (_, other)) in pairs {
        let fit = Fit::new().steps(6).scale_targets(false).on(device);
        let one = one.fit(&with, &shifted, &fit).expect("a fit");
        let other = other.fit(&without, &targets, &fit).expect("a fit");
        let one = one.predict([[1.1, 0.0], [4.2, 0.0]]).expect("predictions");
        let other = other.predict([[1.1], [4.2]]).expect("predictions");
        for (one, other) in [
            (one.mean(), other.mean()),
            (one.standard_deviation(), other.standard_deviation()),
        ] {
            for (one, other) in numbers(one).into_iter().zip(numbers(other)) {
                // Adding and subtracting 20 costs a digit, and training passes that on.
                assert!((one - other).abs() < 1e-7, "{name}: {one} {other}");
            }
        }
    }
}

#[test]
fn offsets_that_cannot_be_added_are_refused() {
    let fit = Fit::new();
    let (x, y) = (vec![[0.0], [1.0], [2.0]], vec![1.0, 2.0, 0.0]);
    let error = svgp().fit(&x, &y, &fit).expect_err("no second input");
    assert!(error.to_string().contains("mean"), "{error}");
    let x: Vec<[f64; 2]> = (0..4).map(|row| [f64::from(row), 0.5]).collect();
    let y: Vec<[f64; 2]> = x.iter().map(|[x, _]| [x.sin(), x.cos()]).collect();
    let config = ExactConfig::new(kernel()).with_mean(mean());
    let scaled = Fit::new().scale_targets(true);
    let error = config
        .fit(&x, &y, &scaled)
        .expect_err("two units of targets");
    assert!(error.to_string().contains("offset"), "{error}");
}
