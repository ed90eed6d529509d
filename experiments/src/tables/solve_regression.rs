//! Regression with SVGP, ODVGP and SOLVE-GP: section 6.3 and Tables 2, 6 and 7 of arXiv:1910.10596.
//!
//! Posteriors are unwhitened. At quick scale all numbers of inducing points are divided by 8.

use burn_gp_runs::study::{
    Axis, AxisValue, CellDetails, Column, DataSets, Note, PaperSizes, Plot, RegisteredStudy, Row,
    RunRequest, Seeds, Study, StudyOption, Table, merged,
};
use serde_json::{Value, json};

use super::solve_protocol as protocol;

inventory::submit! { RegisteredStudy(study) }

/// The data sets with their training rows and inputs in the paper.
const DATA: [(&str, usize, usize); 10] = [
    ("kin40k", 25_600, 8),
    ("protein", 29_267, 9),
    ("keggdirected", 31_248, 20),
    ("keggundirected", 40_708, 27),
    ("3droad", 278_319, 3),
    ("song", 329_820, 90),
    ("buzz", 373_280, 77),
    ("houseelectric", 1_311_539, 9),
    ("elevators", 10_623, 18),
    ("bike", 11_122, 17),
];

fn study() -> Study {
    let sizes = DATA.map(|(name, rows, inputs)| (name, PaperSizes::rows_and_inputs(rows, inputs)));
    let table = |score, table| Row::across(&["data"], "column", score, table);
    Study {
        name: "solve-regression",
        about: "Regression with SVGP, ODVGP and SOLVE-GP (arXiv:1910.10596, Tables 2, 6 and 7)",
        help: "The protocol is the paper's: Matérn-3/2 kernel with one lengthscale, unwhitened posteriors, 64 %\n\
               of the rows to train on and 20 % to test on, batches of 1024, Adam with learning rate 0.01.\n\
               At quick scale all numbers of inducing points are divided by 8.\n\n\
               The tables have every run that is finished in the folder, whichever the last command asked for,\n\
               so that the cells can be made one by one.",
        data: DataSets {
            quick: &["elevators", "bike"],
            sizes: sizes.into(),
            ..DataSets::new(&DATA.map(|(name, ..)| name))
        },
        seeds: Seeds {
            option: "splits",
            help: "Random splits, with the first seed and those after it",
            quick: 2,
            paper: 5,
        },
        axes: vec![columns_of_the_paper()],
        options: StudyOption::list(
            "epochs | epochs | Passes over the training rows [default: 100; quick: 40]",
        ),
        run,
        table: Table {
            title: model,
            name: |cell| format!("{} {}", cell.data(), model(cell)),
            heading: Some(heading),
            columns: columns(),
            ..Table::default()
        },
        published: [table("log_density", LOG_DENSITIES), table("rmse", ERRORS)].concat(),
        plots: vec![Plot::Comparison(&["nlpd", "rmse", "milliseconds_per_step"])],
        notes: vec![Note::new(
            "mean (standard error) over the splits, in standardized units; the paper is arXiv:1910.10596, Tables 2, 6 and 7",
        )],
        ..Study::default()
    }
}

fn columns_of_the_paper() -> Axis {
    let values = AxisValue::list(
        "
        svgp-1024 | SVGP | SVGP, 1024 inducing points
        svgp-1536 | SVGP | SVGP, 1536 inducing points
        odvgp-1024 | ODVGP | ODVGP, 1024 inducing points and 1024 more for the mean
        odvgp-8096 | ODVGP | ODVGP, 1024 inducing points and 8096 more for the mean, of which a step looks at 1024
        solve-1024 | SOLVE-GP | SOLVE-GP, 1024 inducing points and 1024 orthogonal ones
        svgp-2048 | SVGP | SVGP, 2048 inducing points
        ",
    );
    Axis::new("column", values)
        .chosen_by(
            "columns",
            "Columns of the tables, named by the paper's numbers of inducing points",
        )
        .with_default("all")
}

fn run(request: &RunRequest<'_>) -> Value {
    let (model, inducing, orthogonal, columns) = match request.value("column") {
        "svgp-1024" => ("svgp-unwhitened", 1024, None, None),
        "svgp-1536" => ("svgp-unwhitened", 1536, None, None),
        "odvgp-1024" => ("odvgp", 1024, Some(1024), None),
        "odvgp-8096" => ("odvgp", 1024, Some(8096), Some(1024)),
        "solve-1024" => ("solve-unwhitened", 1024, Some(1024), None),
        _ => ("svgp-unwhitened", 2048, None, None),
    };
    let size = |of_paper: usize| request.by_scale(of_paper / 8, of_paper);
    let own = json!({
        "model": model,
        "inducing": size(inducing),
        "orthogonal": orthogonal.map(size),
        "columns": columns.map(size),
    });
    merged(protocol::run(request.given_or("epochs", 40, 100)), own)
}

