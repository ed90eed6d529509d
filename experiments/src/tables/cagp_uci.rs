//! Regression with exact, sparse and computation-aware models: section 5, Tables 1 and S1 of J. Wenger,
//! K. Wu, P. Hennig, J. R. Gardner, G. Pleiss and J. P. Cunningham, "Computation-Aware Gaussian Processes:
//! Model Selection And Linear-Time Inference", arXiv:2411.01036.
//!
//! 10 % of the rows at random for testing, everything standardized, zero mean, Matérn-3/2 kernel with a
//! lengthscale for each input, noise variance of at least 1e-4, all of them ln 2 at the start; 512
//! combinations of rows, 1024 inducing points. Adam is in single precision, and its learning rate goes down
//! in a straight line to a tenth. L-BFGS is in double precision, makes 20 iterations an epoch, and its line
//! searches begin at the learning rate. The learning rates are the best of those that the paper tried.
//! A trained combination is of rows near each other, which the paper's are not (`--action-rows given`). The
//! numbers are those of the last step: the paper's are those of the epoch whose test NLL is lowest.

use std::f64::consts::LN_2;

use burn_gp_runs::study::{
    Axis, AxisValue, CellDetails, Column, DataSets, Note, PaperSizes, Plot, RegisteredStudy, Row,
    RunRequest, Spread, Study, StudyOption, Table, merged,
};
use serde_json::{Value, json};

inventory::submit! { RegisteredStudy(study) }

/// The methods with L-BFGS.
const L_BFGS: [&str; 5] = [
    "exact",
    "sgpr-l-bfgs",
    "sgpr-fixed",
    "cggp",
    "cagp-opt-l-bfgs",
];

/// The iterations of L-BFGS in an epoch of the paper.
const ITERATIONS: u64 = 20;

fn study() -> Study {
    Study {
        name: "cagp-uci",
        about: "Exact, sparse and computation-aware regression on UCI data (arXiv:2411.01036, Table 1)",
        help: "NLPD, RMSE and seconds of CholeskyGP, SGPR with trained and fixed inducing points, SVGP, CGGP,\n\
               CaGP-CG and CaGP-Opt, with Adam in single and L-BFGS in double precision, in one table beside the\n\
               paper's. One cell of it: --scale paper --data-sets bike --methods cagp-opt-adam --seeds 1.\n\n\
               The table has every run that is finished in the folder, whichever the last command asked for,\n\
               so that the cells can be made one by one, each in a process of its own.",
        data: DataSets {
            quick: &["parkinsons"],
            sizes: vec![
                ("parkinsons", PaperSizes::rows_and_inputs(5288, 21)),
                ("bike", PaperSizes::rows_and_inputs(15642, 16)),
                ("protein", PaperSizes::rows_and_inputs(41157, 9)),
                ("keggundirected", PaperSizes::rows_and_inputs(57248, 26)),
                ("3droad", PaperSizes::rows_and_inputs(391_387, 2)),
                ("houseelectric", PaperSizes::rows_and_inputs(1_844_352, 7)),
            ],
            ..DataSets::new(&[
                "parkinsons",
                "bike",
                "protein",
                "keggundirected",
                "3droad",
                "houseelectric",
            ])
        },
        axes: vec![methods()],
        options: StudyOption::in_folders(OPTIONS),
        run,
        folder,
        scale_in_folder: true,
        table: table(),
        published: Row::table(&["data", "method"], TABLE_1),
        plots: vec![Plot::Comparison(&["nlpd", "rmse"])],
        notes: notes(),
        ..Study::default()
    }
}

