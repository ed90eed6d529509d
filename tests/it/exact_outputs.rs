//! Exact regression of several outputs with missing targets, compared with dense algebra in fifty digits.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inference::{ConditionError, ExactOutputs, OutputsProcess},
    kernels::{
        ActiveDimensions, AnyKernel, Exchangeable, Index, Kernel, KernelModule, Product,
        StationaryKernel, Sum,
    },
    likelihoods::{AnyLikelihood, Gaussian, Likelihood},
    means::{ConstantMean, ZeroMean},
    ops::Stationary,
    process::{JointAcrossOutputs, Marginals, Process, WithMean},
};

use crate::support::{
    Dense, Platform, Random, assert_close, check_module_gradients, double_precision_platforms,
    numbers, parameter_gradients, platforms,
};

const NONE: f64 = f64::NAN;
const X: [f64; 5] = [0.1, 0.4, 0.7, 1.1, 1.6];
const Y: [[f64; 2]; 5] = [
    [0.5, -0.3],
    [0.9, NONE],
    [NONE, -0.8],
    [0.2, NONE],
    [-0.6, 0.7],
];
/// The lengthscale, W, κ, and the noise variances.
const PARAMETERS: [f64; 7] = [0.8, 0.9, -0.5, 0.2, 0.3, 0.05, 0.1];

fn targets(platform: &Platform, y: &[[f64; 2]]) -> Tensor<2> {
    platform.tensor(y.as_flattened(), [y.len(), 2])
}

fn inputs(platform: &Platform, x: &[f64]) -> Tensor<2> {
    platform.tensor(x, [x.len(), 1])
}

fn index(weights: [f64; 2], own: [f64; 2], dimension: usize, options: (&Device, DType)) -> Index {
    let weights = Tensor::<1>::from_data(weights, options).reshape([2, 1]);
    Index::new(weights, &own, dimension, options)
}

fn matern(lengthscale: f64, options: (&Device, DType)) -> StationaryKernel {
    StationaryKernel::new(Stationary::Matern52, &[lengthscale], 1.0, options)
}

/// The intrinsic coregionalization model with these parameters.
fn model(
    platform: &Platform,
    parameters: [f64; 7],
    y: &[[f64; 2]],
) -> ExactOutputs<StationaryKernel> {
    let [lengthscale, w1, w2, k1, k2, s1, s2] = parameters;
    let options = platform.options();
    ExactOutputs::new(
        matern(lengthscale, options),
        Some(index([w1, w2], [k1, k2], 0, options)),
        ZeroMean::new(2),
        Gaussian::of_outputs(&[s1, s2], options),
        &targets(platform, y),
    )
}

/// A sum of two products, of which the first is the model above.
fn two_kernels(platform: &Platform) -> ExactOutputs<AnyKernel> {
    let options = platform.options();
    let [lengthscale, w1, w2, k1, k2, s1, s2] = PARAMETERS;
    let term = |index: Index, kernel: StationaryKernel| {
        Product::new(index, ActiveDimensions::new(kernel, vec![0]))
    };
    let rough = term(
        index([w1, w2], [k1, k2], 1, options),
        matern(lengthscale, options),
    );
    let smooth = StationaryKernel::new(Stationary::SquaredExponential, &[0.3], 1.0, options);
    let smooth = term(index([0.4, 0.6], [0.1, 0.05], 1, options), smooth);
    ExactOutputs::new(
        Sum::new(rough, smooth).boxed(),
        None,
        ZeroMean::new(2),
        Gaussian::of_outputs(&[s1, s2], options),
        &targets(platform, &Y),
    )
}

fn evidence<K: KernelModule>(model: &ExactOutputs<K>, platform: &Platform, y: &[[f64; 2]]) -> f64 {
    let (x, y) = (inputs(platform, &X), targets(platform, y));
    numbers(model.full_objective(x, y).expect("a factor"))[0]
}

fn process(platform: &Platform) -> WithMean<OutputsProcess> {
    let model = model(platform, PARAMETERS, &Y);
    (model.condition(inputs(platform, &X), targets(platform, &Y))).expect("a factor")
}

#[test]
fn evidence_is_that_of_dense_algebra() {
    for platform in platforms() {
        let tolerance = platform.tolerance(1e-12, 2e-6);
        let own = evidence(&model(&platform, PARAMETERS, &Y), &platform, &Y);
        assert_close("one kernel", &[own], &[-5.636858790605296], tolerance);
        let own = evidence(&two_kernels(&platform), &platform, &Y);
        assert_close("two kernels", &[own], &[-7.3048569145095446], tolerance);
    }
}

