//! Options for parameters of a model: `--set kernel.lengthscale=0.5`,
//! `--bound likelihood.noise=1e-4..1`, `--prior kernel.variance=gamma(2, 1)`,
//! `--fix kernel.variance`; and for any field of the configurations: `--field model.inducing.seed=3`.
//!
//! Numbers are in standardized units. The suffix `data` means the units of the data: `--set "kernel.period=12
//! data"`.

mod bounds;
mod error;
mod field;
mod prior;
mod values;

pub use bounds::BoundsOption;
pub use error::ParameterOptionError;
pub use field::FieldOption;
pub use prior::PriorOption;
pub use values::ValuesOption;

/// Defines an option with the form `PATH=…` on the command line and in files.
macro_rules! assignment {
    ($(#[$meta:meta])* $name:ident, $field:ident: $value:ty, $form:literal, $parse:path, $write:path) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name {
            /// The path of the parameter.
            pub path: String,
            /// The setting of the parameter.
            pub $field: $value,
            /// The units of the numbers.
            pub units: $crate::parameter_options::NumberUnits,
        }

        impl std::str::FromStr for $name {
            type Err = $crate::parameter_options::ParameterOptionError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let (path, asked, units) = $crate::parameter_options::divide(text, $form)?;
                let $field = $parse(asked)?;
                Ok(Self { path, $field, units })
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::parameter_options::ParameterOptionError;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(option: $name) -> Self {
                let units = option.units.ending();
                format!("{}={}{units}", option.path, $write(&option.$field))
            }
        }
    };
}
use assignment;

/// The units of the numbers of an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberUnits {
    /// The units of standardized inputs and targets.
    #[default]
    Standardized,
    /// The units of the data.
    Data,
}

impl NumberUnits {
    /// The suffix of an option in these units.
    fn ending(self) -> &'static str {
        match self {
            Self::Standardized => "",
            Self::Data => " data",
        }
    }
}

/// Splits a text at the equals sign, and removes the units from its end.
fn divide<'a>(
    text: &'a str,
    form: &'static str,
) -> Result<(String, &'a str, NumberUnits), ParameterOptionError> {
    let (path, asked) = text.split_once('=').unwrap_or((text, ""));
    let asked = asked.trim();
    let of_data = asked.strip_suffix("data");
    let (asked, units) = match of_data {
        Some(asked) => (asked, NumberUnits::Data),
        None => (
            asked.strip_suffix("std").unwrap_or(asked),
            NumberUnits::Standardized,
        ),
    };
    let (path, asked) = (path.trim(), asked.trim());
    if path.is_empty() || asked.is_empty() {
        return Err(ParameterOptionError::Form { form });
    }
    Ok((path.to_owned(), asked, units))
}

/// Parses a finite number.
fn number(text: &str) -> Result<f64, ParameterOptionError> {
    let text = text.trim();
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| ParameterOptionError::Number { text: text.into() })
}
