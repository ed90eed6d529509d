//! The options of kernels, from the fields of their configurations.

use burn_gp_core::kernels::KernelConfig;
use serde_json::{Value, json};

use super::{KernelExpressionError, arguments::NumberOption};

/// The field of a network, and the options for its layers.
pub const NETWORK: &str = "network";
const OF_NETWORK: [&str; 3] = ["layers", "width", "seed"];

/// The field of the dimension of an input. Its option is the number of the input, counted from one.
const DIMENSION: &str = "dimension";
const INPUT: &str = "input";

/// The field of the order of threshold units, and its values. Its option is their number, counted from zero.
const ORDER: &str = "order";
const ORDERS: [&str; 3] = ["step", "ramp", "quadratic"];

/// What an option of a kernel stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelOption {
    /// A positive number.
    Positive,
    /// A number of components or the like, which each take memory.
    Size,
    /// Any number.
    Number,
    /// Any whole number.
    Whole,
    /// Yes or no, as 0 or 1.
    Switch,
    /// The number of an input.
    Input,
    /// The order of threshold units.
    Order,
    /// The number of layers of a network, their width or the seed.
    OfNetwork,
}

impl KernelOption {
    /// The name of the field.
    pub fn field(self, option: &str) -> String {
        match self {
            Self::Input => DIMENSION.to_owned(),
            _ => option.replace('-', "_"),
        }
    }

    /// The value of the field.
    ///
    /// # Errors
    ///
    /// If the number is out of range.
    pub fn value(self, option: &NumberOption) -> Result<Value, KernelExpressionError> {
        Ok(match self {
            Self::Positive => json!(option.positive()?),
            Self::OfNetwork if option.name == "seed" => json!(option.value as u64),
            Self::Size | Self::OfNetwork => json!(option.size()?),
            Self::Number => json!(option.value),
            Self::Whole => json!(option.whole()?),
            Self::Switch => json!(option.choice(2, "0 or 1")? == 1),
            Self::Input => json!(option.count()? - 1),
            Self::Order => json!(ORDERS[option.choice(ORDERS.len(), "0, 1 or 2")?]),
        })
    }
}

/// The options of a kernel by name, from its default configuration.
pub fn options(default: &KernelConfig) -> Vec<(String, KernelOption)> {
    let positive = default.positive();
    let is_positive = |field: &str| positive.iter().any(|(own, _)| *own == field);
    let absent = positive.iter().filter(|(_, value)| value.is_none());
    let mut options: Vec<_> = absent
        .map(|(field, _)| (field.replace('_', "-"), KernelOption::Positive))
        .collect();
    let fields = json!(default);
    for (field, value) in fields.as_object().into_iter().flatten() {
        let option = match value {
            Value::Number(number) if number.is_f64() && is_positive(field) => {
                KernelOption::Positive
            }
            Value::Number(number) if number.is_f64() => KernelOption::Number,
            Value::Number(_) if is_positive(field) => KernelOption::Size,
            Value::Number(_) | Value::Null if field == DIMENSION => {
                options.push((INPUT.to_owned(), KernelOption::Input));
                continue;
            }
            Value::Number(_) => KernelOption::Whole,
            Value::Bool(_) => KernelOption::Switch,
            Value::String(_) if field == ORDER => KernelOption::Order,
            Value::Object(_) if field == NETWORK => {
                options.extend(OF_NETWORK.map(|name| (name.to_owned(), KernelOption::OfNetwork)));
                continue;
            }
            _ => continue,
        };
        options.push((field.replace('_', "-"), option));
    }
    options.sort_by(|(a, _), (b, _)| a.cmp(b));
    options
}