fn methods() -> Axis {
    let methods = AxisValue::list(
        "
        exact | CholeskyGP | Exact regression, L-BFGS in double precision
        sgpr-adam | SGPR, Adam | Collapsed sparse regression, Adam in single precision
        sgpr-l-bfgs | SGPR, L-BFGS | The same, L-BFGS in double precision
        sgpr-fixed | SGPR, fixed Z | The same with inducing points that stay where k-means put them
        svgp | SVGP | Sparse variational regression, Adam on mini-batches in single precision
        cggp | CGGP | Conjugate gradients with stochastic log-determinants, L-BFGS in double precision
        cagp-cg | CaGP-CG | Actions by conjugate gradients, Adam in single precision
        cagp-opt-adam | CaGP-Opt, Adam | Trained actions, Adam in single precision
        cagp-opt-l-bfgs | CaGP-Opt, L-BFGS | The same, L-BFGS in double precision
        ",
    );
    Axis::new("method", methods)
        .chosen_by("methods", "Models with their optimizers, such as cagp-opt-adam,svgp")
        .with_default(
            "all; exact on parkinsons and bike alone, on 3droad and houseelectric svgp and cagp-opt-adam",
        )
        .only(|method, data, _| match method {
            "svgp" | "cagp-opt-adam" => true,
            "exact" => ["parkinsons", "bike"].contains(&data),
            _ => !["3droad", "houseelectric"].contains(&data),
        })
}

