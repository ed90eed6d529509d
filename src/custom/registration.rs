//! Configurations of components of other crates.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error as _},
    ser::{Error as _, SerializeMap},
};
use serde_json::{Map, Value};

/// A registered component of another crate: its name in configurations, and a way to read it.
pub struct Registration<Make: 'static> {
    name: &'static str,
    check: fn(&Fields) -> Result<(), String>,
    make: Make,
}

/// The fields of a configuration.
pub(crate) type Fields = Map<String, Value>;

impl<Make> Registration<Make> {
    /// Registers a component under `name`. `check` reports what is wrong with the fields of its
    /// configuration.
    pub(crate) const fn new(
        name: &'static str,
        check: fn(&Fields) -> Result<(), String>,
        make: Make,
    ) -> Self {
        Self { name, check, make }
    }
}

/// Reads a configuration.
///
/// # Errors
///
/// When a field is missing, unknown or of another type.
pub(crate) fn read<Config: DeserializeOwned>(fields: &Fields) -> Result<Config, String> {
    let config = Config::deserialize(Value::Object(fields.clone()));
    config.map_err(|error| error.to_string())
}

/// Reads a configuration that was checked before.
///
/// # Panics
///
/// If it cannot be read.
#[track_caller]
pub(crate) fn checked<Config: DeserializeOwned>(fields: &Fields) -> Config {
    match read(fields) {
        Ok(config) => config,
        Err(error) => panic!("cannot read a configuration that was checked before: {error}"),
    }
}

/// A kind of component that other crates can add to.
pub trait Kind: Sized + 'static {
    /// The name of the kind. In configurations, the field of this name holds the name of the
    /// component.
    const TAG: &'static str;
    /// The names of the components of this crate.
    const NAMES: &'static [&'static str];

    /// The registered components.
    fn registered() -> impl Iterator<Item = &'static Registration<Self>>;
}

/// The names of the components of this crate and of the registered ones.
pub(crate) fn names<Make: Kind>() -> impl Iterator<Item = &'static str> {
    let registered = Make::registered().map(|registration| registration.name);
    Make::NAMES.iter().copied().chain(registered)
}

/// The functions of all registered components.
pub(crate) fn registered<Make: Kind>() -> impl Iterator<Item = &'static Make> {
    Make::registered().map(|registration| &registration.make)
}

/// The configuration of a component of another crate.
pub struct CustomConfig<Make: 'static> {
    registration: &'static Registration<Make>,
    fields: Fields,
}

impl<Make: Kind> CustomConfig<Make> {
    /// The configuration of the component that is registered under `name`.
    ///
    /// # Panics
    ///
    /// If no component or several components have that name, or `config` is not a struct with named
    /// fields.
    #[track_caller]
    pub(crate) fn new(name: &str, config: &impl Serialize) -> Self {
        let fields = match serde_json::to_value(config) {
            Ok(Value::Object(fields)) => fields,
            Ok(Value::Null) => Fields::new(),
            other => panic!(
                "the configuration of the {} {name} is {other:?}; expected named fields",
                Make::TAG
            ),
        };
        match Self::find(name) {
            Ok(Some(registration)) => Self {
                registration,
                fields,
            },
            Ok(None) => panic!("no {} {name} is registered", Make::TAG),
            Err(reason) => panic!("{reason}"),
        }
    }

