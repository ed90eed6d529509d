//! Configurations whose fields have defaults.

/// Makes a configuration from fields with their defaults: a struct that is read and written by serde, with
/// [`Default`] and a setter `with_…` for each field.
macro_rules! defaults {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $($(#[$of_field:meta])* pub $field:ident: $type:ty = $default:expr),+ $(,)?
        }
    ) => {
        #[derive(
            Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, derive_setters::Setters
        )]
        $(#[$attribute])*
        #[setters(prefix = "with_")]
        pub struct $name {
            $($(#[$of_field])* pub $field: $type),+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }
    };
}

pub(crate) use defaults;
