//! Kinds of components that map inputs to outputs and are made for given numbers of them: means and
//! networks.

/// Defines such a kind from its trait: the trait for definitions, the trait object and the
/// registration. `by` makes the configuration that the name of a definition `D` stands for.
macro_rules! map_kind {
    (
        $tag:literal, $register:literal;
        $piece:ident: $trait:path as $object:ident {
            $($method:ident($($argument:ident: $type:ty),*) -> $result:ty;)+
        }
        $(#[$documentation:meta])*
        $definition:ident { $($more:item)* } in $config:ident, named $name:ty, by $by:expr;
        $custom:ident, $custom_config:ident, $functions:ident, $registration:ident
    ) => {
        $(#[$documentation])*
        pub trait $definition: Default + serde::Serialize + serde::de::DeserializeOwned + 'static {
            /// The name in configurations. It should be unique: a configuration with a name that is
            /// registered twice is an error.
            const NAME: &'static str;

            /// A line of help for the command line, where the name selects the default
            /// configuration.
            const HELP: &'static str = concat!("A ", $tag, " of another crate");

            #[doc = concat!("The ", $tag, ".")]
            type $piece: $trait;

            /// Checks the values of a configuration that was read.
            ///
            /// # Errors
            ///
            /// The reason, if a value is out of range.
            fn check(&self) -> Result<(), String> {
                Ok(())
            }

            #[doc = concat!("Makes the ", $tag, " for `inputs` inputs and `outputs` outputs.")]
            fn init(
                &self,
                inputs: usize,
                outputs: usize,
                options: burn::tensor::TensorCreationOptions,
            ) -> Self::$piece;

            $($more)*
        }

        #[doc = concat!("A ", $tag, " as a trait object.")]
        pub trait $object {
            $(
                #[doc = concat!("See the trait of every ", $tag, ".")]
                fn $method(&self, $($argument: $type),*) -> $result;
            )+
        }

        impl<T: $trait> $object for T {
            $(
                #[track_caller]
                fn $method(&self, $($argument: $type),*) -> $result {
                    <T as $trait>::$method(self, $($argument),*)
                }
            )+
        }

        #[doc = concat!("A ", $tag, " of another crate.")]
        pub type $custom = $crate::custom::BoxedModule<dyn $object>;

        #[doc = concat!("The configuration of a ", $tag, " of another crate, with its name.")]
        pub type $custom_config = $crate::custom::CustomConfig<$functions>;

        #[doc = concat!("A registered ", $tag, " of another crate.")]
        pub type $registration = $crate::custom::Registration<$functions>;

        #[doc = concat!("The functions of a registered ", $tag, ".")]
        pub struct $functions {
            pub(super) name: $name,
            init: fn(
                &$crate::custom::Fields,
                [usize; 2],
                burn::tensor::TensorCreationOptions,
            ) -> $custom,
        }

        $crate::custom::kind!($tag, $config, $functions, $definition, $register);

        impl $registration {
            #[doc = concat!("Describes a ", $tag, " for [`", $register, "!`](crate::", $register, "),")]
            /// which registers it.
            pub const fn of<D: $definition>() -> Self {
                Self::new(
                    D::NAME,
                    |fields| $crate::custom::read::<D>(fields)?.check(),
                    $functions {
                        name: <$name>::new(D::NAME, D::HELP, $by),
                        init: |fields, [inputs, outputs], options| {
                            let definition = $crate::custom::checked::<D>(fields);
                            let piece = definition.init(inputs, outputs, options);
                            $crate::custom::BoxedModule::new(
                                piece,
                                |module| $crate::custom::of_type::<D::$piece>(module),
                                |module| $crate::custom::of_type_mut::<D::$piece>(module),
                            )
                        },
                    },
                )
            }
        }

        impl $custom_config {
            #[track_caller]
            pub(super) fn init(
                &self,
                inputs: usize,
                outputs: usize,
                options: burn::tensor::TensorCreationOptions,
            ) -> $custom {
                let (functions, fields) = self.parts();
                (functions.init)(fields, [inputs, outputs], options)
            }
        }
    };
}

pub(crate) use map_kind;
