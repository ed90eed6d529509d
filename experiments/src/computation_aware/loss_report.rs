//! Table and plots of the two losses.

use std::path::Path;

use burn_gp_runs::{
    failure::Failure,
    plots::{
        self, Bands, Caption, CurveName, CurvePanel, FitPanel, PlotError, Points, Quantity, Span,
    },
    study::{ExperimentFolder, ResultRow, table},
    summary::{Summary, mean_curve},
};
use serde_json::json;

use super::loss::{NAME, NOISE, Run, Snapshot, Trained};

const BANDS: Bands<'static> = Bands {
    text: "±2 standard deviations of targets",
    deviations: 2.0,
};

/// A summary over the seeds of a model.
fn cell(trained: Trained, runs: &[&Run]) -> ResultRow {
    let summary = |number: &dyn Fn(&[Snapshot]) -> f64| {
        Summary::of(runs.iter().map(|run| number(&run.snapshots)))
    };
    let last = |number: fn(&Snapshot) -> f64| {
        summary(&|snapshots| snapshots.last().map_or(f64::NAN, number))
    };
    let first = summary(&|snapshots| snapshots.first().map_or(f64::NAN, |snapshot| snapshot.nlpd));
    let best = summary(&|snapshots| {
        let values = snapshots.iter().map(|snapshot| snapshot.nlpd);
        values.fold(f64::NAN, f64::min)
    });
    ResultRow::default()
        .shown("model, loss", trained.title())
        .with("trained", json!(trained))
        .with("seeds", runs.len())
        .column("first NLPD", "first_nlpd", first, 3)
        .column("best NLPD", "best_nlpd", best, 3)
        .column("last NLPD", "nlpd", last(|snapshot| snapshot.nlpd), 3)
        .column("RMSE", "rmse", last(|snapshot| snapshot.rmse), 3)
        .column(
            "noise deviation",
            "noise",
            last(|snapshot| snapshot.noise),
            3,
        )
        .column(
            "lengthscale",
            "lengthscale",
            last(|snapshot| snapshot.lengthscale),
            3,
        )
}

/// An evaluation of a run.
fn line(run: &Run, snapshot: &Snapshot) -> ResultRow {
    ResultRow::default()
        .with("model", run.trained.name())
        .with("seed", run.seed)
        .with("step", snapshot.step)
        .with("nlpd", snapshot.nlpd)
        .with("rmse", snapshot.rmse)
        .with("noise_deviation", snapshot.noise)
        .with("lengthscale", snapshot.lengthscale)
}

/// The shown range of the NLPD. Trained actions leave it when trained with the density of the
/// projected data.
const SHOWN: (f64, f64) = (-1.0, 2.0);

/// Writes the table and the plots of all runs in the folder, with the rows of the first seed.
pub(super) fn report(folder: &ExperimentFolder, (x, y): (&[f64], &[f64])) -> Result<(), Failure> {
    let mut runs: Vec<Run> = folder.load_all()?;
    runs.sort_by_key(|run| (run.trained, run.seed));
    let groups: Vec<(Trained, Vec<&Run>)> = (Trained::ALL.into_iter())
        .map(|trained| (trained, of_model(&runs, trained)))
        .filter(|(_, own)| !own.is_empty())
        .collect();
    let cells: Vec<ResultRow> = (groups.iter())
        .map(|(trained, own)| cell(*trained, own))
        .collect();
    let own = |run: &Run| {
        run.snapshots
            .iter()
            .map(|snapshot| line(run, snapshot))
            .collect::<Vec<_>>()
    };
    folder.write_results(&cells, &runs.iter().flat_map(own).collect::<Vec<_>>())?;
    folder.draw("course.svg", |path| draw_course(path, &runs));
    folder.draw("fits.svg", |path| draw_fits(path, &runs, Points { x, y }));
    let mut lines = vec![format!(
        "{NAME}: held-out rows; the noise standard deviation of the data is {NOISE}"
    )];
    lines.extend(table(&cells));
    lines.push(
        "mean (standard error) over the seeds; best: during training; bound: the evidence lower bound (eq. 11), \
         projected: the density\nof the projected data (eq. 9). The paper (arXiv:2411.01036, Figures S1 and \
         S2) has no numbers: trained with the latter,\nCaGP-CG gets worse on held-out rows and explains the \
         function as noise. Actions trained with it end up seeing\nalmost none of the data."
            .into(),
    );
    let found = |trained| {
        let place = groups.iter().position(|(own, _)| *own == trained)?;
        Some(&cells[place])
    };
    for (bound, projected) in [
        (Trained::CgEvidence, Trained::CgProjected),
        (Trained::OptEvidence, Trained::OptProjected),
    ] {
        let pair = found(bound).zip(found(projected));
        lines.extend(pair.and_then(|pair| finding(projected, pair)));
    }
    folder.print(lines);
    Ok(())
}

