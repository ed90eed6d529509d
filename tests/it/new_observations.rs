//! Added and removed rows, compared with models that are conditioned on the same rows from scratch, and with values
//! computed by their definitions in 50 digits.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inducing::{Inducing, InducingPoints},
    inference::{
        ActionStart, BlockActions, Collapsed, ComputationAware, ConditionError, Exact, UpdateError,
    },
    kernels::{KernelConfig, Kernels, StationaryConfig, StationaryKernel},
    likelihoods::{Gaussian, GaussianConfig},
    means::{MeanConfig, ZeroMean},
    ops::{Blocks, Jitter, Stationary, add_diagonal, cholesky},
    process::{
        ConditionedProcess, CovarianceShape, Process, VariationalGaussian, WhitenedCovariance,
        WithMean,
    },
    variational::{Posterior, Whitened},
};

use crate::support::{Platform, assert_close, numbers, plane, platforms};

const ROWS: usize = 14;
const NOISE: f64 = 0.2;

/// The rows of a range.
fn part(matrix: &Tensor<2>, rows: std::ops::Range<usize>) -> Tensor<2> {
    matrix.clone().narrow(0, rows.start, rows.len())
}

/// Some rows, in this order.
fn select(matrix: &Tensor<2>, rows: &[usize]) -> Tensor<2> {
    let rows = rows.iter().map(|&row| part(matrix, row..row + 1));
    Tensor::cat(rows.collect(), 0)
}

fn new_inputs(platform: &Platform) -> Tensor<2> {
    platform.tensor(&[0.1, -0.4, 1.2, 0.9, -1.5, 0.3, 4.0, 4.0], [4, 2])
}

fn exact(platform: &Platform) -> Exact<burn_gp_core::kernels::AnyKernel> {
    let place = platform.options();
    Exact::new(
        KernelConfig::from(StationaryConfig::matern52()).init(2, place),
        MeanConfig::constant(0.4).init(2, 2, place),
        GaussianConfig { noise: NOISE }.init(place),
    )
}

fn collapsed(platform: &Platform) -> Collapsed {
    let place = platform.options();
    Collapsed::new(
        KernelConfig::from(StationaryConfig::matern52()).init(2, place),
        MeanConfig::constant(0.4).init(2, 2, place),
        GaussianConfig { noise: NOISE }.init(place),
        InducingPoints::new(part(&plane(platform, ROWS).0, 3..9)),
        Jitter::NONE,
    )
}

fn noise(platform: &Platform) -> Tensor<1> {
    platform.tensor(&[NOISE], [1])
}

/// Compares the joint distributions of two processes. Both factor well-conditioned matrices of order one, so that
/// they differ by rounding alone: hundreds of operations in double precision, and in single precision the
/// differences of covariances lose four digits.
fn assert_same(what: &str, platform: &Platform, ours: &impl Process, expected: &impl Process) {
    let tolerance = platform.tolerance(1e-10, 2e-3);
    let x = new_inputs(platform);
    let (ours, expected) = (ours.joint(x.clone()), expected.joint(x));
    let check = |part: &str, ours: Vec<f64>, expected: Vec<f64>| {
        let what = format!("{part} of {what} on {platform}");
        assert_close(&what, &ours, &expected, tolerance);
    };
    check("means", numbers(ours.mean), numbers(expected.mean));
    check(
        "covariances",
        numbers(ours.covariance),
        numbers(expected.covariance),
    );
}

/// Adds the rows from the sixth on, in groups of several sizes.
fn added(
    platform: &Platform,
    condition: impl Fn(Tensor<2>, Tensor<2>) -> Result<WithMean<ConditionedProcess>, ConditionError>,
) -> WithMean<ConditionedProcess> {
    let (x, y) = plane(platform, ROWS);
    let mut process = condition(part(&x, 0..6), part(&y, 0..6)).expect("a process");
    for rows in [6..11, 11..12, 12..ROWS] {
        let (x, y) = (part(&x, rows.clone()), part(&y, rows));
        let more = process.condition_on_observations(x, y, noise(platform));
        process = more.expect("more rows");
    }
    process
}

