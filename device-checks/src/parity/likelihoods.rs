//! Every likelihood by its name.

use burn_gp_core::{
    likelihoods::{LikelihoodName, TargetKind},
    process::Marginals,
};
use rand::RngExt;

use super::{Case, Group, Harness, Reason};

/// Rows, draws of the functions, and classes.
const ROWS: usize = 47;
const DRAWS: usize = 3;
const CLASSES: usize = 4;

/// The initial noise variance.
const NOISE: f64 = 0.3;

pub(super) fn cases() -> Vec<Case> {
    let case = |name: LikelihoodName| {
        let compute = move |harness: &mut Harness| compute(name, harness);
        Case::compare(Group::Likelihood, name.name(), compute)
    };
    LikelihoodName::all().map(case).collect()
}

fn compute(name: LikelihoodName, harness: &mut Harness) -> Result<(), Reason> {
    let likelihood = name.for_data(NOISE, CLASSES).init(harness.options());
    let likelihood = harness.module(likelihood);
    let description = likelihood.description();
    let targets = targets(name.target(), harness);
    let targets = harness.constant(&targets, [ROWS, description.columns]);
    let functions = description.latents;
    let function = harness.normal([DRAWS, ROWS, functions]);
    let marginals = Marginals {
        mean: harness.normal([ROWS, functions]),
        variance: harness.positive([ROWS, functions]),
    };
    let density = likelihood.log_density(targets.clone(), function.clone());
    harness.output("log density", density);
    let expected = likelihood.expected_log_density(targets.clone(), marginals.clone());
    harness.output("expected log density", expected);
    let (means, variances) = likelihood.conditional_moments(function);
    harness.value("conditional means", means);
    harness.value("conditional variances", variances);
    let density = likelihood.log_predictive_density(targets, marginals.clone());
    harness.value("log predictive density", density);
    let predicted = likelihood.predict(marginals.clone());
    harness.value("predictive means", predicted.mean);
    harness.value("predictive variances", predicted.variance);
    if let Some(probabilities) = likelihood.class_probabilities(marginals) {
        harness.value("class probabilities", probabilities);
    }
    Ok(())
}

/// Targets of a kind, row-major.
pub(super) fn targets(kind: TargetKind, harness: &mut Harness) -> Vec<f64> {
    let numbers = harness.normals(ROWS);
    let random = harness.random();
    let mut below = |count: u32| f64::from(random.random_range(0..count));
    let target = |number: f64| match kind {
        TargetKind::Numbers => vec![number],
        TargetKind::Measurements => vec![number, 0.1 + number.abs()],
        TargetKind::Intervals => match below(5) as u32 {
            0 => vec![number, number],
            1 => vec![number, number + 1.0 / 64.0],
            2 => vec![number, f64::INFINITY],
            3 => vec![f64::NEG_INFINITY, number],
            _ => vec![number, number + 0.7],
        },
        TargetKind::TwoClasses => vec![below(2)],
        TargetKind::Classes | TargetKind::OrderedClasses => vec![below(CLASSES as u32)],
        TargetKind::Counts => vec![below(7)],
        TargetKind::Successes => vec![below(7), 6.0],
        TargetKind::PositiveNumbers => vec![number.exp()],
        TargetKind::Fractions => vec![0.05 + 0.9 / (1.0 + number.exp())],
    };
    numbers.into_iter().flat_map(target).collect()
}
