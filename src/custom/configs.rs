//! Configurations of all components of one kind.

/// Defines the configuration of a kind of component: an enum with a variant for each component of
/// this crate and one for those of other crates, and the list of names.
macro_rules! configs {
    (
        $(#[$outer:meta])*
        $any:ident($custom:ty), tag = $tag:literal:
        $(
            $(#[$attribute:meta])*
            $name:literal $variant:ident $(($config:ty))? $({ $($fields:tt)* })?
        ),+
    ) => {
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        $(#[$outer])*
        #[serde(remote = "Self", tag = $tag)]
        pub enum $any {
            $(
                $(#[$attribute])*
                #[serde(rename = $name)]
                $variant $(($config))? $({ $($fields)* })?,
            )+
            /// A component of another crate.
            #[serde(skip)]
            Custom($custom),
        }

        impl $any {
            #[doc = concat!("The name of every ", $tag, " of this crate.")]
            pub const NAMES: &'static [&'static str] = &[$($name),+];
        }

        $($(
            impl From<$config> for $any {
                fn from(config: $config) -> Self {
                    Self::$variant(config)
                }
            }
        )?)+
    };
}

pub(crate) use configs;
