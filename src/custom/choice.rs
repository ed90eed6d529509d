//! Components chosen by name.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A component that can be chosen by name, for example on a command line. It is stored as that
/// name.
#[derive(Clone, Copy, Debug)]
pub struct Choice<Make> {
    /// The name.
    pub name: &'static str,
    /// A line of help.
    pub help: &'static str,
    /// The configuration, or a function that makes it.
    pub make: Make,
}

/// A kind of component that can be chosen by name.
pub trait Choices: Copy + 'static {
    /// The components of this crate and the registered ones.
    fn choices() -> impl Iterator<Item = Choice<Self>>;
}

impl<Make> Choice<Make> {
    pub(crate) const fn new(name: &'static str, help: &'static str, make: Make) -> Self {
        Self { name, help, make }
    }
}

impl<Make: Choices> Choice<Make> {
    /// Every choice.
    pub fn all() -> impl Iterator<Item = Self> {
        Make::choices()
    }

    /// The component with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::all().find(|choice| choice.name == name)
    }
}

/// Compares the names, because functions cannot be compared.
impl<Make> PartialEq for Choice<Make> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<Make> Serialize for Choice<Make> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de, Make: Choices> Deserialize<'de> for Choice<Make> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::find(&name).ok_or_else(|| {
            let names: Vec<String> = Self::all()
                .map(|choice| format!("`{}`", choice.name))
                .collect();
            let names = names.join(", ");
            D::Error::custom(format!("unknown variant `{name}`, expected one of {names}"))
        })
    }
}