const OPTIONS: &str = "
actions | actions | Actions, and iterations of cggp [default: 512; quick: 64]
cached-variances | cached_variances | Directions in which cggp makes the variances of its predictions once [default: a solve for each prediction]
inducing | inducing | Inducing points [default: 1024; quick: 128]
epochs | epochs | Passes over the rows; for the models with L-BFGS calls of it, 20 iterations each [default: those of Table S1; quick: a twentieth, at least 30, or 2 calls]
line-searches | epochs | Iterations of the models with L-BFGS, instead of its calls
action-rows | action_rows | Which rows a trained action combines; the paper's are given [default: near]
learning-rate | learning_rate | First learning rate [default: the best of the paper's]
";

fn run(request: &RunRequest<'_>) -> Value {
    let method = request.value("method");
    let model = match method {
        "sgpr-adam" | "sgpr-l-bfgs" | "sgpr-fixed" => "sgpr",
        "cagp-opt-adam" | "cagp-opt-l-bfgs" => "cagp-opt",
        other => other,
    };
    let action_rows = match request.is_of_paper {
        true => json!("given"),
        false => request.given_or("action-rows", "near", "near"),
    };
    let best_rate = request.published("learning_rate");
    let default_rate = if L_BFGS.contains(&method) { 1.0 } else { 0.1 };
    let learning_rate = best_rate.unwrap_or(default_rate);
    let actions = request.given_or("actions", 64, 512);
    merged(
        json!({
            "model": model,
            "default_priors": false,
            "kernel": "matern32(lengthscale=1 std)",
            "isotropic": false,
            "mean": "zero",
            "likelihood": "gaussian",
            "noise": LN_2,
            "set": [format!("kernel.lengthscale={LN_2}"), format!("kernel.variance={LN_2}")],
            "bound": ["likelihood.noise=1e-4.."],
            "fix": (method == "sgpr-fixed").then_some(["inducing"]),
            "initializer": "k-means",
            "inducing": request.given_or("inducing", 128, 1024),
            "actions": actions,
            "action_rows": action_rows,
            "iterations": actions,
            "tolerance": 1e-4,
            "cached_variances": request.given("cached-variances"),
            "test_fraction": 0.1,
            "batch_size": 1024,
            "learning_rate": request.given_or("learning-rate", learning_rate, learning_rate),
        }),
        optimizer(request, method),
    )
}

/// The optimizer of a method with its passes over the rows.
fn optimizer(request: &RunRequest<'_>, method: &str) -> Value {
    if L_BFGS.contains(&method) {
        let calls = request.count("epochs", 2, 100);
        let iterations = request.given.get("line-searches").cloned();
        return json!({
            "optimizer": "l-bfgs",
            "dtype": "f64",
            "epochs": iterations.unwrap_or_else(|| (ITERATIONS * calls).into()),
        });
    }
    let epochs = match method {
        "cagp-cg" => request.given_or("epochs", 30, 250),
        _ => request.given_or("epochs", 50, 1000),
    };
    json!({
        "optimizer": "adam",
        "schedule": "linear",
        "dtype": "f32",
        "epochs": epochs,
    })
}

/// The name of the method, and one of all options of the command line.
fn folder(cell: &CellDetails<'_>) -> Vec<String> {
    let mut name = format!("{}-epochs", cell.text("epochs"));
    let parts = [
        (cell.first_of(&["actions", "iterations"]), "actions"),
        (cell.get("cached_variances"), "variances"),
    ];
    for (number, what) in parts {
        name.extend(number.map(|number| format!("-{number}-{what}")));
    }
    if cell.text("action_rows") == "given" {
        name += "-given";
    }
    name.extend(cell.get("inducing").map(|count| format!("-{count}-points")));
    name += &format!("-rate-{}", cell.text("learning_rate"));
    vec![cell.value("method").to_owned(), name]
}

/// The method, and whether its actions are of near rows.
fn method(cell: &CellDetails<'_>) -> String {
    let near = match cell.text("action_rows").as_str() {
        "near" => ", near rows",
        _ => "",
    };
    format!("{}{near}", cell.title_of("method"))
}

/// The number of actions or of inducing points.
fn rank(cell: &CellDetails<'_>) -> Option<String> {
    cell.first_of(&["actions", "inducing"])
}

/// What tells cells with the same title apart, in this order.
fn rank_part(cell: &CellDetails<'_>) -> Option<String> {
    Some(format!(", {}", rank(cell)?))
}

fn steps_part(cell: &CellDetails<'_>) -> Option<String> {
    Some(format!(", {} steps", cell.get("steps")?))
}

fn rate_part(cell: &CellDetails<'_>) -> Option<String> {
    Some(format!(", rate {}", cell.get("learning_rate")?))
}

fn heading(cell: &CellDetails<'_>) -> Option<String> {
    let sizes = cell.study.data.sizes_of(cell.data());
    let paper = sizes
        .training_rows
        .zip(sizes.inputs)
        .map(|(rows, inputs)| format!("; in the paper {rows} training rows, {inputs} inputs"));
    Some(format!(
        "{}, {} training rows, {} inputs{}",
        cell.data(),
        cell.get("n_train")?,
        cell.get("d")?,
        paper.unwrap_or_default()
    ))
}

fn table() -> Table {
    Table {
        title: |cell| {
            let variances = cell.get("cached_variances");
            let variances = variances.map(|count| format!(", {count} variances"));
            method(cell) + &variances.unwrap_or_default()
        },
        name: |cell| {
            let rank = rank(cell).map(|rank| format!(", {rank}"));
            let (data, steps) = (cell.data(), cell.text("steps"));
            format!(
                "{data} {}{}, {steps} steps",
                method(cell),
                rank.unwrap_or_default()
            )
        },
        distinguish: &[rank_part, steps_part, rate_part],
        heading: Some(heading),
        spread: Spread::Deviation,
        columns: vec![
            Column::text("", "model", |cell| Some(cell.title())),
            Column::text("rank", "rank", rank),
            Column::text("action_rows", "", |cell| cell.get("action_rows")),
            Column::text("learning_rate", "rate", |cell| cell.get("learning_rate")),
            Column::metric("nlpd", "NLPD").with_paper(),
            Column::metric("rmse", "RMSE").with_paper(),
            Column::metric("coverage95", "cover 95"),
            Column::score("noise", "noise", |run| {
                run.hyperparameter("likelihood.noise")
            })
            .scientific()
            .mean_only()
            .digits(1),
            Column::text("steps", "steps", |cell| cell.get("steps")),
            Column::metric("train_seconds", "seconds")
                .digits(1)
                .with_paper_digits(0),
            Column::score("peak_mebibytes", "MiB", |run| {
                Some(run.get("peak_memory")? / f64::from(1 << 20))
            })
            .digits(0)
            .mean_only(),
            Column::text("cached_variances", "", |cell| cell.get("cached_variances")),
            Column::text("paper_d", "", |cell| {
                let sizes = cell.study.data.sizes_of(cell.data());
                sizes.inputs.map(|inputs| inputs.to_string())
            }),
            Column::seeds("seeds", "seeds"),
        ],
        ..Table::default()
    }
}

fn notes() -> Vec<Note> {
    vec![
        Note::new(
            "mean (standard deviation) over the seeds, in standardized units, after the last step; the paper is \
             arXiv:2411.01036,\nTable 1, at the epoch whose test NLL is lowest: rank 512 for combinations of rows \
             and 1024 for inducing points,\nseconds on a V100. The learning rates are those that were best in the \
             paper, by its test NLL",
        ),
        Note::about(
            "inputs: the paper does not list its own; models that see other inputs solve another problem, on which \
             scores beside\nthe paper's say nothing of the method",
            |cell| cell.departs_in("inputs"),
        ),
        Note::about(
            "R variances: those of predictions were made once, in R directions; with fewer than rows\nthey are too \
             large, and exact otherwise",
            |cell| cell.options.contains_key("cached_variances"),
        ),
    ]
}

/// Means over five seeds at the epoch whose test NLL is lowest on average, with the standard deviation over
/// the seeds, and the learning rates; seconds until that epoch on a V100.
const TABLE_1: &str = "
data method learning_rate _epoch nlpd rmse train_seconds
parkinsons exact .1 100 -3.645±.002 .001±.000 1m03s
parkinsons sgpr-adam .1 268 -2.837±.087 .031±.022 27s
parkinsons sgpr-l-bfgs 1 100 -3.245±.067 .007±.003 2m14s
parkinsons svgp .1 1000 -2.858±.016 .006±.002 2m25s
parkinsons cggp .1 81 -2.663±.141 .019±.013 1m12s
parkinsons cagp-cg 1 250 -2.936±.007 .009±.006 1m44s
parkinsons cagp-opt-adam 1 956 -3.384±.005 .004±.002 1m27s
parkinsons cagp-opt-l-bfgs .01 37 -3.449±.009 .002±.000 1m53s
bike exact .1 100 -3.472±.012 .006±.007 7m15s
bike sgpr-adam .1 948 -2.121±.110 .026±.004 4m03s
bike sgpr-l-bfgs 1 100 -3.017±.022 .009±.002 4m10s
bike svgp .01 1000 -2.256±.020 .020±.002 6m41s
bike cggp 1 15 -1.952±.078 .024±.004 2m06s
bike cagp-cg 1 250 -2.042±.024 .024±.002 5m17s
bike cagp-opt-adam 1 1000 -2.401±.037 .018±.002 8m10s
bike cagp-opt-l-bfgs 1 100 -2.438±.038 .017±.001 14m48s
protein sgpr-adam .1 993 .844±.006 .561±.005 10m25s
protein sgpr-l-bfgs .1 96 .846±.006 .562±.005 6m56s
protein svgp .01 996 .851±.006 .564±.005 17m19s
protein cggp .1 35 .853±.006 .517±.004 20m15s
protein cagp-cg 1 27 .820±.006 .542±.004 1m26s
protein cagp-opt-adam .1 941 .829±.005 .545±.004 13m48s
protein cagp-opt-l-bfgs 1 84 .830±.005 .545±.004 14m29s
keggundirected sgpr-adam .1 143 -.681±.025 .123±.002 2m04s
keggundirected sgpr-l-bfgs 1 100 -.712±.028 .118±.003 8m58s
keggundirected svgp .01 988 -.710±.026 .118±.003 24m21s
keggundirected cggp .1 30 -.512±.034 .120±.003 33m55s
keggundirected cagp-cg 1 229 -.699±.026 .120±.003 39m05s
keggundirected cagp-opt-adam 1 990 -.693±.026 .120±.003 22m03s
keggundirected cagp-opt-l-bfgs .01 40 -.694±.026 .120±.003 22m00s
3droad svgp .001 998 .149±.007 .277±.002 2h07m37s
3droad cagp-opt-adam .1 1000 -.291±.011 .159±.003 2h11m31s
houseelectric svgp .01 399 -2.104±.007 .029±.000 5h07m57s
houseelectric cagp-opt-adam .1 200 -2.103±.006 .030±.000 4h32m48s
";
