//! Devices that workers serve.

use std::env;

use burn::{
    remote::{ConnectError, RemoteHost},
    tensor::Device,
};

use crate::setting_error::{SettingError, TOKEN_VARIABLE};

/// Connects a device of a worker.
///
/// # Errors
///
/// If there is no worker, or it does not serve this program or the device.
pub fn connect(address: &str, index: usize) -> Result<Device, SettingError> {
    let mut host = RemoteHost::websocket(&format!("ws://{address}"));
    if let Some(token) = token() {
        host = host.with_credential(token);
    }
    let device = Device::remote_options(&host).device_index(index).init();
    device.map_err(|error| {
        let address = address.to_owned();
        match error {
            ConnectError::Unauthorized => SettingError::WrongToken { address },
            ConnectError::NoSuchDevice { device_count } => SettingError::WorkerDeviceMissing {
                address,
                index,
                count: device_count,
            },
            error
            @ (ConnectError::IncompatibleProtocol { .. } | ConnectError::Handshake { .. }) => {
                SettingError::OtherWorker {
                    address,
                    reason: error.to_string(),
                }
            }
            error => SettingError::NoWorker {
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
