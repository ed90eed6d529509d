//! Choices between two items, and the ranking of items.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use burn_gp_core::{
    kernels::{KernelConfig, PreferenceConfig},
    ops::Stationary,
};
use burn_gp_runs::kernel_expression::KernelExpression;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{numbers, read, run, succeed};

/// Runs the program with these arguments, separated by blanks.
fn succeed_at(folder: &Path, line: &str) -> String {
    succeed(folder, &line.split(' ').collect::<Vec<_>>())
}

fn utility(width: f64, height: f64) -> f64 {
    4.0 * (0.02 * width).sin() - 0.3 * (height - 2.0).powi(2)
}

/// Choices between designs of which the first are mostly narrow, with logistic probabilities.
fn write_choices(path: &Path) {
    let mut random = ChaCha8Rng::seed_from_u64(841);
    let mut text = String::from("width_a,height_a,width_b,height_b,chosen\n");
    for _ in 0..300 {
        let [a, b] = [80.0, 160.0].map(|most| {
            [
                random.random_range(0.0..most),
                random.random_range(0.0..4.0),
            ]
        });
        let better = utility(a[0], a[1]) - utility(b[0], b[1]);
        let is_first = random.random_bool(1.0 / (1.0 + (-better).exp()));
        let chosen = if is_first { "a" } else { "b" };
        writeln!(
            text,
            "{:.3},{:.3},{:.3},{:.3},{chosen}",
            a[0], a[1], b[0], b[1]
        )
        .unwrap();
    }
    fs::write(path.join("choices.csv"), text).unwrap();
}

/// Items are compared with one of them. Both orders have probabilities that add up to one, and the columns of both items
/// have one scale, so that lengthscales are those of an item in its own units.
#[test]
fn items_are_ranked_by_choices() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_choices(path);
    let (items, reference) = ([20.0, 45.0, 75.0, 110.0, 150.0], (60.0, 2.0));
    let mut new = String::from("width_a,height_a,width_b,height_b\n");
    for width in items {
        writeln!(new, "{width},2,{},{}", reference.0, reference.1).unwrap();
        writeln!(new, "{},{},{width},2", reference.0, reference.1).unwrap();
    }
    fs::write(path.join("new.csv"), new).unwrap();
    let line = "train -d choices.csv --target chosen --class-order b,a --kernel preference(rbf) --model svgp \
                --inducing 40 --steps 400 --learning-rate 0.03 --quiet -o run";
    succeed_at(path, line);
    let model: Value = serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
    assert_eq!(model["likelihood"], "bernoulli");
    let lengthscales = &model["hyperparameters"]["kernel.base.lengthscale"];
    assert_eq!(lengthscales.as_array().map(Vec::len), Some(2), "{model}");
    assert!(succeed_at(path, "show run").contains("preference(rbf)"));
    succeed_at(path, "predict -m run -d new.csv -o new_out.csv");
    let probabilities = numbers(&path.join("new_out.csv"), "probability of a");
    let pairs: Vec<&[f64]> = probabilities.chunks(2).collect();
    for pair in &pairs {
        // Probabilities are written with six digits or more.
        assert!((pair[0] + pair[1] - 1.0).abs() < 2e-6, "{pairs:?}");
    }
    let by = |scores: Vec<f64>| {
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        order
    };
    let expected = by(items.iter().map(|&width| utility(width, 2.0)).collect());
    let found = by(pairs.iter().map(|pair| pair[0]).collect());
    assert_eq!(found, expected, "{pairs:?}");
}

#[test]
fn half_an_item_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_choices(path);
    let reason = "error: --kernel: the preference kernel compares two items and takes an even number of inputs, those of \
                  the first item and then those of the second, not 3; name its inputs in square brackets, as K[1,2], or \
                  change the columns";
    for (kernel, more) in [
        ("preference(rbf)", " --drop height_b"),
        ("preference(rbf)[1,2,3]+linear", ""),
    ] {
        let line = format!("train -d choices.csv --target chosen --kernel {kernel}{more} -o run");
        let output = run(path, &line.split(' ').collect::<Vec<_>>());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(reason), "{errors}");
        assert!(!path.join("run").exists());
    }
}

#[test]
fn the_items_of_an_expression_are_halves_of_its_inputs() {
    let expression: KernelExpression = "preference(rbf)[3,4]".parse().unwrap();
    let base = Stationary::SquaredExponential.into();
    let expected = KernelConfig::from(PreferenceConfig { base }).on_dimensions(vec![2, 3]);
    assert_eq!(expression.config(false), expected);
}
