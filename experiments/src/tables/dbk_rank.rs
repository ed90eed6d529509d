//! How much the scores depend on the number of basis functions, in the manner of Table 1 of
//! arXiv:2505.18526, which has ranks 1 and 128 alone. The protocol is that of dbk-uci.

use burn_gp_runs::study::{
    Axis, AxisValue, Column, DataSets, Note, RegisteredStudy, Seeds, Study, StudyOption, Table,
};

use super::deep_basis_protocol::run;

inventory::submit! { RegisteredStudy(study) }

fn study() -> Study {
    Study {
        name: "dbk-rank",
        about: "Deep basis kernels of rank 1 to 256 (in the manner of arXiv:2505.18526, Table 1)",
        help: "Scores of the test rows against the number of basis functions, with and without correction of\n\
               the variance; in all else as dbk-uci.",
        single_precision: true,
        data: DataSets {
            quick: &["pol"],
            paper: &["pol"],
            ..DataSets::new(&["pol", "protein", "song"])
        },
        seeds: Seeds {
            paper: 2,
            ..Seeds::default()
        },
        axes: axes(),
        options: StudyOption::list(OPTIONS),
        run,
        folder: |cell| {
            let (method, rank) = (cell.value("method"), cell.value("rank"));
            vec![format!("{method}-rank-{rank}")]
        },
        table: Table {
            title: |cell| format!("{}, rank {}", cell.title_of("method"), cell.value("rank")),
            name: |cell| format!("{}, {}", cell.data(), cell.title()),
            digits: 4,
            columns: vec![
                Column::text("", "data", |cell| Some(cell.data().to_owned())),
                Column::text("", "model", |cell| Some(cell.title_of("method").to_owned())),
                Column::axis("", "rank", "rank"),
                Column::metric("mae", "MAE"),
                Column::metric("rmse", "RMSE"),
                Column::metric("nlpd", "NLPD"),
                Column::metric("steps", "steps").digits(0),
                Column::milliseconds("milliseconds_per_step"),
                Column::seeds("seeds", "seeds"),
            ],
            ..Table::default()
        },
        notes: vec![Note::new(
            "mean (standard error) over the seeds, in standardized units; the paper (arXiv:2505.18526, Table 1) has \
             ranks\n1 and 128 alone: see dbk-uci",
        )],
        ..Study::default()
    }
}

const OPTIONS: &str = "
iterations | steps | Steps of Adam on all rows [default: 10000; quick: 200]
epochs | epochs | Passes over the rows in batches [default: 2000; quick: 20]
";

fn axes() -> Vec<Axis> {
    let methods = AxisValue::list(
        "
        dbk | DBK | A deep basis kernel, corrected
        dbk-c | DBK-c | The same without correction
        bll | BLL | A plain network with a Bayesian last layer; not in the paper
        svdbk | SVDBK | A variational deep basis kernel, corrected
        svdbk-c | SVDBK-c | The same without correction
        ",
    );
    let ranks = ["1", "4", "16", "64", "128", "256"].map(AxisValue::new);
    vec![
        Axis::new("method", methods)
            .chosen_by("methods", "Models with basis functions")
            .only(|method, _, _| method.starts_with("svdbk")),
        Axis::new("rank", ranks)
            .chosen_by("ranks", "Numbers of basis functions")
            .setting("rank"),
    ]
}
