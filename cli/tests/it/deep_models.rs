//! Deep models on the command line, and their experiments.

use std::fs;
use std::path::Path;

use crate::support::{
    columns, fields, options_of, read, run, succeed, write_collection, write_regression,
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&read(path)).unwrap()
}

#[test]
fn the_learning_rate_of_a_run_goes_down_on_plateaus() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("table.csv"), 80);
    let line = "train --model deep-gp --data table.csv --inducing 8 --batch-size 20 --steps 60 \
                --learning-rate 0.05 --plateau 4 --out run --quiet";
    succeed(path, &words(line));
    let log = fields(&read(&path.join("run/training_log.csv")));
    let (mut best, mut waited, mut rate) = (f64::INFINITY, 0, 0.05);
    for row in &log[1..] {
        let [loss, found] = [2, 3].map(|column| row[column].parse::<f64>().unwrap());
        (best, waited) = if loss < best {
            (loss, 0)
        } else {
            (best, waited + 1)
        };
        if waited == 4 {
            (rate, waited) = (0.95 * rate, 0);
        }
        // Only the plateau lowers the rate. The factors are multiplied in another order.
        assert!((found / rate - 1.0).abs() < 1e-12, "{row:?}: not {rate}");
    }
    assert!(rate < 0.05, "60 steps have a plateau");
    let config = options_of(&path.join("run"));
    assert_eq!(
        (&config["plateau"], &config["schedule"]),
        (&4.into(), &"constant".into())
    );
    let refused = run(
        path,
        &words("train --model sgpr --data table.csv --plateau 4 --out no"),
    );
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn layers_start_with_the_deviations_and_means_that_are_asked_for() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("table.csv"), 60);
    let line = "train --model deep-gp --layers 3 --data table.csv --inducing 6 --steps 2 --quiet";
    let deviations = |name: &str, options: &str| -> Vec<f64> {
        succeed(path, &words(&format!("{line} --out {name} {options}")));
        let config = json(&path.join(name).join("model.json"))["config"].clone();
        let hidden = config["hidden"].as_array().unwrap().clone();
        let layers = hidden.into_iter().map(|hidden| hidden["layer"].clone());
        let layers = layers.chain([config["output"].clone()]);
        layers
            .map(|layer| layer["deviation"].as_f64().unwrap())
            .collect()
    };
    assert_eq!(deviations("default", ""), [0.01, 0.01, 1.0]);
    let mean = |name: &str, options: &str| {
        succeed(path, &words(&format!("{line} --out {name} {options}")));
        let config = json(&path.join(name).join("model.json"))["config"].clone();
        config["hidden"][1]["layer"]["mean"]["mean"].clone()
    };
    assert_eq!(mean("identity", ""), "identity");
    assert_eq!(mean("zero", "--hidden-mean zero"), "zero");
    let options = "--hidden-deviation 0.5 --output-deviation 0.02";
    assert_eq!(deviations("given", options), [0.5, 0.5, 0.02]);
    let refused = run(
        path,
        &words(&format!("{line} --output-deviation 0 --out no")),
    );
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn models_of_layers_have_the_average_log_density_of_their_draws() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("table.csv"), 80);
    let scores = |name: &str, options: &str| {
        let line = "train --data table.csv --inducing 8 --steps 40 --quiet";
        succeed(path, &words(&format!("{line} --out {name} {options}")));
        let metrics = json(&path.join(name).join("metrics.json"));
        (
            metrics["nlpd"].as_f64().unwrap(),
            metrics["average_log_density"].as_f64(),
        )
    };
    let (nlpd, average) = scores("deep", "--model deep-gp --hidden-deviation 1");
    assert!(-average.unwrap() > nlpd, "Jensen: {average:?} and {nlpd}");
    // Without hidden layers there are no draws and no mean over draws.
    let shallow = scores("shallow", "--model deep-gp --layers 1");
    assert_eq!(shallow.1, None);
    let without_priors = "--model svgp --default-priors=false";
    assert_eq!(scores("svgp", without_priors), shallow);
    let others = "train --data table.csv --steps 3 --quiet";
    for model in ["exact", "cagp-opt", "cggp", "dkl", "svdbk"] {
        succeed(
            path,
            &words(&format!("{others} --model {model} --out {model}")),
        );
        let metrics = json(&path.join(model).join("metrics.json"));
        assert_eq!(metrics.get("average_log_density"), None, "{model}");
    }
}