#[test]
fn added_rows_are_conditioning_on_all_rows() {
    for platform in &platforms() {
        let (x, y) = plane(platform, ROWS);
        let model = exact(platform);
        let expected = model.condition(x.clone(), y.clone()).unwrap();
        let ours = added(platform, |x, y| model.condition(x, y));
        assert_same("exact", platform, &ours, &expected);
        let factors = [&ours, &expected].map(|own| numbers(own.process().factor().lower()));
        let tolerance = platform.tolerance(1e-12, 1e-4);
        assert_close("factor", &factors[0], &factors[1], tolerance);
        let model = collapsed(platform);
        let expected = model.condition(x, y).unwrap();
        let ours = added(platform, |x, y| model.condition(x, y));
        assert_same("collapsed", platform, &ours, &expected);
    }
}

/// The optimal `q(u)` of the first rows becomes that of all rows, and its bound the best one.
#[test]
fn an_optimal_posterior_stays_optimal() {
    for platform in &platforms() {
        let ((x, y), model) = (plane(platform, ROWS), collapsed(platform));
        let distribution = model.optimal_distribution(part(&x, 0..6), part(&y, 0..6));
        let inducing = model.inducing().clone();
        let posterior = Whitened::new(inducing, distribution.unwrap(), Jitter::NONE);
        let prior = Kernels::from(model.kernel().clone());
        let (more, targets) = (part(&x, 6..ROWS), part(&y, 6..ROWS));
        let residual = model.mean().residual(targets, more.clone());
        let noise = noise(platform).expand([ROWS - 6]);
        let posterior = posterior
            .condition_on_observations(&prior, more, residual, noise)
            .unwrap();
        let ours = WithMean::new(posterior.condition(&prior).unwrap(), model.mean().clone());
        let expected = model.condition(x, y).unwrap();
        assert_same("posterior", platform, &ours, &expected);
        let shape = posterior.distribution().covariance_shape();
        assert_eq!(shape, CovarianceShape::Full);
    }
}

/// Functions with kernels of their own are updated as each by itself.
#[test]
fn separate_functions_are_updated_separately() {
    for platform in &platforms() {
        let ((x, y), place) = (plane(platform, ROWS), platform.options());
        let kernels = [0.7, 1.3].map(|lengthscale| {
            let config = StationaryConfig::matern32().with_lengthscale(lengthscale);
            KernelConfig::from(config).init(2, place)
        });
        let points = || InducingPoints::new(part(&x, 3..9));
        let noise = platform.tensor(&[0.1, 0.2, 0.3, 0.4, 0.5], [5]);
        let update = |kernels: Kernels, targets: Tensor<2>| {
            let [_, outputs] = targets.dims();
            let standard =
                VariationalGaussian::standard(6, outputs, CovarianceShape::Diagonal, place);
            let posterior = Whitened::new(points(), standard, Jitter::NONE)
                .condition_on_observations(&kernels, part(&x, 0..5), targets, noise.clone())
                .unwrap();
            posterior.condition(&kernels).unwrap()
        };
        let all = update(Kernels::separate(kernels.iter().cloned()), part(&y, 0..5));
        let all = all.joint(new_inputs(platform));
        for (output, kernel) in kernels.iter().enumerate() {
            let targets = part(&y, 0..5).narrow(1, output, 1);
            let own = update(Kernels::from(kernel.clone()), targets).joint(new_inputs(platform));
            let tolerance = platform.tolerance(1e-11, 1e-4);
            let mean = all.mean.clone().narrow(1, output, 1);
            assert_close("means", &numbers(mean), &numbers(own.mean), tolerance);
            let covariance = all.covariance.clone().narrow(0, output, 1);
            let (ours, own) = (numbers(covariance), numbers(own.covariance));
            assert_close("covariances", &ours, &own, tolerance);
        }
    }
}

