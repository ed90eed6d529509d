//! Every kernel by its name, built as on the command line.

use burn_gp_core::kernels::{Kernel, KernelConfig};
use serde::de::Error as _;
use serde_json::{Map, Value, json};

use super::{Case, Group, Harness, Reason};

/// Points of the two sets, and their dimensions.
const SIZES: [usize; 3] = [41, 23, 3];

pub(super) fn cases() -> Vec<Case> {
    let case = |name| Case::compare(Group::Kernel, name, move |harness| compute(name, harness));
    KernelConfig::names().map(case).collect()
}

fn compute(name: &str, harness: &mut Harness) -> Result<(), Reason> {
    let [rows, others, dimensions] = SIZES;
    let kernel = default_of(name)?.init(dimensions, harness.options());
    let kernel = harness.module(kernel);
    let x1 = harness.normal([rows, dimensions]);
    let x2 = harness.normal([others, dimensions]);
    harness.output("covariance", kernel.covariance(x1.clone(), x2));
    harness.output("matrix", kernel.matrix(x1.clone()));
    harness.output("diagonal", kernel.diagonal(x1));
    Ok(())
}

/// Values of the fields without defaults, in any kernel.
fn given(field: &str) -> Option<Value> {
    let stationary = |kind| json!({ "kernel": "stationary", "kind": kind });
    match field {
        "kind" => Some(json!("matern52")),
        "base" | "first" => Some(stationary("matern52")),
        "second" => Some(stationary("matern32")),
        "dimensions" => Some(json!([0, 2])),
        "outputscale" | "lengthscale" | "variance" => Some(json!(1.0)),
        _ => None,
    }
}

/// The default configuration of a kernel. A field without a default gets the value that is
/// [given](given) for its name.
///
/// # Errors
///
/// When a field has neither.
fn default_of(name: &str) -> Result<KernelConfig, serde_json::Error> {
    let mut fields = Map::new();
    fields.insert("kernel".to_owned(), name.into());
    loop {
        let error = match serde_json::from_value(Value::Object(fields.clone())) {
            Ok(config) => return Ok(config),
            Err(error) => error,
        };
        let text = error.to_string();
        let field = text.split('`').nth(1).unwrap_or_default();
        let value = given(field).filter(|_| text.starts_with("missing field"));
        match value {
            Some(value) if !fields.contains_key(field) => {
                fields.insert(field.to_owned(), value);
            }
            _ => return Err(serde_json::Error::custom(format!("kernel {name}: {error}"))),
        }
    }
}
