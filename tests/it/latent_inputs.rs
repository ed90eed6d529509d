//! The Bayesian Gaussian-process latent variable model, compared with the collapsed bound at known inputs, with dense
//! algebra and with central differences.

use burn::tensor::Tensor;
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{Collapsed, ConditionError},
    kernels::{AnyKernel, Kernel, Linear, Scaled, StationaryConfig, StationaryKernel},
    latent_inputs::{BayesianGplvm, LatentInputs},
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{Jitter, Stationary},
    parameter::hyperparameters,
    process::{Marginals, Process},
};

use crate::support::{
    Dense, Platform, Random, assert_close, check_gradients, check_module_gradients,
    integrals::on_grid, numbers, platforms,
};

const ROWS: usize = 9;
const OUTPUTS: usize = 3;
const POINTS: usize = 4;
const DIMENSIONS: usize = 2;
const NOISE: f64 = 0.15;
const JITTER: f64 = 1e-8;

/// Standard deviations that count as none: their squares are 4e-12, which change the bound by less than 1e-9 of it.
const NONE: f64 = 2e-6;

/// Latent means, inducing points and outputs.
struct Case {
    mean: Dense,
    points: Dense,
    outputs: Dense,
    deviations: Vec<f64>,
}

impl Case {
    fn new() -> Self {
        let mut random = Random::new(47);
        let mean = random.points(ROWS, DIMENSIONS);
        let wave = |row: usize, output: usize| {
            let (a, b) = (mean[(row, 0)], mean[(row, 1)]);
            (a + output as f64).sin() + 0.4 * b
        };
        let exact = Dense::from_function(ROWS, OUTPUTS, wave);
        Self {
            outputs: exact.plus(&random.matrix(ROWS, OUTPUTS).scaled(0.2)),
            points: random.points(POINTS, DIMENSIONS),
            deviations: random.uniforms(ROWS * DIMENSIONS, 0.1, 0.9),
            mean,
        }
    }

    /// With the first inducing points only.
    fn with_points(mut self, count: usize) -> Self {
        let values = self.points.values[..count * DIMENSIONS].to_vec();
        self.points = Dense::new(count, DIMENSIONS, values);
        self
    }

    fn model(&self, platform: &Platform, kernel: AnyKernel, deviations: &[f64]) -> BayesianGplvm {
        let latent = LatentInputs::new(platform.matrix(&self.mean), deviations);
        let points = InducingPoints::new(platform.matrix(&self.points));
        let likelihood = Gaussian::new(NOISE, platform.options());
        let model = BayesianGplvm::new(kernel, likelihood, points, latent, jitter(platform));
        model.expect("a closed form")
    }

    fn bound(&self, platform: &Platform, kernel: AnyKernel, deviations: &[f64]) -> f64 {
        let model = self.model(platform, kernel, deviations);
        let bound = model.bound(platform.matrix(&self.outputs));
        numbers(bound.expect("factor"))[0]
    }
}

fn jitter(platform: &Platform) -> Jitter {
    Jitter::relative(platform.tolerance(JITTER, 1e-6))
}

fn rbf(platform: &Platform) -> AnyKernel {
    let kind = Stationary::SquaredExponential;
    StationaryKernel::new(kind, &[1.1, 1.6], 1.4, platform.options()).boxed()
}

/// Kernels with numbers of inducing points. More points than dimensions would make `K_uu` of a linear kernel singular but for
/// the jitter, which single precision cannot factor.
fn kernels(platform: &Platform) -> Vec<(&'static str, AnyKernel, usize)> {
    let options = platform.options();
    vec![
        ("rbf", rbf(platform), POINTS),
        (
            "scaled rbf",
            Scaled::new(rbf(platform), 0.8, options).boxed(),
            POINTS,
        ),
        (
            "linear",
            Linear::new(&[0.7, 1.2], options).boxed(),
            DIMENSIONS,
        ),
    ]
}

