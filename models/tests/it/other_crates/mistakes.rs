//! Mistakes in configurations of other crates' components are named.

use burn::tensor::{DType, Device};
use burn_gp_core::{features::NetworkConfig, kernels::KernelConfig, means::MeanConfig};

use super::pieces::BumpConfig;

#[test]
fn mistakes_in_configurations_of_other_crates_are_named() {
    let read = |text: &str| serde_json::from_str::<KernelConfig>(text);
    let known = read(r#"{"kernel": "bump", "lengthscale": 1.0, "variance": 2}"#).expect("a kernel");
    let bump = BumpConfig {
        lengthscale: 1.0,
        variance: 2.0,
    };
    assert_eq!(
        known.init(1, (&Device::default(), DType::F64)).to_string(),
        KernelConfig::from(bump)
            .init(1, (&Device::default(), DType::F64))
            .to_string()
    );
    for (text, expected) in [
        (r#"{"mean": "level", "stop": 1.0}"#, "unknown field `stop`"),
        (r#"{"mean": "level"}"#, "missing field `start`"),
        (
            r#"{"mean": "level", "start": 11}"#,
            "start is between -10 and 10",
        ),
        (r#"{"mean": "leve"}"#, "unknown variant `leve`"),
        (r#"{"mean": "zero", "start": 1}"#, "unknown field `start`"),
    ] {
        let read = serde_json::from_str::<MeanConfig>(text);
        let found = read.expect_err(text).to_string();
        assert!(found.contains(expected), "{text}: {found}");
    }
    for (text, expected) in [
        (
            r#"{"network": "narrow", "depth": 1}"#,
            "unknown field `depth`",
        ),
        (r#"{"network": "narrow", "width": 0}"#, "width is positive"),
        (r#"{"network": "narow"}"#, "unknown variant `narow`"),
        (r#"{"width": 3}"#, "missing field `network`"),
    ] {
        let read = serde_json::from_str::<NetworkConfig>(text);
        let found = read.expect_err(text).to_string();
        assert!(found.contains(expected), "{text}: {found}");
    }
    for (text, expected) in [
        (
            r#"{"kernel": "bump", "lengthscale": "short"}"#,
            "invalid type: string \"short\", expected f64",
        ),
        (
            r#"{"kernel": "bump", "lengthscale": 1.0, "variance": 2, "size": 3}"#,
            "unknown field `size`",
        ),
        (
            r#"{"kernel": "bump", "lengthscale": 1.0, "variance": 0}"#,
            "variance is 0; it must be a positive number",
        ),
        (r#"{"kernel": "bum"}"#, "unknown variant `bum`"),
        (r#"{"lengthscale": 1.0}"#, "missing field `kernel`"),
    ] {
        let found = read(text).expect_err(text).to_string();
        assert!(found.contains(expected), "{text}: {found}");
    }
}