/// The derivatives with respect to the constrained values, from evidences at both sides. The error of the
/// differences is a 1e-9th of the largest.
#[test]
fn evidence_has_the_derivatives_of_dense_algebra() {
    let expected = [
        0.15285270135975426,
        -1.7013938272269071,
        -1.2931795629448348,
        -1.8676851003635224,
        -1.6956112732245452,
        -6.294762252547054,
        -1.1448790005660412,
    ];
    let platform = &double_precision_platforms()[0];
    let derivative = |place: usize| {
        let at = |step: f64| {
            let mut parameters = PARAMETERS;
            parameters[place] += step;
            evidence(&model(platform, parameters, &Y), platform, &Y)
        };
        (8.0 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4
    };
    let found: Vec<f64> = (0..7).map(derivative).collect();
    assert_close("derivatives", &found, &expected, 1e-8);
}

#[test]
fn gradients_of_all_parameters() {
    let loss = |platform: &Platform, model: &ExactOutputs<StationaryKernel>| {
        let (x, y) = (inputs(platform, &X), targets(platform, &Y));
        model.full_objective(x, y).expect("a factor")
    };
    check_module_gradients(
        "several outputs",
        (1e-6, 1e-3),
        |platform| model(platform, PARAMETERS, &Y),
        loss,
    );
}

#[test]
fn predictions_are_those_of_dense_algebra() {
    for platform in platforms() {
        let tolerance = platform.tolerance(1e-12, 5e-6);
        let process = process(&platform);
        let x = inputs(&platform, &[0.9]);
        let JointAcrossOutputs { mean, covariance } = process.joint_across_outputs(x.clone());
        let expected = [0.5575003085412481, -0.42639537291097207];
        assert_close("mean", &numbers(mean), &expected, tolerance);
        let expected = [
            0.06595913094337101,
            -0.012300858338780843,
            -0.012300858338780843,
            0.08604815747182422,
        ];
        assert_close("covariance", &numbers(covariance), &expected, tolerance);
        let function = process.marginals(x.clone());
        let variance = numbers(function.variance.clone());
        assert_close(
            "variance",
            &variance,
            &[expected[0], expected[3]],
            tolerance,
        );
        let likelihood = Gaussian::of_outputs(&PARAMETERS[5..], platform.options());
        let noisy = likelihood.predict(function).variance;
        let expected = [0.11595913094337101, 0.1860481574718242];
        assert_close("noisy variance", &numbers(noisy), &expected, tolerance);

        let kernels = two_kernels(&platform);
        let process = kernels.condition(inputs(&platform, &X), targets(&platform, &Y));
        let joint = process.expect("a factor").joint_across_outputs(x);
        let expected = [0.44271645925395103, -0.5238374873191504];
        assert_close(
            "mean of two kernels",
            &numbers(joint.mean),
            &expected,
            tolerance,
        );
        let expected = [
            0.1448145559588868,
            0.007334753334464541,
            0.007334753334464541,
            0.23185498616804712,
        ];
        assert_close(
            "of two kernels",
            &numbers(joint.covariance),
            &expected,
            tolerance,
        );
    }
}

/// A known output at an input is one more row.
#[test]
fn one_output_given_another() {
    for platform in platforms() {
        let (mut x, mut y) = (X.to_vec(), Y.to_vec());
        x.push(0.9);
        y.push([0.35, NONE]);
        let model = model(&platform, PARAMETERS, &Y);
        let process = model.condition(inputs(&platform, &x), targets(&platform, &y));
        let own = process
            .expect("a factor")
            .marginals(inputs(&platform, &[0.9]));
        let tolerance = platform.tolerance(1e-12, 5e-6);
        let (mean, variance) = (numbers(own.mean)[1], numbers(own.variance)[1]);
        assert_close("mean", &[mean], &[-0.4043838945577435], tolerance);
        assert_close("variance", &[variance], &[0.08474329157088324], tolerance);
    }
}

/// The order of rows and a row without targets change nothing.
#[test]
fn missing_targets_and_the_order_of_rows_do_not_matter() {
    let platform = &double_precision_platforms()[0];
    let order = [3, 0, 4, 2, 1];
    let mut x: Vec<f64> = order.iter().map(|&row| X[row]).collect();
    let mut y: Vec<[f64; 2]> = order.iter().map(|&row| Y[row]).collect();
    x.push(0.55);
    y.push([NONE, NONE]);
    let model = model(platform, PARAMETERS, &y);
    let (x, y) = (inputs(platform, &x), targets(platform, &y));
    let own = numbers(
        model
            .full_objective(x.clone(), y.clone())
            .expect("a factor"),
    );
    assert_close("evidence", &own, &[-5.636858790605296], 1e-12);
    let at = inputs(platform, &[0.2, 0.9]);
    let mean = |process: &WithMean<OutputsProcess>| numbers(process.marginals(at.clone()).mean);
    let own = model.condition(x, y).expect("a factor");
    assert_close("mean", &mean(&own), &mean(&process(platform)), 1e-12);
}

/// With a constant for each output, the evidence is that of the differences.
#[test]
fn each_output_has_its_mean() {
    let platform = &double_precision_platforms()[0];
    let options = platform.options();
    let shifts = [3.0, -2.0];
    let shifted = Y.map(|[a, b]| [a + shifts[0], b + shifts[1]]);
    let mean = ConstantMean::new(Tensor::from_data(shifts, options));
    let [lengthscale, w1, w2, k1, k2, s1, s2] = PARAMETERS;
    let model = ExactOutputs::new(
        matern(lengthscale, options),
        Some(index([w1, w2], [k1, k2], 0, options)),
        mean,
        Gaussian::of_outputs(&[s1, s2], options),
        &targets(platform, &shifted),
    );
    let own = evidence(&model, platform, &shifted);
    assert_close("evidence", &[own], &[-5.636858790605296], 1e-12);
    let process = model.condition(inputs(platform, &X), targets(platform, &shifted));
    let mean = process
        .expect("a factor")
        .marginals(inputs(platform, &[0.9]))
        .mean;
    let expected = [3.557_500_308_541_248, -2.426_395_372_910_972];
    assert_close("mean", &numbers(mean), &expected, 1e-12);
}

/// Draws have the covariance across outputs, to five standard errors of 8000 draws.
#[test]
fn draws_are_correlated_across_outputs() {
    let platform = &double_precision_platforms()[0];
    let (process, x, count) = (process(platform), inputs(platform, &[0.9, 2.5]), 8000);
    let draws = process.sample(x.clone(), count, 3).expect("a factor");
    assert_eq!(draws.dims(), [count, 2, 2]);
    let draws = numbers(draws);
    let JointAcrossOutputs { mean, covariance } = process.joint_across_outputs(x);
    // [N, P] as [P, N]
    let (mean, covariance) = (numbers(mean.transpose()), numbers(covariance));
    let at = |a: usize, b: usize| {
        let ([p, n], [q, m]) = ([a / 2, a % 2], [b / 2, b % 2]);
        covariance[((p * 2 + q) * 2 + n) * 2 + m]
    };
    for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
        let products = draws
            .chunks(4)
            .map(|draw| (draw[a] - mean[a]) * (draw[b] - mean[b]));
        let found = products.sum::<f64>() / count as f64;
        let error = ((at(a, a) * at(b, b) + at(a, b).powi(2)) / count as f64).sqrt();
        assert!(
            (found - at(a, b)).abs() < 5.0 * error,
            "{a}, {b}: {found} for {}",
            at(a, b)
        );
    }
}