/// The model with its numbers of inducing points.
fn model(cell: &CellDetails<'_>) -> String {
    let orthogonal = cell.get("orthogonal").map(|count| format!("+{count}"));
    let (model, inducing) = (cell.title_of("column"), cell.text("inducing"));
    format!("{model} {inducing}{}", orthogonal.unwrap_or_default())
}

fn heading(cell: &CellDetails<'_>) -> Option<String> {
    let generated = match cell.text("synthetic").as_str() {
        "true" => " (generated)",
        _ => "",
    };
    let [train, validation, test, inputs] =
        ["n_train", "n_validation", "n_test", "d"].map(|name| cell.text(name));
    Some(format!(
        "{}{generated}: {train} rows to train on, {validation} for validation, {test} to test on, {inputs} inputs",
        cell.data()
    ))
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("", "model", |cell| Some(cell.title())),
        Column::text("inducing", "", |cell| cell.get("inducing")),
        Column::text("orthogonal", "", |cell| cell.get("orthogonal")),
        Column::text("columns", "", |cell| cell.get("columns")),
        Column::seeds("splits", ""),
        Column::score("log_density", "test LL", |run| Some(-run.get("nlpd")?)).with_paper(),
        // Of the plots, where lower is better.
        Column::metric("nlpd", ""),
        Column::metric("rmse", "test RMSE").with_paper(),
        Column::milliseconds("milliseconds_per_step"),
        Column::seeds("", "splits"),
    ]
}

/// Means over five splits, with standard errors in units of the last digit.
const LOG_DENSITIES: &str = "
data svgp-1024 svgp-1536 odvgp-1024 odvgp-8096 solve-1024 svgp-2048
kin40k 0.094(3) 0.129(3) 0.137(3) 0.144(2) 0.187(2) 0.137(3)
protein -0.963(6) -0.949(5) -0.956(5) -0.946(5) -0.943(5) -0.940(5)
keggdirected 0.967(5) 0.944(6) -0.199(67) -0.136(63) 0.973(3) 0.907(3)
keggundirected 0.678(4) 0.673(4) 0.105(33) 0.109(33) 0.680(3) 0.665(4)
3droad -0.698(2) -0.674(3) -0.664(3) -0.657(3) -0.659(2) -0.669(2)
song -1.193(1) -1.193(1) -1.193(1) -1.193(1) -1.192(1) -1.192(1)
buzz -0.079(2) -0.079(2) -0.078(1) -0.079(1) -0.071(1) -0.079(2)
houseelectric 1.304(2) 1.304(3) 1.317(2) 1.319(4) 1.333(3) 1.304(3)
elevators -0.516(6) -0.511(7) -0.518(6) -0.523(6) -0.509(7) -0.507(7)
bike -0.218(6) -0.203(6) -0.191(6) -0.186(6) -0.189(6) -0.193(6)
";

/// As [`LOG_DENSITIES`].
const ERRORS: &str = "
data svgp-1024 svgp-1536 odvgp-1024 odvgp-8096 solve-1024 svgp-2048
kin40k 0.193(1) 0.182(1) 0.183(1) 0.180(1) 0.172(1) 0.177(1)
protein 0.630(4) 0.621(4) 0.625(4) 0.618(4) 0.618(4) 0.615(4)
keggdirected 0.098(3) 0.098(2) 0.176(12) 0.157(9) 0.095(2) 0.100(3)
keggundirected 0.123(1) 0.123(1) 0.156(4) 0.157(4) 0.123(1) 0.124(1)
3droad 0.482(1) 0.470(1) 0.467(1) 0.462(2) 0.464(1) 0.467(1)
song 0.797(1) 0.797(1) 0.797(1) 0.797(1) 0.796(1) 0.796(1)
buzz 0.263(1) 0.263(1) 0.263(1) 0.263(1) 0.261(1) 0.263(0)
houseelectric 0.063(0) 0.063(0) 0.062(0) 0.062(0) 0.061(0) 0.063(0)
elevators 0.398(4) 0.396(4) 0.397(4) 0.399(4) 0.395(4) 0.395(4)
bike 0.283(3) 0.279(3) 0.272(3) 0.270(3) 0.272(3) 0.276(3)
";
