//! The name of a device: a backend and the number of its device, or the address of a worker.

use std::{fmt, str::FromStr};

use clap::ValueEnum;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{BackendName, name_of};

/// The scheme of the devices of workers.
const REMOTE: &str = "remote://";

/// A device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceName {
    /// A device of this machine. `wgpu` is the first device of its backend, `wgpu:1` the second.
    Local {
        /// The backend.
        backend: BackendName,
        /// The zero-based number of the device among those that the backend finds.
        index: usize,
    },
    /// A device of a worker. `remote://host:7777` is its first device, `remote://host:7777/1` its second.
    Remote {
        /// The worker's host and port.
        address: String,
        /// The zero-based number of the device among those of the worker.
        index: usize,
    },
}

impl DeviceName {
    /// Whether the device is a GPU of this machine.
    pub fn is_local_gpu(&self) -> bool {
        matches!(self, Self::Local { backend, .. } if backend.is_gpu())
    }
}

impl From<BackendName> for DeviceName {
    fn from(backend: BackendName) -> Self {
        Self::Local { backend, index: 0 }
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (separator, index) = match self {
            Self::Local { backend, index } => {
                formatter.write_str(&name_of(*backend))?;
                (':', *index)
            }
            Self::Remote { address, index } => {
                write!(formatter, "{REMOTE}{address}")?;
                ('/', *index)
            }
        };
        match index {
            0 => Ok(()),
            index => write!(formatter, "{separator}{index}"),
        }
    }
}

/// A text that is not the name of a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDeviceName {
    /// The text is not the name of a device of this machine.
    #[error(
        "expected {}; append :N to choose a GPU, for example wgpu:1; the device of a worker is \
         remote://HOST:PORT",
        names()
    )]
    Local,
    /// The text is not the address of a worker.
    #[error(
        "expected the host and the port of a worker, for example remote://localhost:7777; append /N to \
         choose one of its devices, for example remote://localhost:7777/1"
    )]
    Remote,
}

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
        if let Some(rest) = text.strip_prefix(REMOTE) {
            return remote(rest).ok_or(NoDeviceName::Remote);
        }
        let (backend, index) = match text.split_once(':') {
            Some((backend, index)) => {
                let index = index.parse().map_err(|_| NoDeviceName::Local)?;
                (backend, index)
            }
            None => (text, 0),
        };
        let backend = BackendName::from_str(backend, false).map_err(|_| NoDeviceName::Local)?;
        match index {
            1.. if !backend.is_gpu() => Err(NoDeviceName::Local),
            _ => Ok(Self::Local { backend, index }),
        }
    }
}

/// Parses `HOST:PORT` or `HOST:PORT/INDEX`.
fn remote(text: &str) -> Option<DeviceName> {
    let (address, index) = match text.split_once('/') {
        Some((address, index)) => (address, index.parse().ok()?),
        None => (text, 0),
    };
    let (host, port) = address.rsplit_once(':')?;
    let is_address = !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0);
    is_address.then(|| DeviceName::Remote {
        address: address.to_owned(),
        index,
    })
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
            let name = DeviceName::Local { backend, index };
            assert_eq!(name.to_string(), text);
            assert_eq!(text.parse(), Ok(name));
        }
        assert_eq!("rocm:0".parse(), Ok(DeviceName::from(BackendName::Rocm)));
        for (text, address, index) in [
            ("remote://localhost:7777", "localhost:7777", 0),
            ("remote://10.0.0.2:80/3", "10.0.0.2:80", 3),
            ("remote://[::1]:7777", "[::1]:7777", 0),
        ] {
            let address = address.to_owned();
            let name = DeviceName::Remote { address, index };
            assert_eq!(name.to_string(), text);
            assert_eq!(text.parse(), Ok(name));
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_names() {
        for text in ["tpu", "wgpu:", "wgpu:-1", "wgpu:one", "flex:1", ""] {
            let error = text.parse::<DeviceName>().expect_err(text);
            let message = error.to_string();
            assert!(message.contains("flex, ndarray, wgpu"), "{message}");
            assert!(message.contains("wgpu:1"), "{message}");
        }
        for text in [
            "remote://",
            "remote://host",
            "remote://:7777",
            "remote://host:0",
            "remote://host:port",
            "remote://host:7777/first",
        ] {
            let error = text.parse::<DeviceName>().expect_err(text);
            assert_eq!(error, NoDeviceName::Remote, "{text}");
        }
    }
}
