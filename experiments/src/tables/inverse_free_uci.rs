//! Regression with W-SVGP, L-SVGP and R-SVGP: section 4.2, Figure 2 of arXiv:2604.00697, and the row of
//! Table 1 with one layer.
//!
//! Figure 2 has batches of 100 rows, 20 000 steps, and 256 probes for the traces of R-SVGP. The row of Table 1
//! has batches of 1000, 200 000 steps, inversions with log-linear step sizes to a residual of 1e-9, and exact
//! traces. In the paper's text, the learning rate of Table 1 is lowered on plateaus; in the authors' program
//! and here, it is constant with one layer.

use burn_gp_runs::study::{
    Axis, AxisValue, CellDetails, Column, DataSets, Note, Protocol, RegisteredStudy, Row,
    RunRequest, ScaleName, Seeds, Study, StudyOption, Table, merged,
};
use serde_json::{Value, json};

use super::inverse_free_protocol::{self as protocol, METHODS, columns, curves, damped};

inventory::submit! { RegisteredStudy(figure_2) }
inventory::submit! { RegisteredStudy(table_1) }

/// The fewest inducing points with random probes: more than M probes have no advantage over exact traces.
const PROBES: u64 = 256;

fn figure_2() -> Study {
    Study {
        name: "inverse-free-uci",
        about: "NLPD against seconds with W-, L- and R-SVGP on elevators and kin40k (arXiv:2604.00697, Figure 2)",
        help: "The protocol is the paper's: squared-exponential kernel, 90 % of the rows for training, Adam with\n\
               learning rate 0.005, batches of 100; R-SVGP with damped inducing points and estimated traces.\n\
               --protocol table-1 runs the single-layer row of Table 1.\n\n\
               The tables include all finished runs in the folder, from this and earlier commands, so the curves\n\
               can be made one at a time.",
        protocol: Some(Protocol {
            name: "figure-2",
            help: "Figure 2: batches of 100 rows, NLPD against seconds, R-SVGP with damped inducing points",
            of: None,
        }),
        figures: true,
        data: DataSets::new(&["elevators", "kin40k"]),
        axes: axes(
            &["128", "256", "1000", "2000", "3000", "4000"],
            "1000 to 4000, for table-1 500; quick: 128,256, for table-1 125",
        ),
        options: StudyOption::list(
            "steps | steps | Optimizer steps [default: 20000, for table-1 200000; quick: 1500, for table-1 1000]",
        ),
        run: run_of_figure_2,
        table: table(true),
        notes: vec![
            Note::new(NOTE),
            Note::new(
                "the paper is arXiv:2604.00697, Figure 2, curves without numbers: after 20 000 steps L-SVGP took up to \
                 2.5\ntimes as long as R-SVGP on a V100, W-SVGP up to 1.4 times; the same NLPD on elevators, flat from \
                 M = 2000;\non kin40k R-SVGP better than both, but for M = 1000",
            ),
        ],
        ..common()
    }
}

fn table_1() -> Study {
    Study {
        name: "inverse-free-uci-table-1",
        about: "The row of Table 1 with one layer: W-, L- and R-SVGP on kin40k (arXiv:2604.00697)",
        protocol: Some(Protocol {
            name: "table-1",
            help: "The single-layer row of Table 1: kin40k, batches of 1000 rows, R-SVGP with log-linear step sizes",
            of: Some("inverse-free-uci"),
        }),
        data: DataSets::new(&["kin40k"]),
        axes: axes(&["125", "500"], "500; quick: 125"),
        options: StudyOption::list(
            "steps | steps | Optimizer steps [default: 200000; quick: 1000]",
        ),
        run: |request| {
            let own = json!({
                "inversion": "log-linear",
                "inversion_tolerance": 1e-9,
                "batch_size": 1000,
                "steps": request.given_or("steps", 1000, 200_000),
            });
            merged(protocol::run(request), own)
        },
        table: table(false),
        published: Row::across(
            &["data"],
            "method",
            "nlpd",
            "data w l r
             kin40k -0.380(1) -0.390(2) -0.390(2)",
        ),
        notes: vec![
            Note::new(NOTE),
            Note::new(
                "the paper is arXiv:2604.00697, Table 1, one layer of 500 inducing points after 200 000 steps",
            ),
        ],
        ..common()
    }
}

/// What both protocols have in common.
fn common() -> Study {
    Study {
        seeds: Seeds {
            help: "Number of seeds, counted from --seed",
            ..Seeds::default()
        },
        folder: |cell| {
            let (method, inducing) = (cell.value("method"), cell.value("inducing"));
            vec![format!("{method}-{inducing}")]
        },
        plots: vec![curves()],
        ..Study::default()
    }
}

const NOTE: &str = "mean (standard error) over the seeds, in standardized units; seconds of the steps alone, on the processor or
graphics processor of --device, and how many times those of R-SVGP";

/// The fewest inducing points of the paper.
const LARGE: usize = 500;

fn axes(sizes: &[&'static str], default: &'static str) -> Vec<Axis> {
    let sizes = sizes.iter().copied().map(AxisValue::new);
    vec![
        Axis::new("inducing", sizes)
            .chosen_by("inducing", "Inducing points M, such as 1000,2000")
            .with_default(default)
            .setting("inducing")
            .only(|size, _, scale| {
                let is_large = size.parse().is_ok_and(|size: usize| size >= LARGE);
                is_large == (scale == ScaleName::Paper)
            }),
        Axis::new("method", AxisValue::list(METHODS)).chosen_by("models", "Models"),
    ]
}

fn run_of_figure_2(request: &RunRequest<'_>) -> Value {
    let steps = request.count("steps", 1500, 20_000);
    let inducing: Option<u64> = request.value("inducing").parse().ok();
    let own = json!({
        "batch_size": 100,
        "steps": steps,
        "probes": inducing.filter(|&count| count >= PROBES).map(|_| PROBES),
    });
    let run = merged(protocol::run(request), own);
    match request.value("method") {
        "r" => merged(run, damped(steps)),
        _ => run,
    }
}

fn table(has_dashes: bool) -> Table {
    let title = |cell: &CellDetails<'_>| Some(cell.title_of("method").to_owned());
    protocol::table(
        |cell| {
            format!(
                "{}, M = {}",
                cell.title_of("method"),
                cell.value("inducing")
            )
        },
        |cell| {
            let (method, inducing) = (cell.title_of("method"), cell.value("inducing"));
            format!("{} {method} M = {inducing}", cell.data())
        },
        columns(
            Column::text("", "model", title),
            has_dashes,
            ("of R", ("method", "r")),
        ),
    )
}