/// `½·Σ (μ² + S − log S − 1)`
fn divergence(mean: &[f64], deviations: &[f64]) -> f64 {
    let each = mean.iter().zip(deviations);
    let each = each.map(|(m, s)| m * m + s * s - 2.0 * s.ln() - 1.0);
    0.5 * each.sum::<f64>()
}

/// In single precision, the variances of 4e-12 vanish beside squared lengthscales, and the bound has the error of a
/// factorization.
#[test]
fn the_bound_at_known_inputs_is_the_collapsed_bound() {
    for platform in platforms() {
        for (name, kernel, points) in kernels(&platform) {
            let case = Case::new().with_points(points);
            let collapsed = Collapsed::new(
                kernel.clone(),
                ZeroMean::new(OUTPUTS),
                Gaussian::new(NOISE, platform.options()),
                InducingPoints::new(platform.matrix(&case.points)),
                jitter(&platform),
            );
            let (x, y) = (platform.matrix(&case.mean), platform.matrix(&case.outputs));
            let evidence = numbers(collapsed.full_objective(x, y).expect("factor"))[0];
            let deviations = vec![NONE; ROWS * DIMENSIONS];
            let expected = evidence - divergence(&case.mean.values, &deviations);
            let bound = case.bound(&platform, kernel, &deviations);
            let tolerance = platform.tolerance(1e-9, 1e-3);
            assert_close(
                &format!("{platform}, {name}"),
                &[bound],
                &[expected],
                tolerance,
            );
        }
    }
}

/// The formula with explicit inverses: `log|K_uu + Ψ2/σ²| − log|K_uu|` and `Ψ1(σ²K_uu + Ψ2)⁻¹Ψ1ᵀ`.
#[test]
fn the_bound_is_that_of_dense_algebra() {
    let case = Case::new();
    for platform in platforms() {
        let kernel = rbf(&platform);
        let model = case.model(&platform, kernel.clone(), &case.deviations);
        let (mean, variance) = (model.latent().mean(), model.latent().variance());
        let points = platform.matrix(&case.points);
        let expected = kernel.expected_products().expect("a closed form");
        let matrix = |rows, columns, tensor: Tensor<2>| Dense::new(rows, columns, numbers(tensor));
        let psi1 = matrix(
            ROWS,
            POINTS,
            expected.covariances(mean.clone(), variance.clone(), points.clone()),
        );
        let psi2 = matrix(
            POINTS,
            POINTS,
            expected.products(mean, variance, points.clone()),
        );
        let prior = numbers(kernel.matrix(points.unsqueeze::<3>()).squeeze_dim::<2>(0));
        let prior = Dense::new(POINTS, POINTS, prior);
        let prior =
            prior.plus(&Dense::identity(POINTS).scaled(1.4 * platform.tolerance(JITTER, 1e-6)));
        let together = prior.plus(&psi2.scaled(NOISE.recip()));
        let inner = together
            .inverse()
            .times(&psi1.transposed())
            .times(&case.outputs);
        let fitted = psi1.transposed().times(&case.outputs);
        let regained: f64 = inner
            .values
            .iter()
            .zip(&fitted.values)
            .map(|(a, b)| a * b)
            .sum();
        let squares: f64 = case.outputs.values.iter().map(|y| y * y).sum();
        let explained = prior.inverse().times(&psi2);
        let explained = explained.trace();
        let outputs = OUTPUTS as f64;
        let evidence = -0.5
            * (squares / NOISE - regained / NOISE.powi(2)
                + outputs
                    * (ROWS as f64 * (2.0 * std::f64::consts::PI * NOISE).ln()
                        + together.log_determinant()
                        - prior.log_determinant()
                        + (ROWS as f64 * 1.4 - explained) / NOISE));
        let expected = evidence - divergence(&case.mean.values, &case.deviations);
        let bound = case.bound(&platform, kernel, &case.deviations);
        assert_close(
            &platform.to_string(),
            &[bound],
            &[expected],
            platform.tolerance(1e-9, 1e-3),
        );
    }
}

