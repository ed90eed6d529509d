//! Random probes for the traces in the bound of R-SVGP: section S6, Figure S1 of S. Cortinovis,
//! L. Aitchison, S. Eleftheriadis and M. van der Wilk, "Inverse-Free Sparse Variational Gaussian Processes",
//! arXiv:2604.00697.
//!
//! The protocol is that of Figure 2 (inverse-free-uci) with 2000 inducing points, with 1, 64 and 256 probes
//! and with exact traces.

use burn_gp_runs::study::{
    Along, Axis, AxisValue, Column, Curves, DataSets, Note, Panel, Plot, RegisteredStudy,
    RunRequest, Seeds, Study, StudyOption, merged,
};
use serde_json::{Value, json};

use super::inverse_free_protocol::{self as protocol, columns, damped};

inventory::submit! { RegisteredStudy(study) }

fn study() -> Study {
    let traces = "1 | K = 1\n 64 | K = 64\n 256 | K = 256\n exact | exact";
    Study {
        name: "inverse-free-hutchinson",
        about: "R-SVGP with 1, 64 and 256 random probes and exact traces (arXiv:2604.00697, Figure S1)",
        help: "NLPD and loss against seconds on elevators and kin40k; other settings as in inverse-free-uci.",
        figures: true,
        data: DataSets::new(&["elevators", "kin40k"]),
        seeds: Seeds {
            help: "Number of seeds, counted from --seed",
            ..Seeds::default()
        },
        axes: vec![
            Axis::new("method", AxisValue::list("r | R-SVGP")),
            Axis::new("traces", AxisValue::list(traces)),
        ],
        options: options(),
        run,
        folder: |cell| vec![cell.cell.values.join("-")],
        table: protocol::table(
            |cell| cell.title_of("traces").to_owned(),
            |cell| {
                let (traces, inducing) = (cell.title_of("traces"), cell.text("inducing"));
                format!("{} {traces} M = {inducing}", cell.data())
            },
            columns(
                Column::text("", "model", |cell| Some(cell.title())),
                true,
                ("of exact", ("traces", "exact")),
            ),
        ),
        plots: vec![plot()],
        notes: vec![Note::new(
            "R-SVGP, mean (standard error) over the seeds, in standardized units; seconds of the steps alone. The \
             paper\n(arXiv:2604.00697, Figure S1, curves without numbers): one probe is noisy and ends with a worse \
             NLPD, 64 and\nmore are as good as exact traces, and 256 save 25 to 30 % of the time at M = 2000 on a V100",
        )],
        ..Study::default()
    }
}

fn options() -> Vec<StudyOption> {
    let mut options = StudyOption::list(
        "
        inducing | inducing | Inducing points M, at least 256 [default: 2000; quick: 384]
        steps | steps | Optimizer steps [default: 20000; quick: 400]
        ",
    );
    options[0].least = Some(256);
    options
}

fn run(request: &RunRequest<'_>) -> Value {
    let steps = request.count("steps", 400, 20_000);
    let probes: Option<u64> = request.value("traces").parse().ok();
    let own = json!({
        "batch_size": 100,
        "inducing": request.given_or("inducing", 384, 2000),
        "steps": steps,
        "probes": probes,
    });
    merged(merged(protocol::run(request), damped(steps)), own)
}

fn plot() -> Plot {
    let panel = |title, column, name| Panel {
        title,
        column,
        sign: 1.0,
        name,
    };
    Plot::Curves(Curves {
        over: Along::Seconds,
        caption: |cell| {
            let (method, inducing) = (cell.title_of("method"), cell.get("inducing")?);
            Some(format!("{method}, M = {inducing}, means over the seeds"))
        },
        curve: |cell| cell.title(),
        panels: None,
        shown: vec![
            panel(|_| "test rows".into(), "nlpd", "NLPD"),
            panel(
                |_| "mini-batches since the snapshot before".into(),
                "loss",
                "loss",
            ),
        ],
    })
}
