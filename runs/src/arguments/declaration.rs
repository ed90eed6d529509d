//! The macro that declares the options of a run.

/// A property of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// Its value is that of the field at its path, which also has the default.
    Field,
    /// Its default depends on the data.
    DataDependentDefault,
    /// Its default depends on the floating-point type.
    FromDtype,
    /// It can be changed when a run is resumed.
    Changeable,
    /// The short help shows it.
    ShortHelp,
    /// It is not part of a paper's protocol: the data and their location, the seed, the device, learning
    /// curves, checkpoints.
    IgnoredInComparison,
}

/// Declares the options of a run under their headings in the help. The declaration
/// `name: Type = "VALUE" at "path" in range [Properties]` makes the field `name: Option<Type>` and the option
/// `--name VALUE`, whose help is the doc comment. It applies to models whose configuration has a field at the path, or at
/// one of several paths separated by `|`; without a path, it applies to every model. The range is a function of
/// [`ranges`](crate::ranges); without a range, every value of the type is in range.
macro_rules! options {
    (
        $(#[$of_all:meta])*
        pub struct $options:ident;
        $($heading:literal {
            $(
                $(#[$meta:meta])*
                $name:ident: $type:ty = $value:literal
                $(at $path:literal)? $(in $range:ident)? $([$($property:ident),+])?,
            )+
        })+
    ) => {
        $(#[$of_all])*
        #[derive(clap::Args, Clone, Debug, Default, PartialEq, serde::Serialize)]
        pub struct $options {
            $($(
                $(#[$meta])*
                #[arg(long, value_name = $value, help_heading = $heading)]
                #[arg(hide_short_help = !Self::has(stringify!($name), Property::ShortHelp))]
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $name: Option<$type>,
            )+)+
        }

        impl $options {
            /// The names of all options.
            pub const NAMES: &[&str] = &[$($(stringify!($name)),+),+];

            /// The headings of the help with the names of their options.
            pub(super) const HEADINGS: &[(&str, &[&str])] = &[$(($heading, &[$(stringify!($name)),+])),+];

            /// The options with properties.
            const PROPERTIES: &[(&str, &[Property])] =
                &[$($($((stringify!($name), &[$(Property::$property),+]),)?)+)+];

            /// The fields that options set in the configurations of models.
            pub(super) const PATHS: &[(&str, &str)] = &[$($($((stringify!($name), $path),)?)+)+];

            /// Whether an option has a property.
            pub fn has(name: &str, property: Property) -> bool {
                let mut options = Self::PROPERTIES.iter();
                options.any(|(own, properties)| *own == name && properties.contains(&property))
            }

            /// Fails on the first option that is out of its range. Skips the options in `unused`.
            ///
            /// # Errors
            ///
            /// [`OptionError::OutOfRange`](crate::option_error::OptionError::OutOfRange).
            pub(super) fn check_ranges_but(
                &self,
                unused: &[&str],
            ) -> Result<(), crate::option_error::OptionError> {
                $($($(
                    if let Some(value) = self.$name
                        && !unused.contains(&stringify!($name))
                    {
                        let option = format!("--{}", stringify!($name).replace('_', "-"));
                        crate::ranges::$range(option, value)?;
                    }
                )?)+)+
                Ok(())
            }

            /// Sets the option `name`; null means its default.
            ///
            /// # Errors
            ///
            /// If there is no such option, or the value is invalid.
            pub(super) fn set(
                &mut self,
                name: &str,
                value: serde_json::Value,
            ) -> Result<(), serde_json::Error> {
                match name {
                    $($(stringify!($name) => self.$name = serde_json::from_value(value)?,)+)+
                    _ => return Err(serde::de::Error::unknown_field(name, Self::NAMES)),
                }
                Ok(())
            }

            /// Adds the options of `earlier` that are absent here.
            pub(super) fn fill(&mut self, earlier: Self) {
                $($(self.$name = self.$name.take().or(earlier.$name);)+)+
            }
        }
    };
}

pub(super) use options;
