//! The port of a worker. It checks and limits incoming data before they reach burn's server.
//!
//! burn-remote's server reads a first message of up to 1 GiB from anybody, keeps any number of connections open
//! for any time, and accepts requests from web pages. That cannot be changed. The server therefore listens on a
//! local port, and this module forwards what is within the limits. After the token is checked, bytes are
//! forwarded unchanged.

mod frames;
mod request;
mod sessions;

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use frames::Frames;
use request::{CROWDED, Refusal, Request, Route};
pub use sessions::Sessions;
use sessions::Standing;

/// The time that a client has to show its token.
const PATIENCE: Duration = Duration::from_secs(10);

/// The maximum size of a message before the token is checked, and of a request of another worker.
const MOST_UNCHECKED_BYTES: u64 = 64 * 1024;

/// The time before the listener tries again after an error.
const PAUSE: Duration = Duration::from_millis(50);

/// The size of the buffer for forwarded bytes.
const PIECE: usize = 64 * 1024;

/// The WebSocket answer to a second client that wants several devices: the refusal of a session in
/// burn-remote's protocol, `[{"InitRefused": {"NoSuchDevice": [0]}}, 0]`, and the end of the connection. A
/// worker always has a device, so no other refusal reports zero devices.
const BUSY: &[u8] =
    b"\x82\x1f\x92\x81\xabInitRefused\x81\xacNoSuchDevice\x91\x00\x00\x88\x02\x03\xe8";

/// Forwards connections to `listener` to the server at `server`, each in its own thread.
///
/// # Errors
///
/// If no thread can be started.
pub fn serve(
    listener: TcpListener,
    server: SocketAddr,
    sessions: Arc<Sessions>,
    prepare: fn(&TcpStream) -> io::Result<()>,
) -> io::Result<()> {
    let accept = move || {
        loop {
            let Ok((client, _)) = listener.accept() else {
                // Too many files may be open for a while.
                thread::sleep(PAUSE);
                continue;
            };
            let sessions = Arc::clone(&sessions);
            let attend = move || attend(client, server, &sessions, prepare);
            // If no thread can be started, the connection ends here.
            let _ = thread::Builder::new()
                .name("connection".into())
                .spawn(attend);
        }
    };
    thread::Builder::new()
        .name("worker port".into())
        .spawn(accept)?;
    Ok(())
}

/// Serves one connection until its end.
fn attend(
    mut client: TcpStream,
    server: SocketAddr,
    sessions: &Sessions,
    prepare: fn(&TcpStream) -> io::Result<()>,
) {
    let Some(number) = sessions.enter() else {
        refuse(&mut client, CROWDED);
        return;
    };
    // After an error, the connection ends, which the client notices.
    let _ = prepare(&client).and_then(|()| relay(&mut client, server, sessions, number));
    let _ = client.shutdown(Shutdown::Both);
    sessions.leave(number);
}

/// Tells a client why it is not served.
fn refuse(client: &mut TcpStream, refusal: Refusal) {
    let _ = client.set_write_timeout(Some(PATIENCE));
    let _ = client.write_all(refusal.response().as_bytes());
}

/// Reads the request of a client and forwards what follows in both directions.
fn relay(
    client: &mut TcpStream,
    server: SocketAddr,
    sessions: &Sessions,
    number: u64,
) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let (request, rest) = match read_request(client, deadline)? {
        Ok(request) => request,
        Err(refusal) => {
            refuse(client, refusal);
            return Ok(());
        }
    };
    let mut server = TcpStream::connect(server)?;
    for stream in [&*client, &server] {
        stream.set_nodelay(true)?;
    }
    sessions.connect(number, server.local_addr()?.port());
    server.write_all(request.to_server().as_bytes())?;
    let answers = (server.try_clone()?, client.try_clone()?);
    thread::scope(|scope| {
        let down = scope.spawn(|| pass_answers(answers, sessions, number));
        let up = Upward {
            route: request.route,
            frames: Frames::new(MOST_UNCHECKED_BYTES),
            deadline,
            sessions,
            number,
        };
        let passed = up.pass(client, &mut server, rest);
        // The server may finish sending, unless the client has broken a rule.
        let end = match passed {
            Ok(()) => Shutdown::Write,
            Err(_) => Shutdown::Both,
        };
        let _ = server.shutdown(end);
        let _ = down.join();
        passed
    })
}

/// Reads the request of a client. Also returns the bytes after it.
fn read_request(
    client: &mut TcpStream,
    deadline: Instant,
) -> io::Result<Result<(Request, Vec<u8>), Refusal>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    loop {
        wait_until(client, deadline)?;
        let count = client.read(&mut piece)?;
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&piece[..count]);
        match Request::parse(&bytes) {
            Ok(None) => {}
            Ok(Some((request, length))) => return Ok(Ok((request, bytes.split_off(length)))),
            Err(refusal) => return Ok(Err(refusal)),
        }
    }
}

/// Limits the time of the next read.
fn wait_until(client: &TcpStream, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(ErrorKind::TimedOut.into()),
        false => client.set_read_timeout(Some(left)),
    }
}

/// Forwards the answers of the server until it ends, and then ends the client's connection.
fn pass_answers(
    (mut server, mut client): (TcpStream, TcpStream),
    sessions: &Sessions,
    number: u64,
) {
    let mut piece = vec![0; PIECE];
    while let Ok(count @ 1..) = server.read(&mut piece) {
        // The server refuses this client, but cannot tell it why.
        if sessions.standing(number) == Standing::Busy {
            let _ = client.write_all(BUSY);
            break;
        }
        if client.write_all(&piece[..count]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
    let _ = client.shutdown(Shutdown::Both);
}

/// Forwards what a client sends.
struct Upward<'a> {
    route: Route,
    frames: Frames,
    deadline: Instant,
    sessions: &'a Sessions,
    number: u64,
}

impl Upward<'_> {
    /// Whether the time limit for the first message still applies.
    fn is_timed(&self) -> bool {
        match self.route {
            Route::Session => !self.is_admitted(),
            Route::Data => self.frames.messages() == 0,
        }
    }

    fn is_admitted(&self) -> bool {
        self.sessions.standing(self.number) == Standing::Admitted
    }

    /// Forwards everything, beginning with the bytes that were already read.
    fn pass(
        mut self,
        client: &mut TcpStream,
        server: &mut TcpStream,
        first: Vec<u8>,
    ) -> io::Result<()> {
        self.check(&first)?;
        server.write_all(&first)?;
        let mut piece = vec![0; PIECE];
        loop {
            match self.is_timed() {
                true => wait_until(client, self.deadline)?,
                false => client.set_read_timeout(None)?,
            }
            let count = match client.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                // The client may have been admitted in the meantime.
                Err(error) if is_time_out(&error) && !self.is_timed() => continue,
                Err(error) => return Err(error),
            };
            self.check(&piece[..count])?;
            server.write_all(&piece[..count])?;
        }
    }

    /// Requires small messages until the token is checked. Requests of workers must always be small.
    fn check(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.route == Route::Session && self.is_admitted() {
            return Ok(());
        }
        let followed = self.frames.follow(bytes);
        followed.map_err(|_| io::Error::other("the message is too large"))
    }
}

fn is_time_out(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests;
