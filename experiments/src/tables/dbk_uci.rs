//! Deep basis kernels beside Gaussian processes and deep kernel learning on pol, protein and song: sections
//! 4.2 and A.4 and Table 1 of arXiv:2505.18526.

use burn_gp_runs::study::{
    Axis, AxisValue, CellDetails, Column, DataSets, Note, PaperSizes, RegisteredStudy, Row,
    ScaleName, Spread, Study, StudyOption, Table,
};

use super::deep_basis_protocol::{Unit, run};
use crate::deep_basis::exceptions;

inventory::submit! { RegisteredStudy(study) }

fn study() -> Study {
    Study {
        name: "dbk-uci",
        about: "Deep basis kernels, deep kernel learning and GPs on pol, protein, song (arXiv:2505.18526, Table 1)",
        help: "GP, sGP, SVGP, DKL, sDKL, SVDKL, a network with a Bayesian last layer, DBK and SVDBK, these\n\
               without correction of the variance (-c), of rank 1 (-r), and both (-cr). The protocol is the\n\
               paper's: 70 % of the rows to train on, 10 % for validation, 20 % to test on.\n\n\
               The table has every run that is finished in the folder, whichever the last command asked for,\n\
               so that the cells can be made one by one: --data-sets pol --methods dbk --seed 0 --seeds 1. The\n\
               folder of a run is DIR/runs/DATA/METHOD/LENGTH/seed-K, where LENGTH is, for example, 10000-steps.",
        single_precision: true,
        data: DataSets {
            quick: &["pol"],
            sizes: vec![
                ("pol", PaperSizes::rows(10_500)),
                ("protein", PaperSizes::rows(32_011)),
                ("song", PaperSizes::rows(360_741)),
            ],
            ..DataSets::new(&["pol", "protein", "song"])
        },
        axes: vec![methods()],
        options: StudyOption::in_folders(OPTIONS),
        run,
        needs_inputs: true,
        folder: |cell| {
            let unit = Unit::of(cell.value("method")).name().replace(' ', "-");
            let method = cell.value("method").to_owned();
            vec![method, format!("{}-{unit}", length(cell))]
        },
        table: table(),
        published: Row::table(&["data", "method"], TABLE_1),
        notes: vec![Note::new(NOTE)],
        findings: exceptions,
        ..Study::default()
    }
}

fn methods() -> Axis {
    let methods = AxisValue::list(
        "
        gp | GP | Exact regression, L-BFGS
        gp-cg | GP, CG | Regression by conjugate gradients with variances of predictions made once, L-BFGS
        sgp | sGP | Collapsed regression with 128 inducing points, L-BFGS
        dkl | DKL | Exact deep kernel learning with 2 features
        sdkl | sDKL | The same with 128 inducing points among the features, collapsed
        dbk | DBK | A deep basis kernel of rank 128, corrected
        dbk-c | DBK-c | The same without correction
        dbk-r | DBK-r | Of rank 1, corrected
        dbk-cr | DBK-cr | Of rank 1 without correction
        bll | BLL | A plain network with a Bayesian last layer; not in the paper
        svgp | SVGP | Sparse variational with 128 inducing points
        svdkl | SVDKL | Variational deep kernel learning with 2 features and 128 inducing points
        svdbk | SVDBK | A variational deep basis kernel of rank 128, corrected
        svdbk-c | SVDBK-c | The same without correction
        svdbk-r | SVDBK-r | Of rank 1, corrected
        svdbk-cr | SVDBK-cr | Of rank 1 without correction
        ",
    );
    Axis::new("method", methods)
        .chosen_by("methods", "Models")
        .with_default("all; quick: all but gp, gp-cg and dkl")
        .only(|method, _, scale| {
            scale == ScaleName::Paper || !["gp", "gp-cg", "dkl"].contains(&method)
        })
}

const OPTIONS: &str = "
iterations | steps | Steps of Adam on all rows [default: 10000; quick: 200]
epochs | epochs | Passes over the rows in batches [default: 2000; quick: 20]
line-searches | steps | Iterations of L-BFGS of gp, gp-cg and sgp [default: 200; quick: 50]
";

/// The length of training in its unit.
fn length(cell: &CellDetails<'_>) -> String {
    cell.first_of(&["epochs", "steps"]).unwrap_or_default()
}

/// The length of training with its unit.
fn at_most(cell: &CellDetails<'_>) -> String {
    format!("{} {}", length(cell), Unit::of(cell.value("method")).name())
}

fn table() -> Table {
    Table {
        name: |cell| {
            let (data, method) = (cell.data(), cell.title_of("method"));
            format!("{data} {method}, {}", at_most(cell))
        },
        heading: Some(|cell| {
            let rows = cell.get("n_train")?;
            Some(format!(
                "{}, {rows} rows to train on, test rows",
                cell.data()
            ))
        }),
        spread: Spread::Deviation,
        digits: 4,
        columns: vec![
            Column::text("", "model", |cell| Some(cell.title())),
            Column::metric("mae", "MAE").with_paper(),
            Column::metric("rmse", "RMSE").with_paper(),
            Column::metric("nlpd", "NLPD").with_paper(),
            Column::within("within 2 sd", 2.0, &["mae", "rmse", "nlpd"]),
            Column::metric("steps", "steps").digits(0),
            Column::text("at_most", "at most", |cell| Some(at_most(cell))),
            // The paper's seconds are in the file alone.
            Column::score("", "seconds", |run| run.get("train_seconds")).digits(0),
            Column::metric("train_seconds", "").with_paper(),
            Column::milliseconds("milliseconds_per_step"),
            Column::seeds("seeds", "seeds"),
        ],
        ..Table::default()
    }
}

