//! Computation-aware regression.

use burn_gp_core::{
    inference::{
        ActionLoss, AnyActionPolicy, BlockActions, ComputationAware, ConjugateGradientsSettings,
        IterationRule, Iterations,
    },
    ops::Blocks,
};

use super::*;

const ACTIONS: usize = 4;

type Model = ComputationAware<AnyKernel, AnyActionPolicy>;

/// S, `[N, I]`: each action combines a run of three rows.
fn actions() -> Dense {
    Dense::from_function(ROWS, ACTIONS, |row, action| match row / 3 == action {
        true => values_of_actions()[row],
        false => 0.0,
    })
}

fn values_of_actions() -> Vec<f64> {
    (0..ROWS)
        .map(|row| (1.3 * row as f64).sin() + 0.2)
        .collect()
}

fn plain(platform: &Platform, noise: f64, loss: ActionLoss) -> Model {
    let values = platform.tensor(&values_of_actions(), [ROWS]);
    let policy = BlockActions::new(Blocks::new(ROWS, ACTIONS), values);
    let noise = Gaussian::new(noise, platform.options());
    let policy = AnyActionPolicy::Blocks(policy);
    ComputationAware::new(kernel(platform), ZeroMean::new(OUTPUTS), noise, policy).with_loss(loss)
}

fn iterated(platform: &Platform, noise: f64, rule: IterationRule, count: usize) -> Model {
    let policy = AnyActionPolicy::Iterations(Iterations::new(rule, count, 0.0));
    let noise = Gaussian::new(noise, platform.options());
    ComputationAware::new(kernel(platform), ZeroMean::new(OUTPUTS), noise, policy)
}

/// `M⁻¹`, `M = Sᵀ(K + D)S`.
fn inverse() -> Dense {
    let (x, _) = points();
    let covariance = with_diagonal(&covariances(&x, &x), &total());
    let projected = actions().transposed().times(&covariance).times(&actions());
    projected.inverse()
}

/// Means, row-major, and covariances of q at inputs: `k(x, X)S·M⁻¹·Sᵀy` and `k(x, x′) − k(x, X)S·M⁻¹·Sᵀk(X, x′)`.
fn posterior(at: &[[f64; 2]]) -> (Dense, Dense) {
    let (x, y) = points();
    let cross = covariances(at, &x).times(&actions());
    let solved = cross.times(&inverse());
    let means = solved.times(&actions().transposed().times(&y));
    let known = solved.times(&cross.transposed());
    (means, covariances(at, at).minus(&known))
}

/// `Σ_p [E_q log N(y_p | f, D) − KL(q ‖ N(0, K))]`, with N×N matrices.
fn bound() -> f64 {
    let (x, y) = points();
    let (means, covariance) = posterior(&x);
    let prior = covariances(&x, &x);
    let inverse = prior.inverse();
    let terms = total().into_iter().enumerate().map(|(row, noise)| {
        let squares = |output: usize| (y[(row, output)] - means[(row, output)]).powi(2);
        let fit: f64 = (0..OUTPUTS).map(squares).sum();
        let own = covariance[(row, row)] + (2.0 * PI * noise).ln() * noise;
        -0.5 * (fit + OUTPUTS as f64 * own) / noise
    });
    let expected: f64 = terms.sum();
    let of_means = means.transposed().times(&inverse.times(&means)).trace();
    let determinants = prior.log_determinant() - covariance.log_determinant();
    let of_covariance = inverse.times(&covariance).trace() - ROWS as f64 + determinants;
    expected - 0.5 * (of_means + OUTPUTS as f64 * of_covariance)
}

/// `Σ_p log N(S′ᵀy_p | 0, S′ᵀ(K + D)S′)`, where the columns of S′ are those of S, which are orthogonal, with unit length.
fn projected() -> f64 {
    let (x, y) = points();
    let lengths = actions().transposed().times(&actions()).diagonal();
    let unit = Dense::from_function(ROWS, ACTIONS, |row, action| {
        actions()[(row, action)] / lengths[action].sqrt()
    });
    let covariance = with_diagonal(&covariances(&x, &x), &total());
    let covariance = unit.transposed().times(&covariance).times(&unit);
    let targets = unit.transposed().times(&y);
    let squares = targets
        .transposed()
        .times(&covariance.inverse().times(&targets));
    let constant = covariance.log_determinant() + ACTIONS as f64 * (2.0 * PI).ln();
    -0.5 * (squares.trace() + OUTPUTS as f64 * constant)
}

#[test]
fn objectives_are_those_of_dense_algebra() {
    for platform in &platforms() {
        for (loss, expected) in [
            (ActionLoss::Evidence, bound()),
            (ActionLoss::Projected, projected()),
        ] {
            let model = plain(platform, NOISE, loss).with_row_noise();
            let found = model.full_objective(plane(platform, ROWS).0, rows(platform));
            let found = found.expect("positive definite");
            // The covariance of the reference has a condition number of 1e6.
            let tolerance = platform.tolerance(1e-8, 1e-3);
            let what = format!("{loss:?} on {platform}");
            assert_close(&what, &numbers(found), &[expected], tolerance);
        }
    }
}

