//! Theorem 1 and its consequences (section 3.3, Figure 1): variances that are too small, and the
//! correction.
//!
//! For targets `y ~ N(f, σ²I)` with known noise, the covariance with the largest expected evidence
//! and the smallest expected squared error is `ffᵀ`. It has rank one and almost no uncertainty.
//! Evidence and error of the optimum have closed forms. A deep basis kernel is trained on the
//! expected evidence, which equals the evidence of 2N targets with the mean and the covariance of
//! the data. With unknown noise the evidence has no maximum: with the targets as the only feature,
//! it grows as the noise vanishes. With the penalty of the correction it does not. Deep basis
//! kernels with and without the correction are trained on one draw of the targets.

use core::f64::consts::PI;
use std::path::Path;

use burn_gp_core::process::VarianceCorrection;
use burn_gp_runs::{
    evenly_spaced::evenly_spaced,
    failure::Failure,
    plots::{self, Bands, Caption, CurvePanel, FitPanel, PlotError, Points, Quantity, Span},
    ranges::at_least_one,
    study::{CommonOptions, Experiment, ExperimentFolder, ResultRow, table},
};
use clap::Args;
use serde_json::json;

use super::theorem1_fit::{Fit, KnownNoise, NOISE, Problem, levels};
use crate::figure::{Figure, Registration};

/// The name of the experiment.
const NAME: &str = "dbk-theorem1";

const BANDS: Bands<'static> = Bands {
    text: "2 standard deviations",
    deviations: 2.0,
};

/// The spacing of the marks of the function, in grid points.
const RINGS_APART: usize = 5;

/// The range of noise variances in the evidence plot, as powers of ten.
const POWERS: (f64, f64) = (-5.0, 1.0);
const POWER_POINTS: usize = 200;

