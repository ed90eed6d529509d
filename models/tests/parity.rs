//! The comparison of devices with the CPU, on every device of this build.

use std::path::Path;

use burn::tensor::{DType, Device};
use burn_gp_device_checks::parity::{Case, Comparison, Group, cases};

/// The devices of this build, each with the types that it computes in.
#[allow(deprecated, reason = "ndarray stays supported beside flex")]
fn devices() -> Vec<(&'static str, Device, &'static [DType])> {
    vec![
        ("flex", Device::flex(), &[DType::F64, DType::F32]),
        #[cfg(feature = "ndarray")]
        ("ndarray", Device::ndarray(), &[DType::F64, DType::F32]),
        #[cfg(feature = "wgpu")]
        (
            "wgpu",
            Device::wgpu(burn::tensor::DeviceKind::DefaultDevice),
            &[DType::F32],
        ),
    ]
}

/// The line of a quantity in a message.
fn line(case: &Case, comparison: &Comparison) -> String {
    format!(
        "{}: {}: error {:.2e}, allowed {:.2e}",
        case.name(),
        comparison.quantity,
        comparison.error,
        comparison.allowed
    )
}

/// Runs every case of a group on every device.
fn check(group: Group) {
    let cases: Vec<Case> = (cases().into_iter())
        .filter(|case| case.group() == group)
        .collect();
    assert!(!cases.is_empty(), "{group}");
    let mut wrong = Vec::new();
    for (name, device, dtypes) in devices() {
        for &dtype in dtypes {
            for case in &cases {
                let outcome = case.run(&device, dtype);
                match &outcome.result {
                    Err(reason) => {
                        wrong.push(format!("{name} {dtype:?}: {}: {reason}", case.name()))
                    }
                    Ok(all) => {
                        let above = all.iter().filter(|comparison| !comparison.passed());
                        wrong.extend(
                            above.map(|above| format!("{name} {dtype:?}: {}", line(case, above))),
                        );
                        if let Some(worst) = outcome.worst() {
                            eprintln!(
                                "{name} {dtype:?} {:5.2} {:6.3}s {}",
                                worst.share(),
                                outcome.seconds,
                                line(case, worst)
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn operations() {
    check(Group::Operation);
}

#[test]
fn kernels() {
    check(Group::Kernel);
}

#[test]
fn means() {
    check(Group::Mean);
}

#[test]
fn likelihoods() {
    check(Group::Likelihood);
}

#[test]
fn posteriors() {
    check(Group::Posterior);
}

#[test]
fn models() {
    check(Group::Model);
}

#[test]
fn failures() {
    check(Group::Failure);
}

/// Every function of `burn_gp_core::ops` is called by a case, and every method of a factor that computes.
#[test]
fn every_operation_has_a_case() {
    // Read at run time, because a compiled test may have been built in another folder.
    let tests = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the package is");
    let workspace = Path::new(&tests).join("../..");
    let operations = workspace.join("device-checks/src/parity/operations");
    let files = std::fs::read_dir(operations).expect("the operations");
    let calls: String = files
        .map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("a file"))
        .collect();
    let exports =
        std::fs::read_to_string(workspace.join("src/ops/mod.rs")).expect("the exports of `ops`");
    let public = exports.split("\npub use ").skip(1);
    let names = public.flat_map(|export| {
        let list = export.split(';').next().unwrap_or_default();
        let list = list.rsplit("::").next().unwrap_or_default();
        list.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
    });
    let is_function = |name: &&str| name.starts_with(|letter: char| letter.is_lowercase());
    // These count, read or ask, and compute nothing of their own.
    let others = [
        "decompositions",
        "device_reads",
        "integer",
        "is_on_cpu",
        "remote_server",
        "launches",
        "number",
        "numbers",
        "on_measured_threads",
        "on_simulated_threads",
        "profile_rate",
        "whole_numbers",
        "with_threads_awake",
    ];
    // On other devices, models over time and on neighbors are composed of other operations, or not there.
    let on_cpu_only = [
        "state_space_filtering",
        "state_space_log_density",
        "state_space_score",
        "state_space_smoothing",
        "stationary_neighbor_density",
    ];
    let functions: Vec<&str> = (names.filter(is_function))
        .filter(|name| !others.contains(name) && !on_cpu_only.contains(name))
        .collect();
    assert!(functions.len() > 30, "{functions:?}");
    let missing: Vec<&str> = (functions.into_iter())
        .filter(|name| {
            let called = [format!("ops::{name}("), format!("ops::{name},")];
            !called.iter().any(|call| calls.contains(call))
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
