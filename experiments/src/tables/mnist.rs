//! MNIST with a convolutional kernel and with one of whole images: section 4.4 and Table 2 of
//! S. Cortinovis, L. Aitchison, S. Eleftheriadis and M. van der Wilk, "Inverse-Free Sparse Variational
//! Gaussian Processes", arXiv:2604.00697.
//!
//! As in the paper, the models train on the 60 000 digits and are tested on the 10 000, with the robust-max
//! likelihood, 750 inducing variables, and 450 000 steps of Adam with learning rate 0.001 and batches of 200.
//! R-SVGP has log-linear step sizes down to a residual of 1e-6 and exact traces.
//!
//! The weighted convolutional kernel is a squared-exponential kernel with one lengthscale of patches of 5 by 5
//! pixels, with a weight for each place. Inducing patches start at random patches, and the learning rate goes
//! down to 10^(-1/3) of itself 15 times. The other kernel is a squared-exponential one of whole images with a
//! lengthscale for each of the 784 pixels, and its inducing points start at random digits.
//!
//! The paper does not say where lengthscales start. Here they start at 1 for patches, and for images at 10,
//! which is about the distance of two digits.

use burn_gp_runs::study::{
    Axis, AxisValue, Column, DataSets, Note, PaperSizes, RegisteredStudy, Row, RunRequest, Study,
    StudyOption, Table, merged,
};
use serde_json::{Value, json};

inventory::submit! { RegisteredStudy(both_kernels) }
inventory::submit! { RegisteredStudy(whole_images) }

fn both_kernels() -> Study {
    Study {
        name: "conv-mnist",
        about: "MNIST with W-, L- and R-SVGP and a convolutional kernel (arXiv:2604.00697, Table 2)",
        help: "The error of the test rows with the weighted convolutional kernel over inducing patches, and\n\
               with the kernel rbf under the same budget. The whole of the table is\n\
               `experiment conv-mnist --scale paper --dtype f32`; --kernels conv --models w --seeds 1 is one\n\
               run of it. The table has every run that is finished in the folder.",
        axes: vec![
            Axis::new(
                "kernel",
                AxisValue::list(
                    "conv | weighted conv | Of patches, with weights\n rbf | RBF | Of whole images",
                ),
            )
            .chosen_by("kernels", "Kernels"),
            methods(),
        ],
        options: options(
            "inducing | inducing | Inducing points or patches M [default: 750; quick: 100]",
        ),
        published: published(
            "kernel w l r
             conv 1.31(2) 1.53(2) 1.53(3)
             rbf 1.96(2) 1.95(1) 1.94(2)",
        ),
        ..common()
    }
}

/// The kernel of whole images alone. It is in the names and files as in conv-mnist.
fn whole_images() -> Study {
    Study {
        name: "inverse-free-mnist",
        about: "MNIST with W-, L- and R-SVGP (arXiv:2604.00697, Table 2)",
        help: "The error of the test rows with the kernel rbf and the likelihood robust-max.",
        axes: vec![Axis::new("kernel", AxisValue::list("rbf | RBF")), methods()],
        options: options("inducing | inducing | Inducing points M [default: 750; quick: 100]"),
        published: published(
            "kernel w l r
             rbf 1.96(2) 1.95(1) 1.94(2)",
        ),
        ..common()
    }
}

/// What both studies have in common.
fn common() -> Study {
    Study {
        data: DataSets {
            sizes: vec![("mnist", PaperSizes::images(60_000, 10_000))],
            ..DataSets::fixed(&["mnist"])
        },
        run,
        table: Table {
            heading: Some(|cell| cell.sizes()),
            columns: vec![
                Column::text("", "kernel, model", |cell| Some(cell.title())),
                Column::score("error", "test error %", |run| {
                    Some(100.0 * run.get("error")?)
                })
                .digits(2)
                .with_paper(),
                Column::metric("nlpd", "NLPD").digits(4),
                Column::milliseconds("milliseconds_per_step"),
                Column::text("", "steps", |cell| cell.get("steps")),
                Column::seeds("seeds", "seeds"),
            ],
            ..Table::default()
        },
        notes: vec![Note::new(
            "mean (standard error) over the seeds; the paper is arXiv:2604.00697, Table 2, 750 inducing points\n\
             or patches after 450 000 steps",
        )],
        ..Study::default()
    }
}

/// Wrong labels in per cent, with the standard error.
fn published(table: &str) -> Vec<Row> {
    Row::across(&["kernel"], "method", "error", table)
}

fn methods() -> Axis {
    let methods = AxisValue::list(
        "
        w | W-SVGP | W-SVGP: whitened, by Cholesky factors
        l | L-SVGP | L-SVGP: pseudo-observations, by Cholesky factors
        r | R-SVGP | R-SVGP: the same by matrix products alone
        ",
    );
    Axis::new("method", methods).chosen_by("models", "Models")
}

fn options(inducing: &'static str) -> Vec<StudyOption> {
    let mut options = StudyOption::list(inducing);
    options.extend(StudyOption::list(
        "
        steps | steps | Optimizer steps [default: 450000; quick: 300]
        batch-size | batch_size | Images in a batch [default: 200]
        learning-rate | learning_rate | Adam's learning rate [default: 0.001; quick: 0.01]
        ",
    ));
    options
}

fn run(request: &RunRequest<'_>) -> Value {
    // A model of whole images is named after its posterior; that of patches has any posterior.
    let (model, posterior) = match request.value("method") {
        "w" => ("svgp", "whitened"),
        "l" => ("l-svgp", "l-svgp"),
        _ => ("inverse-free", "inverse-free"),
    };
    let kernel = match request.value("kernel") {
        "conv" => json!({
            "model": "conv-gp",
            "posterior": posterior,
            "kernel": "rbf(lengthscale=1 std)",
            "isotropic": true,
            "patch": [5],
            "stride": [1],
            "located": false,
        }),
        _ => json!({
            "model": model,
            "kernel": "rbf(lengthscale=10 std)",
            "isotropic": false,
        }),
    };
    // In a few hundred steps the stages of the learning rate would end before the model has moved: at quick
    // scale the rate stays as it is.
    let schedule = match request.value("kernel") == "conv" && request.by_scale(false, true) {
        true => json!({
            "schedule": "stairs",
            "stages": 15,
            "stage_factor": 0.464_158_883_361_277_9,
        }),
        false => json!({ "schedule": "constant" }),
    };
    let base = json!({
        "default_priors": false,
        "split": 0,
        "mean": "zero",
        "likelihood": "robust-max",
        "fix": ["likelihood.epsilon"],
        "initializer": "subset",
        "jitter": 1e-6,
        "inversion": "log-linear",
        "inversion_tolerance": 1e-6,
        "inducing": request.given_or("inducing", 100, 750),
        "steps": request.given_or("steps", 300, 450_000),
        "batch_size": request.given_or("batch-size", 200, 200),
        "learning_rate": request.given_or("learning-rate", 0.01, 0.001),
    });
    merged(merged(base, kernel), schedule)
}