/// Variances with and without correction, compared with the optimum (arXiv:2505.18526, Theorem
/// 1, Figure 1)
///
/// For known noise, the expected evidence and the expected error of a trained deep basis
/// kernel, compared with those of the theorem; for unknown noise, posteriors with and without
/// variance correction, whether they cover the function, and the noise during training.
#[derive(Args, Clone, Debug)]
pub struct DbkTheorem1Options {
    /// Rows
    #[arg(long, value_name = "N", default_value_t = 60)]
    rows: usize,
    /// Basis functions
    #[arg(long, value_name = "R", default_value_t = 8)]
    rank: usize,
    /// Optimizer steps [default: 20000; quick: 4000]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

inventory::submit! { Registration::of::<DbkTheorem1Options>(NAME) }

impl Figure for DbkTheorem1Options {
    fn run(&self) -> Result<(), Failure> {
        let common = &self.common;
        at_least_one("--rank", Some(self.rank))?;
        at_least_one("--steps", self.steps)?;
        let place = common.place()?;
        let steps = self.steps.unwrap_or(common.by_scale(4000, 20_000));
        let problem = Problem::new((self.rows, self.rank), steps, common.seed)?;
        let settings = json!({
            "rows": self.rows,
            "rank": self.rank,
            "steps": steps,
            "seed": common.seed,
        });
        let experiment = Experiment::open(NAME, common, place, settings)?;
        let known = experiment.load_or_compute("known-noise", "known noise", || {
            problem.known_noise(&experiment)
        })?;
        let mut fits = vec![problem.best()];
        for (name, title, correction) in [
            ("dbk-c", "DBK-c", VarianceCorrection::NONE),
            ("dbk", "DBK", VarianceCorrection::default()),
        ] {
            let fit = || problem.trained(title, correction, &experiment);
            fits.push(experiment.load_or_compute(name, title, fit)?);
        }
        report(&experiment.folder, &problem, &known, &fits, steps)
    }
}

/// Writes the table, the files and the plots.
fn report(
    folder: &ExperimentFolder,
    problem: &Problem,
    known: &KnownNoise,
    fits: &[Fit],
    steps: usize,
) -> Result<(), Failure> {
    let rows: Vec<ResultRow> = fits.iter().map(line).collect();
    folder.write_results(&json!({ "known_noise": known, "fits": fits }), &rows)?;
    folder.draw("fits.svg", |path| draw_fits(path, problem, fits));
    folder.draw("noise.svg", |path| draw_course(path, fits));
    folder.draw("evidence.svg", |path| draw_evidence(path, &problem.targets));
    folder.print(text(known, &rows, steps));
    Ok(())
}

fn text(known: &KnownNoise, rows: &[ResultRow], steps: usize) -> Vec<String> {
    let mut lines = vec![format!(
        "{NAME}: {} rows, noise variance {NOISE}, {steps} steps\n\nnoise known, training on the expected \
         evidence",
        known.rows
    )];
    let pair = |title: &str, [optimum, trained]: [f64; 2]| {
        ResultRow::default()
            .shown("", title)
            .shown("Theorem 1", format!("{optimum:.4}"))
            .shown("trained", format!("{trained:.4}"))
    };
    lines.extend(table(&[
        pair("expected evidence per datum", known.evidence),
        pair("expected error of the function", known.error),
        pair("covariance along the function", [1.0, known.along_function]),
    ]));
    lines.push("\nnoise unknown, one draw of the targets".into());
    lines.extend(table(rows));
    lines.push(
        "\nroot mean square errors and standard deviations of the function, without noise, at 1000 new points;\nwithin \
         95 %: share of the function inside its intervals. Theorem 1: the covariance ffᵀ with the true noise,\nwhich \
         contains the function itself.\nThe paper (arXiv:2505.18526, section 3.3 and Figure 1) has no \
         numbers: without the correction the variance of the\nposterior vanishes with the noise, with it \
         the posterior covers the function"
            .into(),
    );
    lines
}

fn line(fit: &Fit) -> ResultRow {
    let ratio = fit.mean_deviation / fit.error;
    ResultRow::default()
        .column("model", "model", &fit.title, 0)
        .column("noise", "noise", fit.noise, 5)
        .column("error", "error", fit.error, 4)
        .column("deviation", "deviation", fit.mean_deviation, 4)
        .shown("deviation/error", format!("{ratio:.2}"))
        .column("within 95 %", "coverage", fit.coverage, 3)
        .column("NLPD", "nlpd", fit.nlpd, 3)
}

/// Draws one panel for each posterior, with the rows and the true function. The mean of the first fit
/// is proportional to the function.
fn draw_fits(path: &Path, problem: &Problem, fits: &[Fit]) -> Result<(), PlotError> {
    let panels: Vec<FitPanel<'_>> = (fits.iter())
        .map(|fit| FitPanel::new(&fit.title, &fit.curve, BANDS))
        .collect();
    let places: Vec<f64> = fits
        .first()
        .map(|fit| fit.curve.x.iter().copied().step_by(RINGS_APART).collect())
        .unwrap_or_default();
    let function = levels(&places);
    let points = |x, y| Points { x, y };
    plots::fits(
        path,
        Caption::new(
            "levels",
            "orange: the function without noise, not seen in training",
        ),
        &[BANDS.text],
        (
            points(&problem.inputs, &problem.targets),
            points(&places, &function),
        ),
        (Quantity::of("x"), Quantity::of("y")),
        &panels,
    )
}

/// Draws the noise variances during training, with the true one.
fn draw_course(path: &Path, fits: &[Fit]) -> Result<(), PlotError> {
    let trained: Vec<&Fit> = fits.iter().filter(|fit| !fit.course.is_empty()).collect();
    let mut names: Vec<_> = (trained.iter())
        .map(|fit| fit.title.as_str().into())
        .collect();
    names.push("true".into());
    let curve = |fit: &&Fit| -> Vec<(f64, f64)> {
        let points = fit.course.iter();
        points
            .map(|&(step, noise)| (step as f64, noise.log10()))
            .collect()
    };
    let mut curves: Vec<Vec<(f64, f64)>> = trained.iter().map(curve).collect();
    let ends = curves.first().and_then(|curve| {
        let (first, last) = (curve.first()?, curve.last()?);
        Some(vec![(first.0, NOISE.log10()), (last.0, NOISE.log10())])
    });
    curves.push(ends.unwrap_or_default());
    let panel = CurvePanel {
        title: "noise variance during training",
        ..CurvePanel::new("log10 noise variance", Span::Values, curves)
    };
    plots::curves(
        path,
        "Noise",
        Caption::new("levels", "noise unknown"),
        &names,
        Quantity::of("step"),
        &[panel],
    )
}

/// Draws the evidence per datum against the noise for the targets as the only feature, with and
/// without the penalty.
fn draw_evidence(path: &Path, targets: &[f64]) -> Result<(), PlotError> {
    let powers = evenly_spaced(POWERS, POWER_POINTS);
    let curve = |of: fn(&[f64], f64) -> f64| -> Vec<(f64, f64)> {
        let at = |&power: &f64| (power, of(targets, 10f64.powf(power)) / targets.len() as f64);
        powers.iter().map(at).collect()
    };
    let curves = vec![curve(evidence), curve(penalized)];
    let panel = CurvePanel {
        title: "the targets as the only feature",
        ..CurvePanel::new("objective per datum", Span::Window(-6.0, 6.0), curves)
    };
    plots::curves(
        path,
        "Evidence",
        Caption::new("levels", "one feature"),
        &["evidence".into(), "evidence with the penalty".into()],
        Quantity::of("log10 noise variance"),
        &[panel],
    )
}

fn squares(targets: &[f64]) -> f64 {
    targets.iter().map(|y| y * y).sum()
}

/// `log N(y | 0, yyᵀ + σ²I)`.
fn evidence(targets: &[f64], noise: f64) -> f64 {
    let (n, norm) = (targets.len() as f64, squares(targets));
    let fit = norm / (norm + noise);
    -0.5 * (n * (2.0 * PI).ln() + (norm + noise).ln() + (n - 1.0) * noise.ln() + fit)
}

/// [`evidence`] minus `Σ_n (max y² − y_n²)/(2σ²)`.
fn penalized(targets: &[f64], noise: f64) -> f64 {
    let largest = targets.iter().map(|y| y * y).fold(0.0, f64::max);
    let missing = largest * targets.len() as f64 - squares(targets);
    evidence(targets, noise) - missing / (2.0 * noise)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two targets computed in full: `|yyᵀ + σ²I| = σ²·(σ² + ‖y‖²)`.
    #[test]
    fn the_targets_as_a_feature_have_no_best_noise_without_the_penalty() {
        let y = [3.0, 1.0];
        let expected = -0.5 * (2.0 * (2.0 * PI).ln() + (0.5f64 * 10.5).ln() + 10.0 / 10.5);
        assert!((evidence(&y, 0.5) - expected).abs() < 1e-12);
        assert!((penalized(&y, 0.5) - (expected - 8.0)).abs() < 1e-12);
        let along = |of: fn(&[f64], f64) -> f64| [1e-2, 1e-4, 1e-6].map(|noise| of(&y, noise));
        assert!(along(evidence).is_sorted_by(|a, b| a < b));
        assert!(along(penalized).is_sorted_by(|a, b| a > b));
    }
}
