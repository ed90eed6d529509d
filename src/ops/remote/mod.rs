//! Operations on the devices of another process or machine (burn's feature `remote`).
//!
//! The client sends an operation with the ids of its tensors, its other arguments as numbers, and the shapes
//! of its results, which the client computes itself. The server has a handler for each operation, which runs
//! it on the server's own backend. The client never waits for the server, except to read values.

mod numbers;
mod received;
mod sent;
pub mod shapes;

use burn::{backend::DispatchDevice, server::RemoteServer, tensor::Device};

pub use numbers::Numbers;
pub(super) use numbers::sent_as_numbers;
pub use received::{ReceivedCall, give};
pub use sent::Call;

/// Adds a handler for every operation of a trait to a server.
type AddHandlers = fn(RemoteServer) -> RemoteServer;

/// The handlers of the operations of a trait, for the backends that a server may have.
pub struct Handlers {
    #[cfg(feature = "flex")]
    pub flex: AddHandlers,
    #[cfg(feature = "ndarray")]
    pub ndarray: AddHandlers,
    #[cfg(feature = "cube")]
    pub cube: AddHandlers,
}

inventory::collect!(Handlers);

/// Implements the trait of [operations](super::declaration) for remote devices, where each is sent to the server,
/// and registers the server's handlers.
macro_rules! remote_operations {
    ($ops:ident {$(
        $name:ident($([$($saved:ident),+],)? $($tensor:ident),+ $(; $($other:ident: $type:ty),+)?)
            -> [$($output:tt)+] = $shapes:expr;
    )+}) => {
        const _: () = {
            #[allow(unused_imports, reason = "not every operation needs all functions")]
            use crate::ops::remote::shapes::*;
            use crate::ops::remote::{Call, Handlers, ReceivedCall, give};
            use burn::{
                backend::{Remote, ir::BackendIr, tensor::FloatTensor},
                server::RemoteServer,
            };

            impl $ops for Remote {
                $(fn $name(
                    $(saved: [FloatTensor<Self>; [$(stringify!($saved)),+].len()],)?
                    $($tensor: FloatTensor<Self>,)+
                    $($($other: $type),+)?
                ) -> $($output)+ {
                    $(let [$($saved),+] = saved;)?
                    #[allow(unused_variables, reason = "shapes depend on some arguments only")]
                    let outputs = {
                        $($(let $saved = &$saved;)+)?
                        $(let $tensor = &$tensor;)+
                        $shapes
                    };
                    let mut call = Call::default();
                    $($(call.tensor($saved);)+)?
                    $(call.tensor($tensor);)+
                    $($(call.numbers($other);)+)?
                    call.send(concat!("burn_gp::", stringify!($name)), &outputs)
                })+
            }

            fn serve<B: BackendIr + $ops>(server: RemoteServer) -> RemoteServer {
                $(let server = server.with_custom_op::<B, _>(
                    concat!("burn_gp::", stringify!($name)),
                    |handles, call, _| {
                        let mut call = ReceivedCall::<B>::new(handles, call);
                        $($(let $saved = call.tensor();)+)?
                        $(let $tensor = call.tensor();)+
                        $($(let $other: $type = call.numbers();)+)?
                        let results = <B as $ops>::$name(
                            $([$($saved),+],)? $($tensor,)+ $($($other),+)?
                        );
                        give(results, &mut call);
                    },
                );)+
                server
            }

            inventory::submit!(Handlers {
                #[cfg(feature = "flex")]
                flex: serve::<burn::backend::Flex>,
                #[cfg(feature = "ndarray")]
                ndarray: serve::<burn::backend::NdArray>,
                #[cfg(feature = "cube")]
                cube: serve::<burn::backend::Cube>,
            });
        };
    };
}
pub(super) use remote_operations;

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
    let add: fn(&Handlers) -> AddHandlers = match first.as_ref().map(Device::as_dispatch) {
        #[cfg(feature = "flex")]
        Some(DispatchDevice::Flex(_)) => |handlers| handlers.flex,
        #[cfg(feature = "ndarray")]
        Some(DispatchDevice::NdArray(_)) => |handlers| handlers.ndarray,
        #[cfg(feature = "cube")]
        Some(DispatchDevice::Cube(_)) => |handlers| handlers.cube,
        // Serving reports errors such as an empty list of devices or devices that it does not support.
        _ => return server,
    };
    (inventory::iter::<Handlers>.into_iter()).fold(server, |server, handlers| add(handlers)(server))
}
