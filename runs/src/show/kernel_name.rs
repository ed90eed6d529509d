//! The text of a kernel.

use serde_json::Value;

/// The text of a saved kernel, as `--kernel` accepts it, without parameter values: `rbf[1]+linear`.
/// `None` if the value is not a kernel.
pub fn kernel_name(kernel: &Value) -> Option<String> {
    let name = kernel.get("kernel")?.as_str()?;
    let part = |field: &str| kernel_name(kernel.get(field)?);
    match name {
        "stationary" => {
            let kind = kernel.get("kind")?.as_str()?;
            Some(kind.to_owned())
        }
        "sum" => Some(format!("{}+{}", part("first")?, part("second")?)),
        "product" => Some(format!(
            "{}*{}",
            factor(&part("first")?),
            factor(&part("second")?)
        )),
        "change-point" => Some(format!(
            "change-point({}, {})",
            part("first")?,
            part("second")?
        )),
        "active-dimensions" => {
            let dimensions = kernel.get("dimensions")?.as_array()?.iter();
            let numbers = dimensions
                .filter_map(Value::as_u64)
                .map(|place| (place + 1).to_string());
            let numbers: Vec<String> = numbers.collect();
            Some(format!("{}[{}]", factor(&part("base")?), numbers.join(",")))
        }
        "scaled" | "periodic" | "deep" | "preference" => Some(format!("{name}({})", part("base")?)),
        name => Some(name.to_owned()),
    }
}

/// Puts a sum or product in parentheses and leaves other kernels as they are.
fn factor(text: &str) -> String {
    let mut depth = 0;
    let is_combined = text.chars().any(|letter| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        depth == 0 && matches!(letter, '+' | '*')
    });
    match is_combined {
        true => format!("({text})"),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use burn_gp_core::kernels::{KernelConfig, LinearConfig, StationaryConfig};

    use super::*;

    #[test]
    fn kernels_have_the_text_of_the_command_line() {
        let matern = || KernelConfig::from(StationaryConfig::matern52());
        let linear = || KernelConfig::from(LinearConfig::default());
        let sum = matern().on_dimensions(vec![0, 2]).plus(linear());
        for (kernel, text) in [
            (matern(), "matern52"),
            (sum.clone(), "matern52[1,3]+linear"),
            (
                sum.times(matern().periodic(2.0)),
                "(matern52[1,3]+linear)*periodic(matern52)",
            ),
            (
                matern().times(linear()).times(matern()),
                "(matern52*linear)*matern52",
            ),
            (linear().scaled(2.0), "scaled(linear)"),
        ] {
            let value = serde_json::to_value(kernel).unwrap();
            assert_eq!(kernel_name(&value).as_deref(), Some(text));
        }
        assert_eq!(kernel_name(&Value::Null), None);
    }
}
