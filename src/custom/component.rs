//! Components that register themselves, with their configurations as trait objects.

use std::{
    any::Any,
    collections::HashMap,
    fmt,
    ops::{Deref, DerefMut},
    sync::LazyLock,
};

use dyn_clone::DynClone;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::Error as _,
    ser::{Error as _, SerializeMap},
};
use serde_json::{Map, Value};

/// A kind of component, such as `dyn Mean`.
pub trait Kind: 'static {
    /// The field of a configuration that holds the name of the component.
    const TAG: &'static str;
    /// The trait object of the configurations.
    type Definition: ?Sized + AnyDefinition;

    /// Checks the values of a configuration.
    ///
    /// # Errors
    ///
    /// The reason, if a value is out of range.
    fn check(definition: &Self::Definition) -> Result<(), String>;
}

/// A configuration as a trait object.
pub trait AnyDefinition: DynClone + fmt::Debug + Send + Sync + 'static {
    #[doc(hidden)]
    fn as_any(&self) -> &dyn Any;
    #[doc(hidden)]
    fn equals(&self, other: &dyn Any) -> bool;
    #[doc(hidden)]
    fn to_value(&self) -> serde_json::Result<Value>;
}

impl<C> AnyDefinition for C
where
    C: Clone + PartialEq + fmt::Debug + Serialize + Send + Sync + 'static,
{
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn to_value(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}

/// A registered component.
pub struct Entry<K: Kind + ?Sized> {
    #[doc(hidden)]
    pub name: &'static str,
    #[doc(hidden)]
    pub help: &'static str,
    #[doc(hidden)]
    pub default: fn() -> Box<K::Definition>,
    #[doc(hidden)]
    pub read: fn(Value) -> serde_json::Result<Box<K::Definition>>,
}

/// A registered component of any kind: its name, and a reference to its [`Entry`].
#[doc(hidden)]
pub struct Registration(pub &'static str, pub &'static (dyn Any + Send + Sync));

inventory::collect!(Registration);

/// The components by name. Those of different kinds may share one.
static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Registration>>> = LazyLock::new(|| {
    let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
    for registration in inventory::iter::<Registration> {
        by_name
            .entry(registration.0)
            .or_default()
            .push(registration);
    }
    by_name
});

impl<K: Kind + ?Sized> Entry<K> {
    /// Every registered component of the kind.
    fn all() -> impl Iterator<Item = &'static Self> {
        let all = inventory::iter::<Registration>.into_iter();
        all.filter_map(|Registration(_, entry)| entry.downcast_ref())
    }

    /// The component that is registered under `name`.
    ///
    /// # Errors
    ///
    /// If there are none or several.
    fn find(name: &str) -> Result<&'static Self, String> {
        let registered = BY_NAME.get(name).into_iter().flatten();
        let mut found = registered.filter_map(|Registration(_, entry)| entry.downcast_ref());
        match (found.next(), found.next()) {
            (Some(entry), None) => Ok(entry),
            (Some(_), Some(_)) => Err(format!("two {}s are registered as {name}", K::TAG)),
            (None, _) => {
                let names: Vec<String> =
                    (names::<K>().into_iter().map(|name| format!("`{name}`"))).collect();
                let names = names.join(", ");
                Err(format!("unknown variant `{name}`, expected one of {names}"))
            }
        }
    }
}

/// The names of all components of a kind, in alphabetical order.
fn names<K: Kind + ?Sized>() -> Vec<&'static str> {
    let mut names: Vec<_> = Entry::<K>::all().map(|entry| entry.name).collect();
    names.sort_unstable();
    names
}

/// A configuration that is registered as a component of kind `K`.
pub trait Registered<K: ?Sized> {
    /// The name of the component.
    const NAME: &'static str;
}