/// With respect to latent means and deviations, inducing points, noise and kernel.
#[test]
fn gradients_of_the_bound_are_central_differences() {
    let case = Case::new();
    // The gradient in single precision has the error of a factorization.
    check_module_gradients(
        "bound",
        (1e-6, 2e-2),
        |platform| case.model(platform, rbf(platform), &case.deviations),
        |platform, model| {
            let outputs = platform.matrix(&case.outputs);
            model.bound(outputs).expect("factor")
        },
    );
}

#[test]
fn latent_inputs_are_no_hyperparameters() {
    let case = Case::new();
    for platform in platforms() {
        let model = case.model(&platform, rbf(&platform), &case.deviations);
        let names: Vec<String> = hyperparameters(&model)
            .into_iter()
            .map(|own| own.path)
            .collect();
        assert!(
            names.iter().all(|name| !name.contains("latent")),
            "{names:?}"
        );
        assert_eq!(names.len(), 3, "{names:?}");
    }
}

/// Known inputs have the marginals of the process, and uncertain ones their mean and variance on a grid.
#[test]
fn marginals_at_uncertain_inputs_are_integrals() {
    let case = Case::new();
    for platform in platforms() {
        let model = case.model(&platform, rbf(&platform), &case.deviations);
        let process = model
            .condition(platform.matrix(&case.outputs))
            .expect("factor");
        let (mean, deviations) = ([0.4, -0.8], [0.5, 0.3]);
        let at = |x: &[f64]| {
            let x = platform.tensor(x, [1, DIMENSIONS]);
            let Marginals { mean, variance } = process.process().marginals(x);
            (numbers(mean), numbers(variance))
        };
        let tensor = |values: [f64; 2]| platform.tensor(&values, [1, DIMENSIONS]);
        let known = process.expected_marginals(tensor(mean), tensor([0.0; 2]));
        let tolerance = platform.tolerance(1e-9, 5e-3);
        assert_close("mean", &numbers(known.mean), &at(&mean).0, tolerance);
        assert_close(
            "variance",
            &numbers(known.variance),
            &at(&mean).1,
            10.0 * tolerance,
        );
        if !platform.is_double() {
            continue;
        }
        // 61 × 61 points of a coarse grid suffice for the moments to 1e-6.
        let variances = deviations.map(|deviation| deviation * deviation);
        let coarse = coarse_grid(&mean, &deviations);
        let (mut first, mut second) = (vec![0.0; OUTPUTS], vec![0.0; OUTPUTS]);
        for (x, weight) in &coarse {
            let (means, variances) = at(x);
            for output in 0..OUTPUTS {
                first[output] += weight * means[output];
                second[output] += weight * (means[output].powi(2) + variances[output]);
            }
        }
        let spread = first.iter().zip(&second).map(|(a, b)| b - a * a);
        let spread: Vec<f64> = spread.collect();
        let ours = process.expected_marginals(tensor(mean), tensor(variances));
        assert_close("mean", &numbers(ours.mean), &first, 1e-6);
        assert_close("variance", &numbers(ours.variance), &spread, 1e-6);
    }
}

/// Points of a grid around a mean with the weights of a normal distribution.
fn coarse_grid(mean: &[f64; 2], deviations: &[f64; 2]) -> Vec<(Vec<f64>, f64)> {
    let steps: Vec<f64> = (-14..=14).map(|step| 0.4 * f64::from(step)).collect();
    let pairs = steps
        .iter()
        .flat_map(|a| steps.iter().map(move |b| (*a, *b)));
    let points = pairs.map(|(a, b)| {
        let x = vec![mean[0] + deviations[0] * a, mean[1] + deviations[1] * b];
        (x, (-0.5 * (a * a + b * b)).exp())
    });
    let points: Vec<(Vec<f64>, f64)> = points.collect();
    let total: f64 = points.iter().map(|(_, weight)| weight).sum();
    points
        .into_iter()
        .map(|(x, weight)| (x, weight / total))
        .collect()
}

