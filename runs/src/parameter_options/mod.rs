//! Options for parameters of a model: `--set kernel.lengthscale=0.5`,
//! `--bound likelihood.noise=1e-4..1`, `--prior kernel.variance=gamma(2, 1)`,
//! `--fix kernel.variance`.

mod bounds;
mod error;
mod prior;
mod values;

pub use bounds::BoundsOption;
pub use error::ParameterOptionError;
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
        }

        impl std::str::FromStr for $name {
            type Err = $crate::parameter_options::ParameterOptionError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let (path, asked) = $crate::parameter_options::divide(text, $form)?;
                let $field = $parse(asked)?;
                Ok(Self { path, $field })
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
                format!("{}={}", option.path, $write(&option.$field))
            }
        }
    };
}
use assignment;

/// Splits a text at the equals sign.
fn divide<'a>(
    text: &'a str,
    form: &'static str,
) -> Result<(String, &'a str), ParameterOptionError> {
    let (path, asked) = text.split_once('=').unwrap_or((text, ""));
    let (path, asked) = (path.trim(), asked.trim());
    if path.is_empty() || asked.is_empty() {
        return Err(ParameterOptionError::Form { form });
    }
    Ok((path.to_owned(), asked))
}

/// Parses a finite number.
fn number(text: &str) -> Result<f64, ParameterOptionError> {
    let text = text.trim();
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| ParameterOptionError::Number { text: text.into() })
}