    /// The registered component with this name.
    fn find(name: &str) -> Result<Option<&'static Registration<Make>>, String> {
        let mut found = Make::registered().filter(|registration| registration.name == name);
        let first = found.next();
        match (first, found.next()) {
            (Some(_), Some(_)) => Err(format!("two {}s are registered as {name}", Make::TAG)),
            (Some(_), None) if Make::NAMES.contains(&name) => Err(format!(
                "a {} is registered as {name}, which is already the name of another",
                Make::TAG
            )),
            _ => Ok(first),
        }
    }

    /// The name of the component.
    pub fn name(&self) -> &'static str {
        self.registration.name
    }

    /// The functions of the registration, and the fields they take.
    pub(crate) fn parts(&self) -> (&'static Make, &Fields) {
        (&self.registration.make, &self.fields)
    }

    /// Checks the fields.
    ///
    /// # Errors
    ///
    /// The reason, if a value is out of range.
    pub(crate) fn check(&self) -> Result<(), String> {
        (self.registration.check)(&self.fields)
    }

    /// Serializes the fields after the name.
    pub(crate) fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1 + self.fields.len()))?;
        map.serialize_entry(Make::TAG, self.registration.name)?;
        for (name, value) in &self.fields {
            if name == Make::TAG {
                return Err(S::Error::custom(format!("no field may be named {name}")));
            }
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Reads the configuration of a component: with `own` for those of this crate, and by name for
/// registered ones.
///
/// # Errors
///
/// When a field is missing, unknown or of another type, or there is no such component.
pub(crate) fn deserialize<
    'de,
    D: Deserializer<'de>,
    Make: Kind,
    Config: From<CustomConfig<Make>>,
>(
    deserializer: D,
    own: fn(Value) -> Result<Config, serde_json::Error>,
) -> Result<Config, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let name = value.get(Make::TAG).and_then(Value::as_str);
    let registration = match name.map(CustomConfig::<Make>::find) {
        Some(found) => found.map_err(D::Error::custom)?,
        None => None,
    };
    match (registration, value) {
        (Some(registration), Value::Object(mut fields)) => {
            fields.remove(Make::TAG);
            (registration.check)(&fields).map_err(D::Error::custom)?;
            Ok(CustomConfig {
                registration,
                fields,
            }
            .into())
        }
        (_, value) => own(value).map_err(D::Error::custom),
    }
}

impl<Make> Clone for CustomConfig<Make> {
    fn clone(&self) -> Self {
        Self {
            registration: self.registration,
            fields: self.fields.clone(),
        }
    }
}

impl<Make> PartialEq for CustomConfig<Make> {
    fn eq(&self, other: &Self) -> bool {
        self.registration.name == other.registration.name && self.fields == other.fields
    }
}

impl<Make> fmt::Debug for CustomConfig<Make> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:?}", self.registration.name, self.fields)
    }
}

/// Makes a kind of component extensible by other crates: collects the registrations, and creates,
/// reads and writes the configurations of registered components.
macro_rules! kind {
    ($tag:literal, $config:ident, $functions:ident, $definition:ident, $register:literal) => {
        $crate::custom::inventory::collect!($crate::custom::Registration<$functions>);

        impl $crate::custom::Kind for $functions {
            const TAG: &'static str = $tag;
            const NAMES: &'static [&'static str] = $config::NAMES;

            fn registered() -> impl Iterator<Item = &'static $crate::custom::Registration<Self>> {
                $crate::custom::inventory::iter::<$crate::custom::Registration<Self>>.into_iter()
            }
        }

        impl $config {
            #[doc = concat!("The configuration of a ", $tag, " of another crate.")]
            ///
            /// # Panics
            ///
            #[doc = concat!("If it is not registered ([`", $register, "!`](crate::", $register, ")),")]
            /// or its name is taken.
            #[track_caller]
            pub fn custom<D: $definition>(definition: D) -> Self {
                Self::Custom($crate::custom::CustomConfig::new(D::NAME, &definition))
            }

            #[doc = concat!("The names of every ", $tag, ": those of this crate, and those that are")]
            /// registered.
            pub fn names() -> impl Iterator<Item = &'static str> {
                $crate::custom::names::<$functions>()
            }
        }

        impl From<$crate::custom::CustomConfig<$functions>> for $config {
            fn from(config: $crate::custom::CustomConfig<$functions>) -> Self {
                Self::Custom(config)
            }
        }

        /// Components of other crates are read by their registered names.
        impl<'de> serde::Deserialize<'de> for $config {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::custom::deserialize(deserializer, Self::deserialize)
            }
        }

        impl serde::Serialize for $config {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Self::Custom(config) => config.serialize(serializer),
                    own => Self::serialize(own, serializer),
                }
            }
        }
    };
}

pub(crate) use kind;
