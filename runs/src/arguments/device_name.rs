//! The name of a device: its backend, and which of several devices it is.

use std::{fmt, str::FromStr};

use clap::ValueEnum;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{BackendName, name_of};

/// A device: a backend, and the number of the device among those that the backend finds on this
/// machine. `wgpu` is the first, `wgpu:1` the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceName {
    /// The backend.
    pub backend: BackendName,
    /// The zero-based number of the device.
    pub index: usize,
}

impl From<BackendName> for DeviceName {
    fn from(backend: BackendName) -> Self {
        Self { backend, index: 0 }
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&name_of(self.backend))?;
        match self.index {
            0 => Ok(()),
            index => write!(formatter, ":{index}"),
        }
    }
}

/// A text that names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected {}; a GPU other than the first has its number behind it, as in wgpu:1",
    names()
)]
pub struct NoDeviceName;

fn names() -> String {
    let names: Vec<String> = BackendName::value_variants()
        .iter()
        .copied()
        .map(name_of)
        .collect();
    match names.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

impl FromStr for DeviceName {
    type Err = NoDeviceName;

    fn from_str(text: &str) -> Result<Self, NoDeviceName> {
        let (backend, index) = match text.split_once(':') {
            Some((backend, index)) => (backend, index.parse().map_err(|_| NoDeviceName)?),
            None => (text, 0),
        };
        let backend = BackendName::from_str(backend, false).map_err(|_| NoDeviceName)?;
        match index {
            1.. if !backend.is_gpu() => Err(NoDeviceName),
            _ => Ok(Self { backend, index }),
        }
    }
}

impl Serialize for DeviceName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DeviceName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse()
            .map_err(|error| D::Error::custom(format!("{text:?}: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        for (text, backend, index) in [
            ("flex", BackendName::Flex, 0),
            ("wgpu", BackendName::Wgpu, 0),
            ("wgpu:1", BackendName::Wgpu, 1),
            ("cuda:12", BackendName::Cuda, 12),
        ] {
            let name = DeviceName { backend, index };
            assert_eq!(text.parse(), Ok(name));
            assert_eq!(name.to_string(), text);
        }
        assert_eq!("rocm:0".parse(), Ok(DeviceName::from(BackendName::Rocm)));
    }

    #[test]
    fn other_texts_are_refused_with_the_names() {
        for text in ["tpu", "wgpu:", "wgpu:-1", "wgpu:one", "flex:1", ""] {
            let error = text.parse::<DeviceName>().expect_err(text);
            let message = error.to_string();
            assert!(message.contains("flex, ndarray, wgpu"), "{message}");
            assert!(message.contains("wgpu:1"), "{message}");
        }
    }
}
