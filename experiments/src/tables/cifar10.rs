//! CIFAR-10 with convolutional kernels of one to three layers, SVGP and SOLVE-GP: section 6.2 and Tables 1, 3
//! and 8 to 10 of J. Shi, M. Titsias and A. Mnih, "Sparse Orthogonal Variational Inference for Gaussian
//! Processes", arXiv:1910.10596.
//!
//! As in the paper, the kernels are squared-exponential ones of patches with one lengthscale, which starts at
//! 5 as the variance does, beside a Matérn-3/2 kernel of the places of patches with a lengthscale of 3 in the
//! last layer. The likelihood is robust-max. Adam makes 300 000 steps on batches of 64. Its learning rate is
//! 0.003, and a quarter of the rate before after every sixth of the steps. There are 1000 inducing patches in
//! the last layer and 384 in each before, first at the centers of clusters. A single layer is whitened; deeper
//! ones are not, and their means are zero. Patch sizes, strides and channels are those of Table 5.
//!
//! Where the paper is silent, colors are between 0 and 1, weights of patches start at the same value, and
//! hidden layers are drawn from once in training and ten times in prediction. Unlike those of the last
//! layer, the first standard deviations of the hidden layers' inducing variables are not the prior's but a
//! hundredth of them. With `--hidden-deviation 1` draws from hidden layers are noise at first, and a bound may
//! stay for long where it begins. With `--hidden-mean identity` the means of the hidden layers are the
//! principal components of patches, so that the last layer sees something of the images from the first step
//! on.
//!
//! The expected log density of robust-max is linear in the probability of the label. Beyond the divergence
//! from the prior, nothing keeps a bound from calling labels impossible that are rare, and where few labels
//! are predicted a tighter bound can have the lower density of test labels. `--likelihood softmax` takes
//! probabilities by the logarithm.

use burn_gp_runs::study::{
    Axis, AxisValue, CellDetails, Column, DataSets, Note, PaperSizes, RegisteredStudy, Row,
    RunRequest, Seeds, Study, StudyOption, Table, merged,
};
use serde_json::{Value, json};

inventory::submit! { RegisteredStudy(one_layer) }
inventory::submit! { RegisteredStudy(several_layers) }

fn one_layer() -> Study {
    Study {
        name: "conv-cifar10",
        about: "CIFAR-10 with a convolutional kernel, SVGP and SOLVE-GP (arXiv:1910.10596, Tables 1, 3 and 8)",
        help: "Accuracy and log density of the test images with SVGP(M), SVGP(1.6 M), SOLVE-GP(M+M) and\n\
               SVGP(2M) inducing patches, whitened, in single precision, and the time of a step. The kernel is\n\
               insensitive to translation: a Matérn-3/2 kernel of the places of patches of 5 by 5 pixels\n\
               beside a squared-exponential one of their colors. Runs on as many images as are in the\n\
               folder. The paper's: `experiment conv-cifar10 --scale paper`; one row of it: --models solve-m-m.",
        // There is no option to choose the one layer: it is in the names and files as in deep-conv-cifar10.
        axes: vec![
            Axis::new("layers", [AxisValue::new("1")]),
            models(
                "
                svgp-m | SVGP | SVGP, M inducing patches
                svgp-1.6m | SVGP | SVGP, 1.6 M inducing patches: about the time of SOLVE-GP
                solve-m-m | SOLVE-GP | SOLVE-GP, M inducing patches and M orthogonal ones
                svgp-2m | SVGP | SVGP, 2M inducing patches
                ",
            ),
        ],
        options: StudyOption::list(OPTIONS),
        run: run_of_one_layer,
        // Tables 1, 3 and 8: test accuracy in per cent, mean test log density and seconds of a step.
        published: Row::table(
            &["layers", "model"],
            "layers model accuracy log_density seconds_per_step
             1 svgp-m 66.07 -1.59 0.241
             1 svgp-1.6m 67.18 -1.54 0.380
             1 solve-m-m 68.19 -1.51 0.370
             1 svgp-2m 68.06 -1.48 0.474",
        ),
        ..common()
    }
}

