//! The order of classes: from numbers, from the user, or required from the user.

use std::fs;
use std::path::Path;

use crate::support::{read, run, succeed};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

/// One input and a label that increases with it. `labels` are in increasing order.
fn write_ordered(path: &Path, labels: &[&str], rows: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(41);
    let mut text = String::from("x,level\n");
    for _ in 0..rows {
        let x: f64 = random.random_range(0.0..labels.len() as f64);
        let label = labels[x as usize].replace('"', "\"\"");
        text += &format!("{x},\"{label}\"\n");
    }
    fs::write(path, text).expect("the data can be written");
}

/// The command line of a run.
fn arguments<'a>(out: &'a str, likelihood: &'a str, order: Option<&'a str>) -> Vec<&'a str> {
    let mut words = vec!["train", "--data", "data.csv", "--quiet"];
    words.extend([
        "--steps",
        "300",
        "--inducing",
        "15",
        "--test-fraction",
        "0.2",
    ]);
    words.extend(["--out", out, "--likelihood", likelihood]);
    words.extend(order.iter().flat_map(|order| ["--class-order", order]));
    words
}

fn train(folder: &Path, out: &str, likelihood: &str, order: Option<&str>) -> serde_json::Value {
    succeed(folder, &arguments(out, likelihood, order));
    let text = read(&folder.join(out).join("metrics.json"));
    serde_json::from_str(&text).expect("the numbers of the run")
}

/// The message of a refused command, without "error: ".
fn refusal(folder: &Path, likelihood: &str, order: Option<&str>) -> String {
    let output = run(folder, &arguments("refused", likelihood, order));
    assert_eq!(output.status.code(), Some(2), "{order:?}");
    assert!(!folder.join("refused").exists());
    let text = String::from_utf8(output.stderr).expect("the message is UTF-8");
    let message = text.strip_prefix("error: ").expect("an error");
    message.trim_end().to_owned()
}

fn class_names(folder: &Path, run: &str) -> Vec<String> {
    let text = read(&folder.join(run).join("model.json"));
    let model: serde_json::Value = serde_json::from_str(&text).expect("a model");
    serde_json::from_value(model["context"]["schema"]["classes"].clone()).expect("classes")
}

/// `grade 10` is above `grade 2`. With alphabetical order the model has more errors.
#[test]
fn numbers_within_labels_are_their_order() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    let labels: Vec<String> = (1..=12).map(|grade| format!("grade {grade}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    write_ordered(&path.join("data.csv"), &labels, 300);

    let natural = train(path, "natural", "ordinal", None);
    assert_eq!(class_names(path, "natural"), labels);
    let given = train(path, "given", "ordinal", Some(&labels.join(",")));
    assert_eq!(natural["error"], given["error"]);
    assert_eq!(natural["nlpd"], given["nlpd"]);

    let mut by_alphabet = labels.clone();
    by_alphabet.sort_unstable();
    let alphabet = train(path, "alphabet", "ordinal", Some(&by_alphabet.join(",")));
    assert_eq!(class_names(path, "alphabet"), by_alphabet);
    let error = |metrics: &serde_json::Value| metrics["error"].as_f64().expect("an error");
    assert!(
        error(&natural) + 0.2 < error(&alphabet),
        "{} beside {}",
        error(&natural),
        error(&alphabet)
    );
}

/// For text without numbers the program requires an order and suggests an option that works as
/// printed.
#[test]
fn an_order_that_no_number_tells_is_asked_for() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    let labels = ["so, so", "it's fine", "\"great\""];
    write_ordered(&path.join("data.csv"), &labels, 150);
    let option = r#"--class-order '"""great""",it'\''s fine,"so, so"'"#;
    assert_eq!(
        refusal(path, "ordinal", None),
        format!(
            "data.csv: the order of the labels of column 2 (\"level\") is unknown; give it, \
             lowest first, or start from this guess: {option}"
        )
    );

    // A shell accepts the suggestion as printed.
    let program = env!("CARGO_BIN_EXE_burn-gp");
    let words = arguments("guess", "ordinal", None).join(" ");
    let command = format!("{program} {words} {option}");
    let mut shell = std::process::Command::new("sh");
    let status = shell.current_dir(path).args(["-c", &command]).status();
    assert!(status.expect("a shell").success());
    assert_eq!(
        class_names(path, "guess"),
        ["\"great\"", "it's fine", "so, so"]
    );

    let order = r#""so, so",it's fine,"""great""""#;
    train(path, "right", "ordinal", Some(order));
    assert_eq!(class_names(path, "right"), labels);
    // The order is part of the model and of its configuration.
    let printed = succeed(
        path,
        &["predict", "--model-dir", "right", "--data", "data.csv"],
    );
    let header = printed.lines().next().expect("a header");
    assert_eq!(
        header,
        "row,y,label,\"probability of so, so\",probability of it's fine,\"probability of \"\"great\"\"\""
    );
    let config = ["train", "--config", "right/config.toml", "--quiet"];
    succeed(path, &[&config[..], &["--out", "again"]].concat());
    assert_eq!(class_names(path, "again"), labels);
    assert_eq!(
        read(&path.join("again/predictions.csv")),
        read(&path.join("right/predictions.csv"))
    );
}

#[test]
fn orders_of_other_classes_are_refused() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    fs::write(
        path.join("data.csv"),
        "x,level\n1,low\n2,medium\n3,high\n4,low\n5,medium\n",
    )
    .expect("the data");
    let given = |order| refusal(path, "ordinal", Some(order));
    assert_eq!(
        given("low,high"),
        "data.csv:3: the label \"medium\" is not in the order low,high; add it to --class-order"
    );
    assert_eq!(
        given("low,medium,high,huge"),
        "data.csv: \"huge\" in the order low,medium,high,huge is not one of the labels, \"high\", \"low\", \"medium\"; remove it from --class-order"
    );
    assert_eq!(
        given("low,medium,low"),
        "invalid value 'low,medium,low' for '--class-order <LABELS>': the class order has the label \"low\" twice; remove one of them; see --help"
    );
    assert_eq!(
        refusal(path, "gaussian", Some("low,high")),
        "--class-order does not apply to likelihood 'gaussian', whose targets are not labels; remove it, or use --likelihood ordinal"
    );
}

/// For nominal likelihoods the order is only that of the columns in files, and none is required.
#[test]
fn other_likelihoods_take_the_order_and_do_not_need_it() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_ordered(&path.join("data.csv"), &["low", "medium", "high"], 60);
    train(path, "plain", "softmax", None);
    assert_eq!(class_names(path, "plain"), ["high", "low", "medium"]);
    train(path, "ordered", "softmax", Some("low,medium,high"));
    assert_eq!(class_names(path, "ordered"), ["low", "medium", "high"]);
}
