//! Configurations of any piece of a kind.

/// Makes the configuration of any piece of a kind from a list of those of this crate: the enum with
/// a variant for pieces of other crates, and the names.
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
            /// One of another crate.
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