/// A deep model's predictions for a row do not depend on its position or on other rows.
#[test]
fn predictions_of_deep_models_do_not_depend_on_the_place_of_a_row() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("table.csv"), 80);
    let line = "train --model deep-gp --data table.csv --inducing 8 --steps 40 --hidden-deviation 1 \
                --quiet --dtype f64 --out deep";
    succeed(path, &words(line));
    // More rows than in one chunk.
    let rows: Vec<String> = (0..2100)
        .map(|row| {
            let [a, b] = [101, 103].map(|prime| f64::from(7 * row % prime) / f64::from(prime));
            format!("{a},{b}")
        })
        .collect();
    let predictions = |name: &str, rows: &[&String]| -> Vec<[f64; 2]> {
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        std::fs::write(path.join(format!("{name}.csv")), format!("a,b\n{lines}")).unwrap();
        let line = format!("predict --model-dir deep --data {name}.csv --out {name}-out.csv");
        succeed(path, &words(&line));
        let predicted = fields(&read(&path.join(format!("{name}-out.csv"))));
        let column = |title: &str| predicted[0].iter().position(|cell| cell == title).unwrap();
        let (mean, deviation) = (column("mean"), column("std"));
        let number = |text: &String| text.parse::<f64>().unwrap();
        (predicted[1..].iter())
            .map(|row| [number(&row[mean]), number(&row[deviation])])
            .collect()
    };
    let all: Vec<&String> = rows.iter().collect();
    let together = predictions("all", &all);
    let turned: Vec<&String> = all.iter().rev().copied().collect();
    let turned = predictions("turned", &turned);
    let last = rows.len() - 1;
    let alone = predictions("alone", &all[last..]);
    // Matrix products with other block sizes have other rounding errors.
    let is_close = |a: [f64; 2], b: [f64; 2]| (0..2).all(|of| (a[of] - b[of]).abs() < 1e-10);
    assert!(
        is_close(alone[0], together[last]),
        "{alone:?} {:?}",
        together[last]
    );
    for row in 0..=last {
        let (found, expected) = (turned[last - row], together[row]);
        assert!(
            is_close(found, expected),
            "row {row}: {found:?}, {expected:?}"
        );
    }
}