/// Registers a component by its kind, its name, its configuration and a line of help. From then on it works in
/// configurations of models, in model files, in all computations, and on the command line, where the name
/// stands for the default configuration.
///
/// ```
/// use burn::tensor::TensorCreationOptions;
/// use burn_gp_core::{
///     means::{AnyMean, ConstantMeanConfig, Mean, MeanConfig, MeanDefinition},
///     register,
/// };
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
/// struct FreezingPointConfig {}
///
/// impl MeanDefinition for FreezingPointConfig {
///     fn init(&self, inputs: usize, outputs: usize, options: TensorCreationOptions) -> AnyMean {
///         ConstantMeanConfig { value: 273.15 }.init(inputs, outputs, options)
///     }
/// }
///
/// register!(Mean, "freezing-point", FreezingPointConfig, "273.15 K");
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let read: MeanConfig = serde_json::from_str(r#"{"mean": "freezing-point"}"#)?;
/// assert_eq!(read, MeanConfig::from(FreezingPointConfig {}));
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! register {
    ($kind:path, $name:literal, $config:ty, $help:literal) => {
        impl $crate::custom::Registered<dyn $kind> for $config {
            const NAME: &'static str = $name;
        }

        impl From<$config> for $crate::custom::ComponentConfig<dyn $kind> {
            fn from(config: $config) -> Self {
                Self::new($name, Box::new(config))
            }
        }

        const _: () = {
            static ENTRY: $crate::custom::Entry<dyn $kind> = $crate::custom::Entry {
                name: $name,
                help: $help,
                default: || Box::new(<$config as Default>::default()),
                read: |fields| {
                    Ok(Box::new($crate::custom::serde_json::from_value::<$config>(
                        fields,
                    )?))
                },
            };
            $crate::custom::inventory::submit! { $crate::custom::Registration($name, &ENTRY) }
        };
    };
}

/// Makes a trait a kind of component: its tag, the trait of its configurations, and the conversion of every
/// component into the boxed type, if that is named.
macro_rules! component_kind {
    ($kind:ident, $definition:ident, $tag:literal $(, $boxed:ident)?) => {
        impl $crate::custom::ComponentKind for dyn $kind {
            const TAG: &'static str = $tag;
            type Definition = dyn $definition;

            fn check(definition: &Self::Definition) -> Result<(), String> {
                definition.check().map_err(|reason| reason.to_string())
            }
        }

        $(
            impl<C: $kind> From<C> for $boxed {
                fn from(component: C) -> Self {
                    Self::new(
                        component,
                        |module| $crate::custom::of_type::<C>(module),
                        |module| $crate::custom::of_type_mut::<C>(module),
                    )
                }
            }
        )?
    };
}

pub(crate) use component_kind;

/// The configuration of any component of a kind, with its name.
pub struct ComponentConfig<K: Kind + ?Sized> {
    entry: &'static Entry<K>,
    definition: Box<K::Definition>,
}

impl<K: Kind + ?Sized> ComponentConfig<K> {
    /// The configuration of the component that is registered under this name.
    ///
    /// # Panics
    ///
    /// If the name is registered twice.
    #[doc(hidden)]
    #[track_caller]
    pub fn new(name: &str, definition: Box<K::Definition>) -> Self {
        match Entry::find(name) {
            Ok(entry) => Self { entry, definition },
            Err(reason) => panic!("{reason}"),
        }
    }

    /// The name of the component.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// The names of all components of this kind.
    pub fn names() -> impl Iterator<Item = &'static str> {
        names::<K>().into_iter()
    }

    /// The configuration, if it has this type.
    pub fn downcast_ref<C: Registered<K> + 'static>(&self) -> Option<&C> {
        self.definition.as_any().downcast_ref()
    }
}

impl<K: Kind + ?Sized> Deref for ComponentConfig<K> {
    type Target = K::Definition;

    fn deref(&self) -> &K::Definition {
        &self.definition
    }
}

impl<K: Kind + ?Sized> DerefMut for ComponentConfig<K> {
    fn deref_mut(&mut self) -> &mut K::Definition {
        &mut self.definition
    }
}