#[test]
fn removed_rows_are_conditioning_on_the_others() {
    for platform in &platforms() {
        let ((x, y), model) = (plane(platform, ROWS), exact(platform));
        let process = model.condition(x.clone(), y.clone()).unwrap();
        for removed in [vec![0], vec![ROWS - 1], vec![8, 2, 2, 13, 7]] {
            let ours = process.without_observations(&removed).unwrap();
            let kept: Vec<usize> = (0..ROWS).filter(|row| !removed.contains(row)).collect();
            let expected = model.condition(select(&x, &kept), select(&y, &kept));
            let what = format!("exact without {removed:?}");
            assert_same(&what, platform, &ours, &expected.unwrap());
        }
        let same = process.without_observations(&[]).unwrap();
        assert_same("exact without none", platform, &same, &process);
    }
}

/// Rounding does not pile up while a window moves over many more rows than it has. In single precision, each step
/// rounds the factor once more.
#[test]
fn a_moving_window_stays_accurate() {
    for platform in &platforms() {
        let (window, steps, place) = (20, 100, platform.options());
        let model = Exact::new(
            StationaryKernel::new(Stationary::Matern32, &[0.8], 1.1, place),
            ZeroMean::new(1),
            Gaussian::new(0.05, place),
        );
        let x: Vec<f64> = (0..window + steps).map(|i| 0.1 * i as f64).collect();
        let y: Vec<f64> = x.iter().map(|x| (2.0 * x).sin()).collect();
        let rows = |values: &[f64]| platform.tensor(values, [values.len(), 1]);
        let mut process = model
            .condition(rows(&x[..window]), rows(&y[..window]))
            .unwrap();
        for step in window..window + steps {
            let (x, y) = (rows(&x[step..=step]), rows(&y[step..=step]));
            let more = process.condition_on_observations(x, y, model.likelihood().noise());
            process = more.unwrap().without_observations(&[0]).unwrap();
        }
        let expected = model
            .condition(rows(&x[steps..]), rows(&y[steps..]))
            .unwrap();
        let at = rows(&[x[steps], x[steps + 10], x[steps + window - 1] + 0.2]);
        let (ours, expected) = (process.marginals(at.clone()), expected.marginals(at));
        let tolerance = platform.tolerance(1e-11, 1e-4);
        assert_close(
            "means",
            &numbers(ours.mean),
            &numbers(expected.mean),
            tolerance,
        );
        let (ours, expected) = (numbers(ours.variance), numbers(expected.variance));
        assert_close("variances", &ours, &expected, tolerance);
    }
}

#[test]
fn fantasies_are_each_an_update() {
    for platform in &platforms() {
        let ((x, _), place) = (plane(platform, ROWS), platform.options());
        let y = platform.tensor(
            &(0..ROWS)
                .map(|i| (0.9 * i as f64).cos())
                .collect::<Vec<_>>(),
            [ROWS, 1],
        );
        let kernel = || KernelConfig::from(StationaryConfig::matern52()).init(2, place);
        let mean = || MeanConfig::constant(0.4).init(2, 1, place);
        let likelihood = || GaussianConfig { noise: NOISE }.init(place);
        let exact = Exact::new(kernel(), mean(), likelihood());
        let z = InducingPoints::new(part(&x, 3..9));
        let sparse = Collapsed::new(kernel(), mean(), likelihood(), z, Jitter::NONE);
        let (old, more) = ((part(&x, 0..9), part(&y, 0..9)), part(&x, 9..11));
        let targets = platform.tensor(&[0.1, -1.0, 2.0, 0.4, 0.0, -0.3], [2, 3]);
        for process in [
            exact.condition(old.0.clone(), old.1.clone()).unwrap(),
            sparse.condition(old.0.clone(), old.1.clone()).unwrap(),
        ] {
            let noise = platform.tensor(&[0.2, 0.1], [2]);
            let fantasies = process
                .condition_on_fantasies(more.clone(), targets.clone(), noise.clone())
                .unwrap();
            let ours = fantasies.joint(new_inputs(platform));
            for set in 0..3 {
                let targets = targets.clone().narrow(1, set, 1);
                let own = process
                    .condition_on_observations(more.clone(), targets, noise.clone())
                    .unwrap();
                let own = own.joint(new_inputs(platform));
                let tolerance = platform.tolerance(1e-12, 1e-5);
                let mean = ours.mean.clone().narrow(1, set, 1);
                assert_close("means", &numbers(mean), &numbers(own.mean), tolerance);
                let covariance = ours.covariance.clone().narrow(0, set, 1);
                let (ours, own) = (numbers(covariance), numbers(own.covariance));
                assert_close("covariances", &ours, &own, tolerance);
            }
            let none = fantasies.marginals(platform.tensor(&[], [0, 2]));
            assert_eq!(none.mean.dims(), [0, 3]);
        }
    }
}