/// The runs of a model.
fn of_model(runs: &[Run], trained: Trained) -> Vec<&Run> {
    runs.iter().filter(|run| run.trained == trained).collect()
}

/// A sentence that compares the two losses for a model.
fn finding(trained: Trained, (bound, projected): (&ResultRow, &ResultRow)) -> Option<String> {
    let (best, last) = (projected.number("best_nlpd")?, projected.number("nlpd")?);
    let course = match last > best + 0.01 {
        true => format!("gets worse during training, from {best:.3} to {last:.3}"),
        false => "does not get worse during training".to_owned(),
    };
    Some(format!(
        "here {}: the NLPD {course}, and ends {:+.3} from that of the bound;\nthe noise standard deviation is \
         {:.1} times that of the data, with the bound {:.1} times",
        trained.title(),
        last - bound.number("nlpd")?,
        projected.number("noise")? / NOISE,
        bound.number("noise")? / NOISE
    ))
}

/// Draws learning curves, averaged over the seeds.
fn draw_course(path: &Path, runs: &[Run]) -> Result<(), PlotError> {
    let names = Trained::ALL.map(|trained| CurveName::from(trained.title()));
    let panel = |title, number: fn(&Snapshot) -> f64, span| {
        let curve = |trained| course(&of_model(runs, trained), number);
        CurvePanel::new(title, span, Trained::ALL.map(curve).into())
    };
    let window = Span::Window(SHOWN.0, SHOWN.1);
    let panels = [
        panel("NLPD of held-out rows", |snapshot| snapshot.nlpd, window),
        panel(
            "noise standard deviation",
            |snapshot| snapshot.noise,
            Span::FromZero,
        ),
    ];
    let caption = Caption::new("sines", "both losses during training, means over the seeds");
    let along = Quantity::of("step");
    plots::curves(path, "Losses", caption, &names, along, &panels)
}

fn course(runs: &[&Run], number: fn(&Snapshot) -> f64) -> Vec<(f64, f64)> {
    let curve = |run: &&Run| -> Vec<(f64, f64)> {
        let snapshots = run.snapshots.iter();
        snapshots
            .map(|snapshot| (snapshot.step as f64, number(snapshot)))
            .collect()
    };
    mean_curve(&runs.iter().map(curve).collect::<Vec<_>>())
}

/// Draws the predictions of the first seed.
fn draw_fits(path: &Path, runs: &[Run], train: Points<'_>) -> Result<(), PlotError> {
    let seed = runs.iter().map(|run| run.seed).min();
    let shown = runs.iter().filter(|run| Some(run.seed) == seed);
    let panels: Vec<FitPanel<'_>> = shown
        .map(|run| FitPanel::new(run.trained.title(), &run.curve, BANDS))
        .collect();
    plots::fits(
        path,
        Caption::new("sines", "after the last step, with noise"),
        &[BANDS.text],
        (train, Points::default()),
        (Quantity::of("x"), Quantity::of("y")),
        &panels,
    )
}