#[test]
fn table_1_is_made_cell_by_cell() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_collection(path, "kin40k", 200);
    let line = "experiment deep-kin40k --data-dir . --steps 12 --inducing 8 --batch-size 40 --out deep \
                --dtype f64 --quiet";
    succeed(
        path,
        &words(&format!("{line} --depths 2 --posteriors l-svgp --seeds 2")),
    );
    let kept = path.join("deep/runs/depth-2/l-svgp/seed-1/metrics.json");
    let first = read(&kept);
    let table = succeed(
        path,
        &words(&format!(
            "{line} --depths 1,2 --posteriors whitened,inverse-free"
        )),
    );
    assert_eq!(read(&kept), first, "a finished run was made again");
    for number in [
        "-0.380 (0.001)",
        "-0.390 (0.002)",
        "-1.860 (0.030)",
        "-1.880 (0.020)",
    ] {
        assert!(table.contains(number), "{number} in {table}");
    }
    assert!(table.contains("not comparable"), "{table}");
    let results = json(&path.join("deep/results.json"));
    let mut runs = Vec::new();
    let mut made = Vec::new();
    for cell in results["cells"].as_array().unwrap() {
        let text = |key: &str| cell[key].as_str().unwrap().to_owned();
        for run in cell["runs"].as_array().unwrap() {
            made.push((
                text("depth"),
                text("posterior"),
                run["seed"].as_u64().unwrap(),
            ));
            runs.push(run);
        }
    }
    let cells = [
        (1, "whitened", 0),
        (1, "inverse-free", 0),
        (2, "whitened", 0),
        (2, "l-svgp", 0),
        (2, "l-svgp", 1),
        (2, "inverse-free", 0),
    ];
    let cells = cells.map(|(depth, posterior, seed): (u32, _, _)| {
        (depth.to_string(), str::to_owned(posterior), seed)
    });
    assert_eq!(made, cells);
    let number = |run: usize, key: &str| runs[run][key].as_f64().unwrap();
    for (run, (depth, ..)) in runs.iter().zip(&made) {
        let number = |key: &str| run[key].as_f64().unwrap();
        // The mean of logarithms is at most the logarithm of the mean, up to rounding.
        if depth != "1" {
            let [nlpd, average] = ["nlpd", "average_log_density"].map(number);
            assert!(average <= -nlpd + 1e-12, "{average} and {nlpd}");
        }
        assert!(number("rmse") > 0.0 && number("train_seconds") > 0.0);
    }
    // L-SVGP and R-SVGP with a converged inverse have the same bound, with the same draws.
    let [l, r] = [3, 5].map(|run| number(run, "nlpd"));
    assert!((l - r).abs() < 1e-3, "{l} and {r}");
    let titles = [
        "data",
        "depth",
        "posterior",
        "inducing",
        "steps",
        "seeds",
        "nlpd",
    ];
    let rows = columns(&path.join("deep/results.csv"), &titles);
    assert_eq!(rows[3][..6], ["kin40k", "2", "l-svgp", "8", "12", "2"]);
    let mean = 0.5 * (number(3, "nlpd") + number(4, "nlpd"));
    assert!((rows[3][6].parse::<f64>().unwrap() - mean).abs() < 1e-12);
    let plot = read(&path.join("deep/loss.svg"));
    assert!(plot.contains("1 layer") && plot.contains("2 layers"));
    assert!(
        ["W-SVGP", "L-SVGP", "R-SVGP"]
            .iter()
            .all(|name| plot.contains(name))
    );
    let other = run(path, &words(&line.replace("--steps 12", "--steps 13")));
    assert_eq!(other.status.code(), Some(2));
    let fresh = format!("{line} --overwrite --depths 1 --posteriors whitened");
    let table = succeed(path, &words(&fresh.replace("--steps 12", "--steps 13")));
    assert!(!table.contains("L-SVGP"), "{table}");
}

/// The settings of the runs are those of the paper's protocol.
#[test]
fn runs_start_as_the_protocol_says() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_collection(path, "kin40k", 150);
    let line = "experiment deep-kin40k --scale paper --data-dir . --steps 1 --inducing 8 --seeds 1 \
                --depths 1,3 --posteriors whitened,inverse-free --dtype f64 --out deep --quiet";
    succeed(path, &words(line));
    let config = |depth: usize, posterior: &str| {
        let run = format!("deep/runs/depth-{depth}/{posterior}/seed-0");
        serde_json::Value::Object(options_of(&path.join(run)))
    };
    let shallow = config(1, "whitened");
    assert_eq!(
        (&shallow["noise"], &shallow["plateau"]),
        (&1.0.into(), &().into())
    );
    assert_eq!(shallow["output_deviation"], 1.0);
    assert_eq!(config(1, "inverse-free")["pseudo_noise"], 1e-4);
    let deep = config(3, "whitened");
    assert_eq!(
        (&deep["noise"], &deep["plateau"]),
        (&0.1.into(), &1000.into())
    );
    assert_eq!(
        (&deep["batch_size"], &deep["learning_rate"]),
        (&1000.into(), &5e-3.into())
    );
    assert_eq!(
        (&deep["schedule"], &deep["jitter"]),
        (&"constant".into(), &1e-6.into())
    );
    let layers = &deep;
    assert_eq!(
        (&layers["layers"], &layers["width"]),
        (&3.into(), &8.into())
    );
    assert_eq!(layers["hidden_variance"], 1e-4);
    assert_eq!(layers["hidden_deviation"], layers["output_deviation"]);
    assert_eq!(
        (&layers["samples"], &layers["prediction_samples"]),
        (&1.into(), &100.into())
    );
    let relaxed = &config(3, "inverse-free");
    assert_eq!(relaxed["inversion"], "log-linear");
    assert_eq!(relaxed["inversion_tolerance"], 1e-9);
    assert_eq!(relaxed["pseudo_noise"], 2e-6);
    // One step of 0.005 from where they start, in softplus coordinates.
    let metrics = json(&path.join("deep/runs/depth-3/whitened/seed-0/metrics.json"));
    let found = metrics["hyperparameters"].as_object().unwrap();
    let lengthscales: Vec<f64> = (found.iter())
        .filter(|(path, _)| path.ends_with("lengthscale"))
        .flat_map(|(_, values)| {
            values
                .as_array()
                .unwrap()
                .iter()
                .map(|value| value.as_f64().unwrap())
        })
        .collect();
    assert_eq!(lengthscales.len(), 3 + 8 + 8);
    assert!(
        lengthscales.iter().all(|value| (value - 2.0).abs() < 0.01),
        "{lengthscales:?}"
    );
}