/// `E[log N(y | f, σ²)] = −½·log 2πσ² − (E[(y − f)²])/(2σ²)`, from the moments of the function.
#[test]
fn expected_log_density_is_that_of_the_moments() {
    let case = Case::new();
    for platform in platforms() {
        let model = case.model(&platform, rbf(&platform), &case.deviations);
        let process = model
            .condition(platform.matrix(&case.outputs))
            .expect("factor");
        for outputs in [vec![0, 1, 2], vec![2, 0]] {
            let process = process.of_outputs(&outputs);
            let mut random = Random::new(5);
            let (mean, y) = (
                random.points(4, DIMENSIONS),
                random.matrix(4, outputs.len()),
            );
            let variance = Dense::new(4, DIMENSIONS, random.uniforms(4 * DIMENSIONS, 0.05, 0.6));
            let [mean, variance] = [mean, variance].map(|matrix| platform.matrix(&matrix));
            let moments = process.expected_marginals(mean.clone(), variance.clone());
            let moments = [numbers(moments.mean), numbers(moments.variance)];
            let each = y.values.iter().enumerate().map(|(index, y)| {
                let square = (y - moments[0][index]).powi(2) + moments[1][index];
                -0.5 * ((2.0 * std::f64::consts::PI * NOISE).ln() + square / NOISE)
            });
            let expected: f64 = each.sum();
            let ours = process.expected_log_density(mean, variance, platform.matrix(&y));
            let what = format!("{platform}, {outputs:?}");
            assert_close(
                &what,
                &numbers(ours),
                &[expected],
                platform.tolerance(1e-9, 1e-2),
            );
        }
    }
}

/// With respect to the means and variances of new latent inputs.
#[test]
fn gradients_of_the_expected_log_density_are_central_differences() {
    let case = Case::new();
    let mut random = Random::new(6);
    let (mean, y) = (random.points(2, DIMENSIONS), random.matrix(2, OUTPUTS));
    let inputs = [
        (&mean).into(),
        random.uniforms(2 * DIMENSIONS, 0.1, 0.5).into(),
    ];
    check_gradients(
        "expected log density",
        &inputs,
        2e-2,
        &|platform, inputs| {
            let plain = platform.without_autodiff();
            let model = case.model(&plain, rbf(&plain), &case.deviations);
            let process = model
                .condition(plain.matrix(&case.outputs))
                .expect("factor");
            let [mean, variance] =
                [0, 1].map(|index: usize| inputs[index].clone().reshape([2, DIMENSIONS]));
            process.expected_log_density(mean, variance, platform.matrix(&y))
        },
    );
}

#[test]
fn impossible_models_and_outputs_are_refused() {
    let case = Case::new();
    for platform in platforms() {
        let latent = LatentInputs::new(platform.matrix(&case.mean), &case.deviations);
        let refusal = BayesianGplvm::new(
            StationaryConfig::matern32().init(DIMENSIONS, platform.options()),
            Gaussian::new(NOISE, platform.options()),
            InducingPoints::new(platform.matrix(&case.points)),
            latent,
            Jitter::NONE,
        );
        assert_eq!(refusal.expect_err("no closed form").kernel, "Matern32");
        let model = case.model(&platform, rbf(&platform), &case.deviations);
        let mut outputs = case.outputs.clone();
        outputs.values[4] = f64::NAN;
        let refusal = model
            .condition(platform.matrix(&outputs))
            .expect_err("not a number");
        assert!(matches!(refusal, ConditionError::Target(_)), "{refusal}");
    }
}

/// The KL divergence in one dimension is an integral.
#[test]
fn the_divergence_is_an_integral() {
    for platform in platforms() {
        let (mean, deviation) = (0.7, 0.4);
        let latent = LatentInputs::new(platform.tensor(&[mean], [1, 1]), &[deviation]);
        let integral = on_grid(&[mean], &[deviation * deviation], &|x| {
            let standardized = (x[0] - mean) / deviation;
            vec![-deviation.ln() - 0.5 * standardized.powi(2) + 0.5 * x[0].powi(2)]
        });
        let ours = numbers(latent.kl_from_prior());
        assert_close(
            &platform.to_string(),
            &ours,
            &integral,
            platform.tolerance(1e-9, 1e-5),
        );
    }
}
