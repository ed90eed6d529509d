//! Operations on the devices of another process or machine (burn's feature `remote`).
//!
//! The client sends an operation with the ids of its tensors, its other arguments as numbers, and the shapes
//! of its results, which the client computes itself. The server has a handler for each operation, which runs
//! it on the server's own backend. The client never waits for the server, except to read values.

mod numbers;
mod outputs;
mod received;
mod sent;

use burn::{
    backend::{DispatchDevice, Remote, ir::BackendIr, tensor::FloatTensor as Tensor},
    server::RemoteServer,
    tensor::Device,
};

use super::signatures::{names::*, signatures};
use outputs::{
    column_sums, columns, gram, like, log_density, matrices, members, moments, outer,
    product_gradients, rows, status, vector, wanted_of,
};
use received::{Argument, ReceivedCall, Results};
use sent::{Call, Returned, Sent};

/// The name of an operation in a message.
macro_rules! name {
    ($name:ident) => {
        concat!("burn_gp::", stringify!($name))
    };
}

/// Implements the traits of operations for remote devices: each is sent to the server.
macro_rules! client {
    ($($ops:ident {
        $($name:ident($($argument:ident: $type:ty),* $(,)?) -> $output:ty => $outputs:expr;)*
    })*) => {$(
        impl $ops for Remote {
            $(fn $name($($argument: $type),*) -> $output {
                #[allow(unused_variables, reason = "shapes depend on some arguments only")]
                let outputs = {
                    $(let $argument = &$argument;)*
                    $outputs
                };
                let mut call = Call::default();
                $($argument.append_to(&mut call);)*
                let mut tensors = call.send(name!($name), <$output as Returned<_>>::list(&outputs));
                <$output as Returned<_>>::take(&outputs, &mut tensors)
            })*
        }
    )*};
}
signatures!(client);

/// A backend that runs the operations of clients.
trait Serve: BackendIr {
    /// Adds a handler for every operation.
    fn serve(server: RemoteServer) -> RemoteServer;
}

/// Implements [`Serve`] for the backends that have all operations.
macro_rules! handlers {
    ($($ops:ident {
        $($name:ident($($argument:ident: $type:ty),* $(,)?) -> $output:ty => $outputs:expr;)*
    })*) => {
        impl<B: BackendIr $(+ $ops)*> Serve for B {
            fn serve(server: RemoteServer) -> RemoteServer {
                $($(let server = server.with_custom_op::<Self, _>(name!($name), |handles, call, _| {
                    let mut call = ReceivedCall::<Self>::new(handles, call);
                    $(let $argument = <$type as Argument<Self, _>>::receive(&mut call);)*
                    let results = <Self as $ops>::$name($($argument),*);
                    <$output as Results<Self, _>>::give_to(results, &mut call);
                });)*)*
                server
            }
        }
    };
}
signatures!(handlers);

/// A server that runs burn's operations and all of this library on its devices, for clients in
/// other processes or on other machines. A client uses a device of the server like any other:
///
/// ```no_run
/// use burn::{
///     remote::RemoteHost,
///     server::WebSocketTransport,
///     tensor::Device,
/// };
/// use burn_gp_core::ops::remote_server;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // One process:
/// remote_server([Device::flex()]).serve(WebSocketTransport::new(7777))?;
/// // Another, which trains there:
/// let device = Device::remote_options(&RemoteHost::websocket("ws://host:7777")).init()?;
/// # Ok(())
/// # }
/// ```
///
/// All devices must belong to one backend. WebSocket connections are unencrypted: serve over them only in
/// trusted networks and with an authorizer.
pub fn remote_server(devices: impl IntoIterator<Item = Device>) -> RemoteServer {
    let devices: Vec<Device> = devices.into_iter().collect();
    let first = devices
        .first()
        .map(|device| device.clone().without_autodiff());
    let server = RemoteServer::new(devices);
    match first.as_ref().map(Device::as_dispatch) {
        #[cfg(feature = "flex")]
        Some(DispatchDevice::Flex(_)) => <burn::backend::Flex as Serve>::serve(server),
        #[cfg(feature = "ndarray")]
        Some(DispatchDevice::NdArray(_)) => <burn::backend::NdArray as Serve>::serve(server),
        #[cfg(feature = "cube")]
        Some(DispatchDevice::Cube(_)) => <burn::backend::Cube as Serve>::serve(server),
        // Serving reports errors such as an empty list of devices or devices that it does not support.
        _ => server,
    }
}
