//! `burn-gp devices`, and what is said about devices that are not there.

#[cfg(feature = "wgpu")]
use std::io::Write;

use temp_dir::TempDir;

#[cfg(feature = "wgpu")]
use crate::support::devices::{compare_losses, training};
use crate::support::{read, run, succeed, write_regression};

/// The standard error and the exit code of a command that fails.
fn failure(arguments: &[&str]) -> (String, Option<i32>) {
    let folder = TempDir::new().expect("a folder");
    write_regression(&folder.path().join("data.csv"), 30);
    let output = run(folder.path(), arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    // Drivers of GPUs complain about windows, of which a machine without a screen has none.
    let ours = |line: &&str| !line.contains("XDG_RUNTIME_DIR");
    let errors: Vec<&str> = errors.lines().filter(ours).collect();
    let errors = errors.join("\n");
    assert!(!folder.path().join("out").exists(), "{errors}");
    (errors, output.status.code())
}

/// The message about a device of `train`.
fn refusal(device: &str) -> String {
    let data = [
        "train", "--data", "data.csv", "--target", "y", "--out", "out",
    ];
    let (errors, code) = failure(&[&data[..], &["--device", device]].concat());
    assert_eq!(code, Some(2), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    errors
}

#[test]
fn every_backend_is_listed_with_its_devices_or_how_to_get_it() {
    let folder = TempDir::new().expect("a folder");
    let list = succeed(folder.path(), &["devices"]);
    for backend in ["flex", "ndarray", "wgpu", "vulkan", "metal", "cuda", "rocm"] {
        assert!(list.lines().any(|line| line.starts_with(backend)), "{list}");
    }
    let flex = list
        .lines()
        .find(|line| line.starts_with("flex"))
        .expect("flex");
    assert!(flex.contains("(default)") && !flex.contains("no"), "{flex}");
    #[cfg(not(feature = "cuda"))]
    assert!(
        list.contains("build it with: cargo build --release --features cuda"),
        "{list}"
    );
}

#[test]
fn a_check_ends_with_a_summary() {
    let folder = TempDir::new().expect("a folder");
    let arguments = [
        "devices", "check", "--device", "flex", "--dtype", "f32", "--only",
    ];
    let summary = succeed(
        folder.path(),
        &[&arguments[..], &["operation gram"]].concat(),
    );
    let lines: Vec<&str> = summary.lines().collect();
    assert_eq!(lines[0], format!("burn-gp {}", env!("CARGO_PKG_VERSION")));
    assert!(lines[1].starts_with("device: flex, CPU, "), "{summary}");
    assert!(lines[1].ends_with(", f32"), "{summary}");
    assert!(
        lines[2].starts_with("cases: 2 of 2 passed in "),
        "{summary}"
    );
    assert!(summary.contains("  operation gram, "), "{summary}");

    let steps = succeed(
        folder.path(),
        &[&arguments[..], &["svdbk", "--steps", "1"]].concat(),
    );
    let step = steps.lines().find(|line| line.starts_with("  svdbk"));
    let cells: Vec<&str> = step.expect("a line").split_whitespace().collect();
    let milliseconds: f64 = cells[1].parse().expect("a time");
    assert!(milliseconds > 0.0, "{steps}");
    assert_eq!(cells[2..], ["0", "0.0"], "{steps}");
}

#[test]
fn a_check_of_nothing_is_a_usage_error() {
    let (errors, code) = failure(&["devices", "check", "--only", "no such case"]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(
        errors.contains("\"no such case\"") && errors.contains("--only"),
        "{errors}"
    );
}

#[test]
fn a_device_that_is_not_there_is_refused_with_what_is() {
    for text in ["tpu", "flex:1", "wgpu:one"] {
        let errors = refusal(text);
        assert!(errors.contains(text), "{errors}");
        assert!(
            errors.contains("flex, ndarray, wgpu") && errors.contains("wgpu:1"),
            "{errors}"
        );
    }
    #[cfg(not(feature = "cuda"))]
    assert!(
        refusal("cuda:1").contains("build it with: cargo build --release --features cuda"),
        "{}",
        refusal("cuda:1")
    );
    #[cfg(feature = "wgpu")]
    {
        let errors = refusal("wgpu:99");
        assert!(errors.contains("no device wgpu:99"), "{errors}");
        assert!(
            errors.contains("it has one") || errors.contains("it has "),
            "{errors}"
        );
    }
}

/// The name of a device is written to the configuration and to the metrics of a run.
#[test]
fn a_run_keeps_the_name_of_its_device() {
    let folder = TempDir::new().expect("a folder");
    write_regression(&folder.path().join("data.csv"), 30);
    let arguments = [
        "train", "--data", "data.csv", "--target", "y", "--out", "out",
    ];
    let more = [
        "--device",
        "flex",
        "--inducing",
        "5",
        "--steps",
        "2",
        "--quiet",
    ];
    succeed(folder.path(), &[&arguments[..], &more].concat());
    let config = read(&folder.path().join("out/config.toml"));
    assert!(config.contains("device = \"flex\""), "{config}");
    let metrics = read(&folder.path().join("out/metrics.json"));
    assert!(metrics.contains("\"backend\": \"flex\""), "{metrics}");
}

#[cfg(feature = "wgpu")]
#[test]
fn a_check_of_a_gpu_counts_launches() {
    let folder = TempDir::new().expect("a folder");
    let arguments = ["devices", "check", "--device", "wgpu", "--only"];
    let summary = succeed(
        folder.path(),
        &[&arguments[..], &["operation gram"]].concat(),
    );
    assert!(summary.contains("device: wgpu, "), "{summary}");
    assert!(summary.contains("cases: 2 of 2 passed"), "{summary}");
    let steps = succeed(
        folder.path(),
        &[&arguments[..], &["svdbk", "--steps", "1"]].concat(),
    );
    let step = steps.lines().find(|line| line.starts_with("  svdbk"));
    let cells: Vec<&str> = step.expect("a line").split_whitespace().collect();
    let launches: usize = cells[2].parse().expect("a number");
    assert!(launches > 0, "{steps}");
}

/// The software device of these tests claims double precision and does not have it.
#[cfg(feature = "wgpu")]
#[test]
fn double_precision_of_a_gpu_is_refused_unless_it_is_real() {
    let folder = TempDir::new().expect("a folder");
    let list = succeed(folder.path(), &["devices"]);
    let device = list
        .lines()
        .find(|line| line.starts_with("wgpu"))
        .expect("wgpu");
    let [_, _, double] = device.split_whitespace().collect::<Vec<_>>()[..3] else {
        panic!("{device}");
    };
    if double == "no" {
        let (errors, code) = failure(&["devices", "check", "--device", "wgpu", "--dtype", "f64"]);
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains("does not support f64"), "{errors}");
    }
}

/// Sums over the parts of a batch differ from those over the batch in the last of seven digits, which the
/// steps amplify. A wrong row, share or step changes the first digits.
#[cfg(feature = "wgpu")]
#[test]
fn two_gpus_make_the_steps_of_one() {
    let folder = TempDir::new().expect("a folder");
    if !succeed(folder.path(), &["devices"]).contains("wgpu:1") {
        // The harness hides what a passing test prints to standard error by macros.
        let said = writeln!(std::io::stderr(), "skipped: this machine has no second GPU");
        return said.expect("standard error");
    }
    write_regression(&folder.path().join("data.csv"), 400);
    let one = ["one", "--device", "wgpu:0"];
    let others = [
        ["second", "--device", "wgpu:1"],
        ["two", "--devices", "wgpu:0,wgpu:1"],
        ["mixed", "--devices", "flex,wgpu:1"],
    ];
    let words = training("60", &["--dtype", "f32"]);
    compare_losses(folder.path(), &words, one, &others, 1e-4);
}