fn several_layers() -> Study {
    let layers = Axis::new("layers", ["2", "3"].map(AxisValue::new));
    let models = models(
        "
        svgp-m | SVGP | SVGP, M inducing patches
        svgp-1.6m | SVGP | SVGP, 1.6 M inducing patches: about the time of SOLVE-GP; with one layer only
        solve-m-m | SOLVE-GP | SOLVE-GP, M inducing patches and M orthogonal ones
        svgp-2m | SVGP | SVGP, 2M inducing patches
        ",
    );
    let mut options = StudyOption::list(HIDDEN_OPTIONS);
    options.extend(StudyOption::list(OPTIONS));
    Study {
        name: "deep-conv-cifar10",
        about: "CIFAR-10 with two and three layers, SVGP and SOLVE-GP (arXiv:1910.10596, Tables 9 and 10)",
        help: "As conv-cifar10, unwhitened, with feature maps of 10 channels before the last layer: patches of\n\
               5 by 5 pixels, then 4 by 4 every 2, then 5 by 5 (Table 5). The paper's:\n\
               `experiment deep-conv-cifar10 --scale paper`; one row of it: --layers 2 --models solve-m-m.",
        axes: vec![
            layers
                .chosen_by("layers", "Numbers of layers, 2 or 3")
                .with_default("2,3"),
            models.only(|model, _, _| model != "svgp-1.6m"),
        ],
        options,
        run: run_of_several_layers,
        // Tables 9 and 10: test accuracy in per cent, mean test log density and seconds of a step.
        published: Row::table(
            &["layers", "model"],
            "layers model accuracy log_density seconds_per_step
             2 svgp-m 76.35 -1.04 0.392
             2 solve-m-m 77.80 -0.98 0.657
             2 svgp-2m 77.46 -0.98 1.104
             3 svgp-m 78.76 -0.88 0.418
             3 solve-m-m 80.30 -0.79 0.752
             3 svgp-2m 80.33 -0.82 1.246",
        ),
        ..common()
    }
}

/// What both studies have in common.
fn common() -> Study {
    Study {
        single_precision: true,
        data: DataSets {
            sizes: vec![("cifar-10", PaperSizes::images(50_000, 10_000))],
            ..DataSets::fixed(&["cifar-10"])
        },
        seeds: Seeds {
            paper: 1,
            ..Seeds::default()
        },
        folder: |cell| {
            let layers = format!("{}-layer", cell.value("layers"));
            vec![layers, cell.value("model").to_owned()]
        },
        table: table(),
        notes: vec![Note::new(
            "mean (standard error) over the seeds; the paper is arXiv:1910.10596, Tables 1, 3, 8 to 10",
        )],
        ..Study::default()
    }
}

fn models(lines: &'static str) -> Axis {
    Axis::new("model", AxisValue::list(lines))
        .chosen_by("models", "Models")
        .with_default("those of the paper's tables")
}

const OPTIONS: &str = "
inducing | inducing | Inducing patches M of the last layer [default: 1000; quick: 64]
steps | steps | Optimizer steps [default: 300000; quick: 150]
batch-size | batch_size | Images in a batch [default: 64]
learning-rate | learning_rate | Adam's first learning rate [default: 0.003; quick: 0.01]
likelihood | likelihood | Distribution of the labels; the paper's is robust-max [default: robust-max]
";

const HIDDEN_OPTIONS: &str = "
hidden-inducing | hidden_inducing | Inducing patches of each layer before the last [default: 384; quick: 32]
hidden-deviation | hidden_deviation | First standard deviations of the inducing variables of the layers before the last, times those of the prior [default: 0.01]
hidden-mean | hidden_mean | Mean functions of the layers before the last; the paper's are zero [default: zero]
hidden-variance | hidden_variance | First variance of the kernels before the last layer [default: 5]
";

/// `count` inducing patches, times the factor of the model.
fn times(request: &RunRequest<'_>, count: u64) -> u64 {
    match request.value("model") {
        "svgp-1.6m" => (count as f64 * 1.6) as u64,
        "svgp-2m" => 2 * count,
        _ => count,
    }
}