#[test]
fn an_infinite_target_is_refused() {
    let platform = &platforms()[0];
    let mut y = Y;
    y[1][1] = f64::INFINITY;
    let model = model(platform, PARAMETERS, &Y);
    let refused = model.condition(inputs(platform, &X), targets(platform, &y));
    assert!(matches!(refused, Err(ConditionError::Target(_))));
    let no_input = model.condition(inputs(platform, &[NONE; 5]), targets(platform, &Y));
    assert!(matches!(no_input, Err(ConditionError::Input { .. })));
}

/// Two equal columns of W have equal gradients, so they would stay equal.
#[test]
fn equal_columns_of_the_weights_have_equal_gradients() {
    let platform = double_precision_platforms()[0].autodiff();
    let options = platform.options();
    let [lengthscale, .., s1, s2] = PARAMETERS;
    let weights = Tensor::<2>::full([2, 2], 0.1, options);
    let model = ExactOutputs::new(
        matern(lengthscale, options),
        Some(Index::new(weights, &[1.0, 1.0], 0, options)),
        ZeroMean::new(2),
        Gaussian::of_outputs(&[s1, s2], options),
        &targets(&platform, &Y),
    );
    let evidence = model.full_objective(inputs(&platform, &X), targets(&platform, &Y));
    let gradients = evidence.expect("a factor").backward();
    let all = parameter_gradients(&model, &gradients);
    let found = all
        .iter()
        .find(|gradient| gradient.len() == 4)
        .expect("those of W");
    let expected = [
        -0.3070719753821306,
        -0.3070719753821306,
        -0.24509299024879982,
        -0.24509299024879982,
    ];
    assert_close("gradient of W", found, &expected, 1e-11);
}