#[test]
fn impossible_updates_are_refused() {
    for platform in &platforms() {
        let (x, y) = plane(platform, ROWS);
        let process = exact(platform).condition(x.clone(), y.clone()).unwrap();
        let (more, targets) = (part(&x, 0..2), part(&y, 0..2));
        for variance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let noise = platform.tensor(&[0.1, variance], [2]);
            let error = process
                .condition_on_observations(more.clone(), targets.clone(), noise)
                .unwrap_err();
            assert!(
                matches!(error, UpdateError::Noise { row: 1, .. }),
                "{error}"
            );
        }
        let impossible = platform.tensor(&[0.1, 0.2, f64::NAN, 0.3], [2, 2]);
        let error = process
            .condition_on_observations(impossible, targets.clone(), noise(platform))
            .unwrap_err();
        assert!(matches!(error, UpdateError::Condition(_)), "{error}");
        let [none, nothing] = [[0, 2], [0, 2]].map(|shape| platform.tensor(&[], shape));
        let same = process.condition_on_observations(none, nothing, noise(platform));
        assert_same("none added", platform, &same.unwrap(), &process);
        // Combinations of rows are not rows, and inducing variables are not either.
        let kernel = KernelConfig::from(StationaryConfig::matern52()).init(2, platform.options());
        let all = (&x, &y.clone().narrow(1, 0, 1));
        let blocks = Blocks::new(ROWS, 4);
        let actions = BlockActions::starting(ActionStart::Targets, blocks, &kernel, all, 0);
        let likelihood = GaussianConfig { noise: NOISE }.init(platform.options());
        let model = ComputationAware::new(kernel, ZeroMean::new(1), likelihood, actions);
        let actions = model.condition(x.clone(), all.1.clone()).unwrap();
        let one = targets.clone().narrow(1, 0, 1);
        let error = actions.condition_on_observations(more, one, noise(platform));
        assert_eq!(error.unwrap_err(), UpdateError::NoRows);
        let sparse = collapsed(platform).condition(x, y).unwrap();
        let error = sparse.without_observations(&[0]).unwrap_err();
        assert_eq!(error, UpdateError::NoRows);
    }
}

/// Squared-exponential kernel of variance 0.9 and lengthscale 0.7, a noise variance for each row. All numbers were
/// computed by their definitions in 50 digits, so that double precision alone determines the tolerance.
mod golden {
    use super::*;

    const X: [f64; 10] = [0.0, 0.35, 0.6, 1.0, 1.3, 1.7, 2.1, 2.4, 2.8, 3.3];
    const Y: [f64; 10] = [0.1, 0.42, 0.75, 0.8, 0.95, 0.71, 0.6, 0.15, -0.2, -0.55];
    const NOISE: [f64; 10] = [0.04, 0.09, 0.04, 0.02, 0.06, 0.04, 0.12, 0.05, 0.04, 0.08];
    const TOLERANCE: f64 = 1e-12;

    fn place() -> (Device, DType) {
        (Device::flex(), DType::F64)
    }

    fn column(values: &[f64]) -> Tensor<2> {
        let (device, dtype) = place();
        Tensor::<1>::from_data(values, (&device, dtype)).unsqueeze_dim(1)
    }

    fn vector(values: &[f64]) -> Tensor<1> {
        column(values).squeeze_dim(1)
    }

    fn kernel() -> Kernels {
        let (device, dtype) = place();
        StationaryKernel::new(
            Stationary::SquaredExponential,
            &[0.7],
            0.9,
            (&device, dtype),
        )
        .into()
    }

