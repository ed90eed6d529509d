//! `burn-gp worker`.

use std::net::SocketAddr;

use clap::Args;

use crate::arguments::DeviceName;
use crate::failure::Failure;
#[cfg(not(feature = "remote"))]
use crate::option_error::OptionError;

/// The arguments of `worker`.
#[derive(Debug, Args)]
pub struct WorkerArguments {
    /// Devices to serve, separated by commas; `burn-gp devices` lists the devices and marks the default
    #[arg(long, value_name = "DEVICE", value_delimiter = ',')]
    device: Vec<DeviceName>,
    /// Address and port to listen on; port 0 chooses a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7777")]
    listen: SocketAddr,
}

/// Serves the devices until Ctrl-C.
///
/// # Errors
///
/// If a device is missing or the worker cannot listen.
#[cfg(feature = "remote")]
pub fn work(arguments: &WorkerArguments) -> Result<(), Failure> {
    serving::serve(&arguments.device, arguments.listen)
}

/// Fails, because the program was built without the feature.
///
/// # Errors
///
/// Always.
#[cfg(not(feature = "remote"))]
pub fn work(_: &WorkerArguments) -> Result<(), Failure> {
    Err(not_built().into())
}

/// The error of a program that was built without workers.
#[cfg(not(feature = "remote"))]
pub fn not_built() -> OptionError {
    OptionError::DeviceNotBuilt("remote".to_owned())
}

#[cfg(feature = "remote")]
mod serving {
    use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
    use std::sync::Arc;
    use std::time::Duration;

    use burn::server::{
        AuthorizationRequest, ClientId, Credential, PeerAuthorizer, ServeError, TokenAuthorizer,
        WebSocketTransport,
    };
    use burn::tensor::{DType, Device};
    use burn_gp_core::ops::remote_server;
    use socket2::{SockRef, TcpKeepalive};

    use crate::arguments::DeviceName;
    use crate::devices::front::{self, Sessions};
    use crate::devices::{default_device, found::details, open, remote::token};
    use crate::failure::Failure;
    use crate::option_error::OptionError;
    use crate::standard_output::print;

    /// The idle time before a connection is tested, and the time between further tests, as in burn's server.
    const KEEPALIVE: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(5)];

    /// Serves devices, or the default device, at an address.
    pub fn serve(names: &[DeviceName], address: SocketAddr) -> Result<(), Failure> {
        let names = match names {
            [] => vec![default_device()?],
            names => names.to_vec(),
        };
        let devices = names.iter().map(|name| open(name, DType::F32));
        let devices: Vec<Device> = devices.collect::<Result<_, _>>()?;
        let token = token();
        if token.is_none() && !address.ip().is_loopback() {
            let (port, address) = (address.port(), address.to_string());
            return Err(OptionError::OpenWorker { address, port }.into());
        }
        let refused = |error: &dyn std::error::Error| OptionError::Listen {
            address: address.to_string(),
            reason: error.to_string(),
        };
        let listener = TcpListener::bind(address).map_err(|error| refused(&error))?;
        let bound = listener.local_addr().map_err(|error| refused(&error))?;
        let inner = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| refused(&error))?;
        let inner_address = inner.local_addr().map_err(|error| refused(&error))?;
        let sessions = Arc::new(Sessions::new(devices.len()));
        let server = remote_server(devices.clone())
            .with_authorizer(authorizer(token, Arc::clone(&sessions)));
        for (index, (name, device)) in names.iter().zip(&devices).enumerate() {
            let address = bound.to_string();
            let remote = DeviceName::Remote { address, index };
            print(&format!(
                "{name} ({}) is --device {remote}\n",
                details(name, device)
            ))?;
        }
        front::serve(listener, inner_address, sessions, keep_alive)
            .map_err(|error| refused(&error))?;
        // `serve` would log every tensor that workers exchange.
        let served = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| refused(&error))?
            .block_on(server.serve_async(WebSocketTransport::from_listener(inner)));
        served.map_err(|error| match error {
            ServeError::MixedBackends => OptionError::MixedDevices.into(),
            error => refused(&error).into(),
        })
    }

    /// Admits clients that came through the worker's own port and have the token, if there is one.
    fn authorizer(
        token: Option<String>,
        sessions: Arc<Sessions>,
    ) -> impl Fn(AuthorizationRequest<'_>) -> Result<(), String> + Send + Sync {
        // An empty token means no token.
        let tokens = token.and_then(|token| TokenAuthorizer::new(token).ok());
        move |request: AuthorizationRequest<'_>| {
            let ClientId::WebSocket(address) = request.client else {
                return Err("it did not come by WebSocket".to_owned());
            };
            let check = |token: &[u8]| match &tokens {
                Some(tokens) => tokens.authorize(AuthorizationRequest {
                    credential: &Credential::from(token),
                    ..request
                }),
                None => Ok(()),
            };
            sessions.authorize(address.port(), request.credential.as_bytes(), check)
        }
    }

    /// Detects clients that vanish without closing the connection.
    fn keep_alive(client: &TcpStream) -> std::io::Result<()> {
        let [time, interval] = KEEPALIVE;
        let keepalive = TcpKeepalive::new().with_time(time).with_interval(interval);
        SockRef::from(client).set_tcp_keepalive(&keepalive)
    }
}