const NOTE: &str = "mean (standard deviation) over the seeds, in standardized units; the paper is arXiv:2505.18526, Table 1, five
seeds; within 2 sd: the scores that are at most two of the paper's standard deviations worse than its means.
Every seed here splits the rows anew, which the paper does not say of its own. All models train on the same 70 %
of the rows and are tested on the same 20 %; GP and sGP have no use for the 10 % for validation. GP and sGP:
L-BFGS in double precision; the others: Adam in single. Networks differ between the classes: models on all rows
have two blocks on inputs from −1 to 1, models on batches three on standardized inputs. The paper leaves this
open; it was chosen by validation rows, but with the paper's test scores in sight";

/// Means over five seeds with standard deviations, in standardized units, and seconds of training on a V100.
/// Memory was not enough where a row is missing. The paper's GP is by conjugate gradients itself.
const TABLE_1: &str = "
data method mae rmse nlpd train_seconds
pol gp 0.072±0.0003 0.1188±0.0002 -0.4172±0.0013 1373.1
pol gp-cg 0.072±0.0003 0.1188±0.0002 -0.4172±0.0013 1373.1
pol sgp 0.1853±0.0072 0.2594±0.0074 0.152±0.0306 88.8
pol dkl 0.0764±0.0259 0.1956±0.0662 -0.6502±0.3206 427.7
pol sdkl 0.0262±0.0012 0.0654±0.0023 -1.2917±0.0319 40.7
pol dbk 0.0249±0.0003 0.0583±0.0018 -1.5117±0.0323 48.0
pol dbk-c 0.0501±0.0014 0.09±0.002 -0.972±0.0363 21.0
pol dbk-r 0.0325±0.0014 0.0615±0.004 -1.4297±0.0521 80.3
pol dbk-cr 0.0303±0.0014 0.0599±0.0017 -1.3825±0.0291 37.0
pol svgp 0.0982±0.0169 0.1599±0.0229 -0.3441±0.1199 527.0
pol svdkl 0.0603±0.0058 0.1282±0.0141 -0.575±0.0606 89.9
pol svdbk 0.0806±0.0175 0.1263±0.0201 -0.5228±0.1011 112.4
pol svdbk-c 0.0808±0.0145 0.1271±0.0168 -0.5378±0.0675 86.7
pol svdbk-r 0.0485±0.0077 0.0935±0.0034 -0.5978±0.0601 292.9
pol svdbk-cr 0.0558±0.0049 0.0943±0.0035 -0.7012±0.035 215.8
protein sgp 0.587±0.0026 0.7311±0.0023 1.1092±0.0029 118.7
protein sdkl 0.4055±0.0008 0.6036±0.0019 2.304±0.1325 93.7
protein dbk 0.4592±0.0141 0.6525±0.0104 2.2843±0.0616 85.7
protein dbk-c 0.4925±0.0034 0.7279±0.0031 4.3396±0.1898 75.6
protein dbk-r 0.4115±0.0069 0.5769±0.0055 0.9324±0.0151 107.0
protein dbk-cr 0.4239±0.0047 0.6077±0.0041 1.5096±0.0614 79.0
protein svgp 0.6114±0.0112 0.7554±0.0094 1.1394±0.011 1546.0
protein svdkl 0.3924±0.0078 0.5656±0.0063 0.8634±0.0138 281.9
protein svdbk 0.373±0.0068 0.5519±0.0057 0.8425±0.0115 266.5
protein svdbk-c 0.3922±0.009 0.5631±0.0071 0.8724±0.0218 217.2
protein svdbk-r 0.3785±0.0103 0.559±0.0074 0.846±0.0083 297.6
protein svdbk-cr 0.4057±0.0141 0.5705±0.011 0.8736±0.0119 191.0
song sgp 0.689±0.0 0.8627±0.0 1.2715±0.0 2031.6
song sdkl 0.6685±0.0109 0.8643±0.0246 1.4794±0.0752 2297.1
song dbk 0.6453±0.002 0.8234±0.0031 1.3151±0.0068 2167.5
song dbk-c 0.7038±0.0029 0.9009±0.0038 1.6211±0.0075 2166.2
song dbk-r 0.6672±0.0295 0.8431±0.0301 3.2849±1.0606 715.0
song dbk-cr 0.6339±0.0096 0.8097±0.0076 1.2514±0.015 1923.0
song svgp 0.6355±0.0012 0.8078±0.0014 1.2054±0.0017 17255.3
song svdkl 0.6091±0.0025 0.7878±0.0041 1.1852±0.0077 2486.1
song svdbk 0.6064±0.0018 0.7844±0.0027 1.1778±0.0035 1861.4
song svdbk-c 0.6076±0.0015 0.7867±0.0039 1.1812±0.0054 1684.9
song svdbk-r 0.6103±0.0009 0.7869±0.0024 1.1806±0.0041 1940.4
song svdbk-cr 0.6113±0.0032 0.7896±0.0036 1.1871±0.0068 1708.4
";
