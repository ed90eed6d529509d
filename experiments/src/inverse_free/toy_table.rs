//! The traces of Figure 1 as a table and plots.

use burn_gp_runs::{
    arguments::name_of,
    failure::Failure,
    plots::{self, Caption, CurveName, CurvePanel, Quantity, Span},
    study::{CommonOptions, ExperimentFolder, ResultRow, table},
};

use super::toy::Trace;
use super::toy_data::{LossAxis, toys};
use super::toy_variants::variants;

/// The lower end of an axis that the paper does not define, relative to the lowest loss.
const LOWEST: f64 = 0.95;

/// Writes the files and plots and prints the table.
///
/// # Errors
///
/// If a file cannot be written.
pub(super) fn report(
    traces: &[Trace],
    summary: &str,
    common: &CommonOptions,
    folder: &ExperimentFolder,
) -> Result<(), Failure> {
    folder.write_results(&traces, &csv_lines(traces))?;
    let mut lines = Vec::new();
    for traces in traces.chunk_by(|first, second| first.data == second.data) {
        draw(folder, traces, summary);
        lines.push(format!(
            "{}: {} scale, {summary}",
            traces[0].data,
            name_of(common.scale)
        ));
        let rows: Vec<ResultRow> = traces.iter().map(|trace| row(trace, traces)).collect();
        lines.extend(table(&rows));
        lines.push(String::new());
    }
    lines.push(
        "negative evidence lower bound of all rows in nats, after a tenth of the steps and at the \
         end; the largest\nrelative distance from L-SVGP during training (from L-SVGP (P) for \
         variants with P), and the distance at the end.\nThe paper (arXiv:2604.00697, Figure 1) has no numbers: \
         variants with natural gradients (N) follow L-SVGP, R-SVGP\nis much slower, R-SVGP (P) ends \
         worse than R-SVGP (NP), and W-SVGP is like the variants with P and Cholesky factors or N."
            .into(),
    );
    folder.print(lines);
    Ok(())
}

/// The trace that a variant should follow, if any.
fn counterpart<'a>(trace: &Trace, traces: &'a [Trace]) -> Option<&'a Trace> {
    let variant = (variants().into_iter()).find(|variant| variant.title == trace.variant)?;
    let title = variant.counterpart?;
    traces.iter().find(|other| other.variant == title)
}

/// The relative distances of two traces at each evaluation.
fn distances(own: &Trace, other: &Trace) -> Vec<f64> {
    let losses = own.losses.iter().zip(&other.losses);
    losses
        .map(|(own, other)| (own - other).abs() / other.abs())
        .collect()
}

/// A row of the table on the terminal.
fn row(trace: &Trace, traces: &[Trace]) -> ResultRow {
    let percent = |share: Option<f64>| {
        share.map_or_else(|| "-".into(), |share| format!("{:.3} %", 100.0 * share))
    };
    let distances = counterpart(trace, traces).map(|other| distances(trace, other));
    let largest = (distances.as_ref()).map(|all| all.iter().copied().fold(0.0, f64::max));
    let last = distances.and_then(|all| all.last().copied());
    let loss = |snapshot: usize| format!("{:.2}", trace.losses[snapshot]);
    let (end, steps) = (trace.losses.len() - 1, trace.steps.last().copied());
    let seconds = trace.seconds / steps.unwrap_or(1).max(1) as f64;
    ResultRow::default()
        .shown("variant", &trace.variant)
        .shown("loss at 10 %", loss(end / 10))
        .shown("loss", loss(end))
        .shown("distance", percent(largest))
        .shown("at the end", percent(last))
        .shown("ms a step", format!("{:.2}", 1e3 * seconds))
}

/// One line for each evaluation.
fn csv_lines(traces: &[Trace]) -> Vec<ResultRow> {
    let line = |trace: &Trace, (&step, &loss): (&usize, &f64)| {
        ResultRow::default()
            .with("data", &trace.data)
            .with("variant", &trace.variant)
            .with("step", step)
            .with("loss", loss)
    };
    let snapshots = traces.iter().flat_map(|trace| {
        let snapshots = trace.steps.iter().zip(&trace.losses);
        snapshots.map(move |snapshot| line(trace, snapshot))
    });
    snapshots.collect()
}

/// Draws all traces of a data set.
fn draw(folder: &ExperimentFolder, traces: &[Trace], summary: &str) {
    let data = &traces[0].data;
    // Natural-gradient traces coincide with those of their counterparts, so they are dashed.
    let is_natural = |title: &str| {
        let variant = variants()
            .into_iter()
            .find(|variant| variant.title == title);
        variant.is_some_and(|variant| variant.is_natural())
    };
    let names: Vec<CurveName> = (traces.iter())
        .map(|trace| CurveName::dashed_if(is_natural(&trace.variant), trace.variant.as_str()))
        .collect();
    let points = |trace: &Trace| -> Vec<(f64, f64)> {
        let steps = trace.steps.iter().map(|&step| step as f64);
        steps.zip(trace.losses.iter().copied()).collect()
    };
    let panel = CurvePanel {
        value: Quantity {
            name: "negative evidence lower bound",
            unit: Some("nats"),
        },
        ..CurvePanel::new(
            "loss of all rows",
            window(traces),
            traces.iter().map(points).collect(),
        )
    };
    let caption = Caption::new(data, summary);
    let steps = Quantity::of("step");
    folder.draw(&format!("{data}.svg"), |path| {
        plots::curves(path, "Training", caption, &names, steps, &[panel])
    });
}

/// The paper's axis, or one that shows the same multiple of the lowest loss.
fn window(traces: &[Trace]) -> Span {
    let losses = traces.iter().flat_map(|trace| &trace.losses);
    let lowest = losses.copied().fold(f64::INFINITY, f64::min);
    let toy = toys().into_iter().find(|toy| toy.name == traces[0].data);
    match toy.map(|toy| toy.axis) {
        Some(LossAxis::Paper(low, high)) => Span::Window(low, high),
        Some(LossAxis::Times(times)) if lowest > 0.0 => {
            let low = LOWEST * lowest;
            Span::Window(low, times * low)
        }
        _ => Span::Values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(variant: &str, losses: &[f64]) -> Trace {
        Trace {
            data: "snelson".into(),
            variant: variant.into(),
            steps: (0..losses.len()).collect(),
            losses: losses.to_vec(),
            seconds: 1.0,
        }
    }

    #[test]
    fn variants_are_compared_with_those_they_should_follow() {
        let traces = [
            trace("L-SVGP", &[9.0, 9.0]),
            trace("L-SVGP (P)", &[8.0, 4.0]),
            trace("R-SVGP (NP)", &[8.0, 5.0]),
        ];
        let rows = table(&traces.each_ref().map(|trace| row(trace, &traces)));
        let cells = |row: &str| -> Vec<String> {
            let cells = row.split("  ").map(str::trim);
            (cells.filter(|cell| !cell.is_empty()).map(String::from)).collect()
        };
        assert_eq!(cells(&rows[3])[3..5], ["25.000 %", "25.000 %"]);
        assert_eq!(cells(&rows[1])[3..5], ["-", "-"]);
        assert_eq!(window(&traces), Span::Window(55.0, 100.0));
        let banana = Trace {
            data: "banana".into(),
            ..trace("L-SVGP", &[20.0, 10.0])
        };
        let Span::Window(low, high) = window(&[banana]) else {
            panic!("no window");
        };
        assert!((low - 9.5).abs() < 1e-12 && (high - 9.5 * 18.0 / 11.0).abs() < 1e-12);
    }
}