fn run(request: &RunRequest<'_>) -> Value {
    let likelihood = request.given_or("likelihood", "robust-max", "robust-max");
    let inducing = request.count("inducing", 64, 1000);
    json!({
        "split": 0,
        "kernel": "rbf(lengthscale=5 std, variance=5 std)",
        "isotropic": true,
        "mean": "zero",
        // Softmax has no rate of errors that could be kept where it is.
        "fix": (likelihood != "softmax").then_some(["likelihood.epsilon"]),
        "likelihood": likelihood,
        "initializer": "k-means",
        "located": true,
        "inducing": times(request, inducing),
        "orthogonal": (request.value("model") == "solve-m-m").then_some(inducing),
        "steps": request.given_or("steps", 150, 300_000),
        "batch_size": request.given_or("batch-size", 64, 64),
        "learning_rate": request.given_or("learning-rate", 0.01, 0.003),
        "schedule": "stairs",
        "stages": 6,
        "stage_factor": 0.25,
    })
}

fn run_of_one_layer(request: &RunRequest<'_>) -> Value {
    let posterior = match request.value("model") {
        "solve-m-m" => "solve",
        _ => "whitened",
    };
    let own = json!({
        "model": "conv-gp",
        "default_priors": false,
        "posterior": posterior,
        "patch": [5],
        "stride": [1],
    });
    merged(run(request), own)
}

fn run_of_several_layers(request: &RunRequest<'_>) -> Value {
    let posterior = match request.value("model") {
        "solve-m-m" => "solve-unwhitened",
        _ => "unwhitened",
    };
    let (layers, patch, stride) = match request.value("layers") {
        "2" => (2, vec![5, 4], vec![1, 2]),
        _ => (3, vec![5, 4, 5], vec![1, 2, 1]),
    };
    let own = json!({
        "model": "deep-conv-gp",
        "posterior": posterior,
        "layers": layers,
        "patch": patch,
        "stride": stride,
        "width": 10,
        "hidden_inducing": times(request, request.count("hidden-inducing", 32, 384)),
        "hidden_deviation": request.given("hidden-deviation"),
        "hidden_mean": request.given_or("hidden-mean", "zero", "zero"),
        "hidden_variance": request.given_or("hidden-variance", 5.0, 5.0),
    });
    merged(run(request), own)
}

/// The layers, the model and its numbers of inducing patches, layer by layer.
fn title(cell: &CellDetails<'_>) -> String {
    let (layers, model) = (cell.value("layers"), cell.title_of("model"));
    let is_orthogonal = cell.value("model") == "solve-m-m";
    let both = |name: &str, orthogonal: &str| match is_orthogonal {
        true => format!("{}+{}", cell.text(name), cell.text(orthogonal)),
        false => cell.text(name),
    };
    let hidden = layers.parse::<usize>().unwrap_or(1) - 1;
    let mut sizes = vec![both("hidden_inducing", "hidden_inducing"); hidden];
    sizes.push(both("inducing", "orthogonal"));
    format!("{layers}-layer {model} {}", sizes.join(", "))
}

fn table() -> Table {
    Table {
        title,
        heading: Some(|cell| cell.sizes()),
        columns: vec![
            Column::text("", "model", |cell| Some(cell.title())),
            Column::score("accuracy", "test accuracy %", |run| {
                Some(-100.0 * run.get("error")? + 100.0)
            })
            .digits(2)
            .with_paper(),
            Column::score("log_density", "test LL", |run| Some(-run.get("nlpd")?))
                .with_paper_digits(2),
            Column::score("bound", "ELBO a datum", |run| Some(-run.get("objective")?)),
            Column::metric("seconds_per_step", "s a step").with_paper(),
            Column::ratio(
                "seconds_ratio",
                "times SVGP(M)",
                "seconds_per_step",
                ("model", "svgp-m"),
            )
            .with_paper(),
            Column::text("steps", "steps", |cell| cell.get("steps")),
            Column::seeds("seeds", "seeds"),
        ],
        ..Table::default()
    }
}
