//! Mobile internet quality in Georgia, USA: section 4.3 and Figure 4 of arXiv:2505.18526.
//!
//! The data are Ookla's measurements of 2019 to 2022 at 19 535 places, with their coordinates and a score of
//! quality whose logarithm is the target. They are not part of the program: they come from a file with the
//! columns latitude, longitude and the score. The protocol is that of dbk-uci, with the variational models
//! alone. The paper does not say over how many seeds its numbers are.

use burn_gp_runs::study::{
    Axis, AxisValue, Column, DataSets, Note, PaperSizes, RegisteredStudy, Row, Study, StudyOption,
    Table,
};

use super::deep_basis_protocol::{EPOCHS, run};

inventory::submit! { RegisteredStudy(study) }

fn study() -> Study {
    let methods = "svgp | SVGP\n svdkl | SVDKL\n svdbk | SVDBK";
    Study {
        name: "dbk-mobile",
        about: "Mobile internet quality with SVGP, SVDKL and SVDBK, from a file (arXiv:2505.18526, Figure 4)",
        single_precision: true,
        data: DataSets {
            // 70 % of 19 535.
            sizes: vec![("mobile", PaperSizes::rows(13_674))],
            ..DataSets::fixed(&["mobile"])
        },
        axes: vec![Axis::new("method", AxisValue::list(methods))],
        options: StudyOption::in_folders(EPOCHS),
        run,
        needs_inputs: true,
        folder: |cell| {
            let epochs = format!("{}-epochs", cell.text("epochs"));
            vec![cell.value("method").to_owned(), epochs]
        },
        table: Table {
            digits: 4,
            columns: vec![
                Column::text("", "model", |cell| Some(cell.title())),
                Column::text("", "rows", |cell| cell.get("n_train")),
                Column::metric("mae", "MAE").with_paper(),
                Column::metric("rmse", "RMSE").with_paper(),
                Column::metric("nlpd", "NLPD").with_paper(),
                Column::seeds("seeds", "seeds"),
            ],
            ..Table::default()
        },
        published: Row::table(&["data", "method"], FIGURE_4),
        notes: vec![Note::new(
            "mean (standard error) over the seeds, logarithms in standardized units; the paper is arXiv:2505.18526, \
             Figure 4,\nwith 19 535 rows, of which 70 % are to train on: other data have other numbers",
        )],
        ..Study::default()
    }
}

/// The scores in Figure 4.
const FIGURE_4: &str = "
data method mae rmse nlpd
mobile svgp 0.2533 0.3589 0.3728
mobile svdkl 0.2322 0.3369 0.4210
mobile svdbk 0.2216 0.3233 0.2880
";