/// `Γ = WWᵀ + diag κ`, and a level that training never had.
#[test]
fn unseen_levels_are_as_before_any_data() {
    for platform in platforms() {
        let kernel = index([0.9, -0.5], [0.2, 0.3], 0, platform.options());
        let tolerance = platform.tolerance(1e-14, 1e-6);
        let gamma = [1.01, -0.45, -0.45, 0.55];
        let own = numbers(kernel.covariance_of_levels());
        assert_close("levels", &own, &gamma, tolerance);
        let x = inputs(&platform, &[0.0, 2.0, 5.0, 2.0]);
        let expected = [
            [1.01, 0.0, 0.0, 0.0],
            [0.0, 0.78, 0.0, 0.78],
            [0.0, 0.0, 0.78, 0.0],
            [0.0, 0.78, 0.0, 0.78],
        ];
        let own = numbers(kernel.matrix_at(x));
        assert_close("unseen", &own, expected.as_flattened(), tolerance);
    }
}

/// `ρ^H` of the Hamming distance H is positive definite on two binary inputs, with least eigenvalue (1 − ρ)², whereas
/// `ρ^(H²)` has a negative eigenvalue there.
#[test]
fn exchangeable_kernels_are_functions_of_the_hamming_distance() {
    let platform = &double_precision_platforms()[0];
    let kernel = Exchangeable::new(1.0, &[0.9], platform.options());
    let x = platform.tensor(&[0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0], [4, 2]);
    let matrix = numbers(kernel.matrix_at(x));
    let alternating = [0.5, 0.5, -0.5, -0.5];
    let form: f64 = (0..16)
        .map(|index| alternating[index / 4] * alternating[index % 4] * matrix[index])
        .sum();
    assert!((form - 0.01).abs() < 1e-14, "{form}");
    let squared: f64 = (0..16)
        .map(|index| {
            let distance = matrix[index].ln() / 0.9_f64.ln();
            alternating[index / 4] * alternating[index % 4] * 0.9_f64.powf(distance.powi(2))
        })
        .sum();
    assert!(squared < -0.1, "{squared}");
}

/// Noise of each output, in every function of the likelihood, is that of one output at a time.
#[test]
fn noise_of_each_output_is_that_of_one_output_alone() {
    let platform = &double_precision_platforms()[0];
    let (options, noise) = (platform.options(), [0.4, 0.05]);
    let both = Gaussian::of_outputs(&noise, options);
    let mut random = Random::new(31);
    let [mean, target] = [0, 1].map(|_| random.matrix(3, 2));
    let variance = Dense::from_function(3, 2, |row, column| 0.1 + 0.2 * (row + column) as f64);
    let marginals = |columns: core::ops::Range<usize>| Marginals {
        mean: platform
            .matrix(&mean)
            .narrow(1, columns.start, columns.len()),
        variance: platform
            .matrix(&variance)
            .narrow(1, columns.start, columns.len()),
    };
    let y = |columns: core::ops::Range<usize>| {
        platform
            .matrix(&target)
            .narrow(1, columns.start, columns.len())
    };
    let alone = |output: usize| Gaussian::new(noise[output], options);
    let density = |likelihood: &Gaussian, columns: core::ops::Range<usize>| {
        let expected =
            likelihood.expected_log_density(y(columns.clone()), marginals(columns.clone()));
        let predictive = likelihood.log_predictive_density(y(columns.clone()), marginals(columns));
        [numbers(expected), numbers(predictive)].concat()
    };
    let sum: Vec<f64> = (density(&alone(0), 0..1)
        .iter()
        .zip(density(&alone(1), 1..2)))
    .map(|(a, b)| a + b)
    .collect();
    assert_close("densities", &density(&both, 0..2), &sum, 1e-13);
    let all = AnyLikelihood::from(both);
    let quantiles = all
        .predictive_distribution(&[marginals(0..2)])
        .expect("quantiles")
        .quantile(0.9);
    for output in 0..2 {
        let one = AnyLikelihood::from(alone(output));
        let own = one.predictive_distribution(&[marginals(output..output + 1)]);
        let own = own.expect("quantiles").quantile(0.9);
        let of_both: Vec<f64> = quantiles.iter().skip(output).step_by(2).copied().collect();
        assert_close("quantiles", &of_both, &own, 1e-13);
    }
    // The variance of 4000 draws, to five standard errors.
    let function = Tensor::<3>::zeros([4000, 1, 2], options);
    let mut random = rand::SeedableRng::seed_from_u64(5);
    let random: &mut rand::rngs::ChaCha8Rng = &mut random;
    let draws = numbers(all.sample(function, random));
    for (output, noise) in noise.iter().enumerate() {
        let squares = draws.iter().skip(output).step_by(2).map(|draw| draw * draw);
        let ratio = squares.sum::<f64>() / 4000.0 / noise;
        assert!(
            (ratio - 1.0).abs() < 5.0 * (2.0_f64 / 4000.0).sqrt(),
            "{output}: {ratio}"
        );
    }
    let own = all.noise_of_outputs().unwrap_or_default();
    assert_close("noise", &own, &noise, 1e-13);
}
