//! The experiments with convolutional kernels run and compare the intended models.

use crate::support::{columns, read, run, succeed, write_cifar, write_digits};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn digits_are_told_apart_by_patches_and_by_whole_images() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_digits(path, 300, 60);
    let line = "experiment conv-mnist --data-dir . --steps 200 --inducing 40 --batch-size 50 \
                --learning-rate 0.05 --out digits --quiet";
    let table = succeed(path, &words(line));
    for published in ["1.31 (0.02)", "1.53 (0.03)", "1.94 (0.02)"] {
        assert!(table.contains(published), "{table}");
    }
    let rows = columns(
        &path.join("digits/results.csv"),
        &["kernel", "method", "error"],
    );
    let models: Vec<String> = rows.iter().map(|row| row[..2].join(" ")).collect();
    assert_eq!(
        models,
        ["conv w", "conv l", "conv r", "rbf w", "rbf l", "rbf r"]
    );
    for row in rows {
        // Ten noisy patterns. Guessing is wrong nine times in ten.
        assert!(row[2].parse::<f64>().unwrap() < 60.0, "{row:?}");
    }
    // Rows are computed one by one, and finished rows are not computed again.
    let metrics = path.join("digits/runs/conv/r/seed-0/metrics.json");
    let first = read(&metrics);
    let some = format!("{line} --kernels rbf --models w --seeds 2");
    let table = succeed(path, &words(&some));
    assert!(table.contains("weighted conv, R-SVGP"), "{table}");
    assert_eq!(read(&metrics), first);
}

#[test]
fn cifar_10_has_every_row_of_the_paper() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_cifar(path, 60, 20);
    let shared = "--data-dir . --steps 3 --inducing 10 --batch-size 10 --quiet";
    let line = format!("experiment conv-cifar10 {shared} --out shallow");
    let table = succeed(path, &words(&line));
    let departures = "batch-size 10 instead of 64; inducing 10 instead of 1000; learning-rate 0.01 instead \
                      of 0.003; steps 3 instead of 300000; training images 60 instead of 50000; test \
                      images 20 instead of 10000";
    let named = columns(&path.join("shallow/results.csv"), &["departures"]);
    assert_eq!(named[0], [departures]);
    assert!(table.contains(departures), "{table}");
    for title in [
        "1-layer SVGP 10 ",
        "1-layer SVGP 16 ",
        "1-layer SOLVE-GP 10+10 ",
        "1-layer SVGP 20 ",
    ] {
        assert!(table.contains(title), "{table}");
    }
    let titles = [
        "layers",
        "model",
        "paper_accuracy",
        "seconds_ratio",
        "accuracy",
    ];
    let rows = columns(&path.join("shallow/results.csv"), &titles);
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0][..4], ["1", "svgp-m", "66.07", "1"]);
    assert_eq!(rows[2][..3], ["1", "solve-m-m", "68.19"]);
    for row in &rows {
        assert!(row[4].parse::<f64>().unwrap() <= 100.0, "{row:?}");
    }
    let line = format!("experiment conv-cifar10 {shared} --models svgp-m --likelihood softmax");
    succeed(path, &words(&format!("{line} --out softmax")));
    let softmax = path.join("softmax/runs/1-layer/svgp-m/seed-0/metrics.json");
    assert!(read(&softmax).contains("\"likelihood\": \"softmax\""));

    let line = format!(
        "experiment deep-conv-cifar10 {shared} --hidden-inducing 6 --layers 3 --models \
         svgp-m,solve-m-m --out deep"
    );
    let table = succeed(path, &words(&line));
    assert!(
        table.contains("3-layer SOLVE-GP 6+6, 6+6, 10+10 "),
        "{table}"
    );
    let rows = columns(&path.join("deep/results.csv"), &titles);
    let models: Vec<String> = rows.iter().map(|row| row[..3].join(" ")).collect();
    assert_eq!(models, ["3 svgp-m 78.76", "3 solve-m-m 80.3"]);
    let out = path.join("deep/runs/3-layer/solve-m-m/seed-0");
    let texts: [(&str, &[&str]); 3] = [
        ("confusion.svg", &["automobile", "20 test rows"]),
        ("patches.svg", &["6 orthogonal inducing patches"]),
        (
            "maps.svg",
            &["layer 1: 28 by 28 patches", "layer 2: 13 by 13 patches"],
        ),
    ];
    for (name, words) in texts {
        let plot = read(&out.join(name));
        assert!(words.iter().all(|word| plot.contains(word)), "{name}");
    }
    let shallow = path.join("shallow/runs/1-layer/svgp-2m/seed-0");
    assert!(read(&shallow.join("patches.svg")).contains("20 inducing patches"));
    assert!(!shallow.join("maps.svg").exists());
    let refused = run(path, &words(&line.replace("--layers 3", "--layers 4")));
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn what_is_absent_is_named() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    for name in ["conv-mnist", "conv-cifar10", "deep-conv-cifar10"] {
        let line = format!("experiment {name} --data-dir .");
        let output = run(path, &words(&line));
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}: {message}");
        assert!(message.contains("is not on disk"), "{name}: {message}");
    }
    assert!(!path.join("out").exists(), "a folder is left behind");
}