#[test]
fn small_data_sets_are_compared_over_depths() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    for name in ["yacht", "energy"] {
        write_collection(path, name, 120);
    }
    let line = "experiment deep-uci --data-dir . --data-sets yacht,energy --steps 10 --inducing 6 \
                --depths 1,2 --posteriors whitened,solve --out small --quiet";
    let table = succeed(path, &words(line));
    assert!(
        table.contains("W-SVGP") && table.contains("solve"),
        "{table}"
    );
    assert!(!table.contains("paper"), "{table}");
    let cells = json(&path.join("small/results.json"))["cells"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(cells, 8);
    for name in ["yacht", "energy"] {
        assert!(read(&path.join(format!("small/{name}.svg"))).contains("2 layers"));
        assert!(
            path.join(format!(
                "small/runs/{name}/depth-2/solve/seed-0/metrics.json"
            ))
            .exists()
        );
    }
    assert_eq!(succeed(path, &words(line)), table);
}

#[test]
fn what_is_absent_is_named() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    for name in ["kin40k", "uci"] {
        let output = run(
            path,
            &words(&format!("experiment deep-{name} --data-dir .")),
        );
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}: {message}");
        assert!(message.contains("is not on disk"), "{name}: {message}");
    }
    assert!(
        fs::read_dir(path).unwrap().next().is_none(),
        "a folder is left behind"
    );
}

/// Four noisy patterns of 8 by 8 pixels. If the hidden layers were draws from a prior, no
/// information about the patterns would reach the last layer.
#[test]
fn a_deep_convolutional_model_learns_by_default() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let mut random = ChaCha8Rng::seed_from_u64(31);
    let pattern = |random: &mut ChaCha8Rng| [0; 64].map(|_| f64::from(random.random_range(0..2)));
    let patterns = [0; 4].map(|_| pattern(&mut random));
    let names: Vec<String> = (0..64).map(|pixel| format!("p{pixel}")).collect();
    let mut text = names.join(",") + ",kind\n";
    for row in 0..300 {
        for pixel in patterns[row % 4] {
            text += &format!("{:.3},", pixel + random.random_range(-0.4..0.4));
        }
        text += &format!("kind {}\n", row % 4);
    }
    fs::write(path.join("patterns.csv"), text).unwrap();
    let line = "train --model deep-conv-gp --data patterns.csv --image 8x8 --likelihood softmax \
                --inducing 20 --steps 60 --batch-size 64 --test-fraction 0.3 --dtype f32 --out run --quiet";
    succeed(path, &words(line));
    let error = json(&path.join("run/metrics.json"))["error"]
        .as_f64()
        .unwrap();
    // Guessing is wrong in three quarters of the cases.
    assert!(error < 0.1, "{error}");
}