    /// The process of the first rows.
    fn first(rows: usize) -> WithMean<ConditionedProcess> {
        let points = InducingPoints::new(column(&X[..rows]));
        let covariance = points.kuu(&kernel()).squeeze_dim::<2>(0);
        let noisy = add_diagonal(covariance, vector(&NOISE[..rows]));
        let factor = cholesky(noisy, Jitter::NONE).unwrap();
        let mean = factor.solve(column(&Y[..rows])).transpose();
        let known = WhitenedCovariance::Known;
        let process = ConditionedProcess::new(kernel(), points, factor, mean, known);
        WithMean::new(process, ZeroMean::new(1))
    }

    /// The mean and the variance at 1.5.
    fn predicted(process: &impl Process) -> [f64; 2] {
        let marginals = process.marginals(column(&[1.5]));
        [marginals.mean, marginals.variance].map(|value| numbers(value)[0])
    }

    #[test]
    fn rows_are_added() {
        let process = first(7)
            .condition_on_observations(column(&X[7..]), column(&Y[7..]), vector(&NOISE[7..]))
            .unwrap();
        let expected = [0.8079942129933098, 0.023007298757704804];
        assert_close("at 1.5", &predicted(&process), &expected, TOLERANCE);
        let factor = numbers(process.process().factor().lower());
        let last = [
            1.3857725101596087e-05,
            0.0002016312600143761,
            0.0008875583819059319,
            0.007256630842679135,
            0.02521191703075681,
            0.09607531509830827,
            0.2381242579026325,
            0.40951915146974277,
            0.6178233545570507,
            0.6032956246417012,
        ];
        assert_close("factor", &factor[90..], &last, TOLERANCE);
        // log p(new | old) = −½‖w₂‖² − Σ log L₂₂ − (n/2) log 2π
        let values = numbers(process.process().whitened_mean());
        let each = (7..10).map(|row| {
            let spread = (2.0 * std::f64::consts::PI).ln();
            -0.5 * (values[row].powi(2) + spread) - factor[11 * row].ln()
        });
        let increment = [each.sum::<f64>()];
        assert_close("log density", &increment, &[-1.1645205738602773], TOLERANCE);
    }

    #[test]
    fn rows_are_removed() {
        let process = first(10).without_observations(&[6, 2]).unwrap();
        let factor = numbers(process.process().factor().lower());
        let (first, last) = (
            [0.9695359714832658, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [
                1.3857725101596087e-05,
                0.0002016312600143761,
                0.005567310255742637,
                0.02538937387264749,
                0.09445408233900882,
                0.45879158120137875,
                0.6271751512104611,
                0.6054456085859732,
            ],
        );
        assert_close("first row", &factor[..8], &first, TOLERANCE);
        assert_close("last row", &factor[56..], &last, TOLERANCE);
    }

    /// All rows in two steps, from the prior of the inducing variables.
    #[test]
    fn inducing_variables_are_updated() {
        let points = InducingPoints::new(column(&[0.2, 1.1, 2.0, 3.0]));
        let factor = cholesky(points.kuu(&kernel()), Jitter::NONE).unwrap();
        let zero = column(&[0.0; 4]).transpose();
        let identity = Tensor::<2>::eye(4, &place().0).cast(DType::F64);
        for spread in [
            WhitenedCovariance::Precision(cholesky(identity.clone(), Jitter::NONE).unwrap()),
            WhitenedCovariance::Factor(identity.unsqueeze()),
        ] {
            let (points, factor) = (points.clone(), factor.clone());
            let process = ConditionedProcess::new(kernel(), points, factor, zero.clone(), spread);
            let mut process = WithMean::new(process, ZeroMean::new(1));
            for rows in [0..7, 7..10] {
                let (x, y) = (column(&X[rows.clone()]), column(&Y[rows.clone()]));
                let more = process.condition_on_observations(x, y, vector(&NOISE[rows]));
                process = more.unwrap();
            }
            let expected = [0.8701119436714709, 0.060088881072472025];
            assert_close("at 1.5", &predicted(&process), &expected, TOLERANCE);
        }
    }
}