#[test]
fn predictions_are_those_of_dense_algebra() {
    let (means, covariance) = posterior(&NEW);
    let expected = [means.values.clone(), covariance.diagonal()].concat();
    for platform in &platforms() {
        let model = plain(platform, NOISE, ActionLoss::default()).with_row_noise();
        let process = model.condition(plane(platform, ROWS).0, rows(platform));
        let found = moments(process.expect("a process").marginals(new(platform)));
        let tolerance = platform.tolerance(1e-9, 1e-3);
        assert_close(
            &format!("moments on {platform}"),
            &found,
            &expected,
            tolerance,
        );
    }
}

/// As many actions as rows give the exact posterior, by every rule: with and without a preconditioner.
#[test]
fn all_actions_give_the_exact_posterior() {
    let expected = exact_moments(&total());
    // With targets of one output, whose residuals give the actions.
    let means: Vec<f64> = (0..NEW.len()).map(|row| expected[OUTPUTS * row]).collect();
    let expected = [means, expected[OUTPUTS * NEW.len()..].to_vec()].concat();
    for platform in &platforms() {
        for rule in [
            IterationRule::UnitVectors,
            IterationRule::Residuals,
            IterationRule::PreconditionedResiduals { rank: 4 },
            IterationRule::RandomVectors,
        ] {
            let noise = Gaussian::new(NOISE, platform.options());
            let policy = Iterations::new(rule, ROWS, 0.0);
            let model = ComputationAware::new(kernel(platform), ZeroMean::new(1), noise, policy);
            let column = platform.tensor(&variances(), [ROWS, 1]);
            let first = plane(platform, ROWS).1.narrow(1, 0, 1);
            let rows = Tensor::cat(vec![first, column], 1);
            let process = model
                .with_row_noise()
                .condition(plane(platform, ROWS).0, rows);
            let found = moments(process.expect("a process").marginals(new(platform)));
            // Random actions have a condition number of 1e3.
            let tolerance = platform.tolerance(1e-8, 5e-3);
            assert_close(
                &format!("{rule:?} on {platform}"),
                &found,
                &expected,
                tolerance,
            );
        }
    }
}

/// The exact variance of a model with noise of rows, and what few actions add to it.
#[test]
fn uncertainties_add_up() {
    let exact = exact_moments(&total());
    let exact = &exact[OUTPUTS * NEW.len()..];
    let (_, covariance) = posterior(&NEW);
    for platform in &platforms() {
        let model = plain(platform, NOISE, ActionLoss::default()).with_row_noise();
        let settings = ConjugateGradientsSettings::default().with_tolerance(1e-9);
        let (inputs, rows) = (plane(platform, ROWS).0, rows(platform));
        let found = model.uncertainty(inputs, rows, new(platform), settings);
        let found = found.expect("positive definite");
        let tolerance = platform.tolerance(1e-8, 1e-3);
        let mathematical = numbers(found.mathematical);
        assert_close("exact", &mathematical, exact, tolerance);
        let sum: Vec<f64> = (numbers(found.computational).iter())
            .zip(mathematical)
            .map(|(a, b)| a + b)
            .collect();
        assert_close("total", &sum, &covariance.diagonal(), tolerance);
    }
}

#[test]
fn equal_noise_is_trained_noise() {
    let models: [fn(&Platform, f64) -> Model; 4] = [
        |platform, noise| plain(platform, noise, ActionLoss::Evidence),
        |platform, noise| plain(platform, noise, ActionLoss::Projected),
        |platform, noise| iterated(platform, noise, IterationRule::Residuals, 4),
        |platform, noise| {
            let rule = IterationRule::PreconditionedResiduals { rank: 3 };
            iterated(platform, noise, rule, 4)
        },
    ];
    for model in models {
        let values = |platform: &Platform, noise, own: Option<&[f64]>| {
            let (inputs, targets) = plane(platform, ROWS);
            let model = model(platform, noise);
            let (model, targets) = match own {
                Some(own) => (model.with_row_noise(), rows_with(platform, own)),
                None => (model, targets),
            };
            let objective = model.full_objective(inputs.clone(), targets.clone());
            let process = model.condition(inputs, targets).expect("a process");
            let mut found = numbers(objective.expect("positive definite"));
            found.extend(moments(process.marginals(new(platform))));
            found
        };
        check_equal_noise(values, (1e-9, 1e-3));
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    for loss in [ActionLoss::Evidence, ActionLoss::Projected] {
        let model = |platform: &Platform| plain(platform, NOISE, loss).with_row_noise();
        check_module_gradients("actions", (1e-6, 1e-2), model, |platform, model| {
            let objective = model.full_objective(plane(platform, ROWS).0, rows(platform));
            objective.expect("positive definite")
        });
    }
}
