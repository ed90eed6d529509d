//! Devices of workers.

use std::collections::hash_map::RandomState;
use std::env;
use std::hash::BuildHasher;
use std::sync::LazyLock;

use burn::{
    remote::{ConnectError, RemoteHost},
    tensor::Device,
};

use crate::option_error::{OptionError, TOKEN_VARIABLE};

/// The name of this program for workers, by which they recognize the sessions of one client.
static NAME: LazyLock<String> = LazyLock::new(|| {
    // The standard library seeds hash maps at random.
    let random = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", random(), random())
});

/// Connects to a device of a worker.
///
/// # Errors
///
/// If there is no worker, or it refuses this program, or it does not have the device.
pub fn connect(address: &str, index: usize) -> Result<Device, OptionError> {
    let open = |credential: &str| {
        let host = RemoteHost::websocket(&format!("ws://{address}")).with_credential(credential);
        Device::remote_options(&host).device_index(index).init()
    };
    let token = token().unwrap_or_default();
    let device = match open(&format!("{}\n{token}", *NAME)) {
        // Servers other than `burn-gp worker` expect only the token.
        Err(ConnectError::Unauthorized) => open(&token),
        device => device,
    };
    device.map_err(|error| {
        let address = address.to_owned();
        match error {
            ConnectError::Unauthorized => OptionError::WrongToken(address),
            ConnectError::NoSuchDevice { device_count: 0 } => OptionError::WorkerBusy(address),
            ConnectError::NoSuchDevice { device_count } => OptionError::WorkerDeviceMissing {
                address,
                index,
                count: device_count,
            },
            error
            @ (ConnectError::IncompatibleProtocol { .. } | ConnectError::Handshake { .. }) => {
                OptionError::OtherWorker {
                    address,
                    reason: error.to_string(),
                }
            }
            error => OptionError::NoWorker {
                address,
                reason: error.to_string(),
            },
        }
    })
}

/// The secret that a worker and its clients share, if there is any.
pub fn token() -> Option<String> {
    env::var(TOKEN_VARIABLE)
        .ok()
        .filter(|token| !token.is_empty())
}