impl<K: Kind + ?Sized> Clone for ComponentConfig<K> {
    fn clone(&self) -> Self {
        Self {
            entry: self.entry,
            definition: dyn_clone::clone_box(&*self.definition),
        }
    }
}

impl<K: Kind + ?Sized> PartialEq for ComponentConfig<K> {
    fn eq(&self, other: &Self) -> bool {
        self.definition.equals(other.definition.as_any())
    }
}

impl<K: Kind + ?Sized> fmt::Debug for ComponentConfig<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.definition.fmt(formatter)
    }
}

/// The name comes first, in the field [`Kind::TAG`]; the other fields follow.
impl<K: Kind + ?Sized> Serialize for ComponentConfig<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = match self.definition.to_value() {
            Ok(Value::Object(fields)) => fields,
            Ok(other) => {
                return Err(S::Error::custom(format!(
                    "the configuration of the {} {} is {other}; expected named fields",
                    K::TAG,
                    self.entry.name
                )));
            }
            Err(error) => return Err(S::Error::custom(error)),
        };
        if fields.contains_key(K::TAG) {
            return Err(S::Error::custom(format!(
                "no field may be named {}",
                K::TAG
            )));
        }
        let mut map = serializer.serialize_map(Some(1 + fields.len()))?;
        map.serialize_entry(K::TAG, self.entry.name)?;
        for (name, value) in &fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de, K: Kind + ?Sized> Deserialize<'de> for ComponentConfig<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        let name = match fields.remove(K::TAG) {
            Some(Value::String(name)) => name,
            Some(other) => {
                return Err(D::Error::custom(format!(
                    "the {} is {other}, not a name",
                    K::TAG
                )));
            }
            None => return Err(D::Error::missing_field(K::TAG)),
        };
        let entry = Entry::<K>::find(&name).map_err(D::Error::custom)?;
        let definition = (entry.read)(Value::Object(fields)).map_err(D::Error::custom)?;
        K::check(&definition).map_err(D::Error::custom)?;
        Ok(Self { entry, definition })
    }
}

/// A component that can be chosen by name, for example on a command line. It is stored as that name.
pub struct ComponentName<K: Kind + ?Sized>(&'static Entry<K>);

impl<K: Kind + ?Sized> ComponentName<K> {
    /// Every component of the kind, in alphabetical order.
    pub fn all() -> impl Iterator<Item = Self> {
        names::<K>().into_iter().filter_map(Self::find)
    }

    /// The component with this name.
    pub fn find(name: &str) -> Option<Self> {
        Entry::find(name).ok().map(Self)
    }

    /// The name of a component with this configuration.
    ///
    /// # Panics
    ///
    /// If the name is registered twice.
    #[track_caller]
    pub fn of<C: Registered<K>>() -> Self {
        match Entry::find(C::NAME) {
            Ok(entry) => Self(entry),
            Err(reason) => panic!("{reason}"),
        }
    }

    /// Whether this is the name of components with this configuration.
    pub fn is<C: Registered<K>>(&self) -> bool {
        self.name() == C::NAME
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// A line of help.
    pub fn help(&self) -> &'static str {
        self.0.help
    }

    /// The default configuration.
    pub fn config(&self) -> ComponentConfig<K> {
        ComponentConfig {
            entry: self.0,
            definition: (self.0.default)(),
        }
    }
}

impl<K: Kind + ?Sized> Clone for ComponentName<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Kind + ?Sized> Copy for ComponentName<K> {}

impl<K: Kind + ?Sized> PartialEq for ComponentName<K> {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl<K: Kind + ?Sized> fmt::Debug for ComponentName<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl<K: Kind + ?Sized> Serialize for ComponentName<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de, K: Kind + ?Sized> Deserialize<'de> for ComponentName<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Entry::find(&name).map(Self).map_err(D::Error::custom)
    }
}
