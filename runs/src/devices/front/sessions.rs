//! Who may use a worker.
//!
//! In burn-remote, every client numbers its transfers between devices of one worker from zero, and the server
//! identifies a transfer only by its number. Two clients that both move tensors between devices of a worker
//! could receive each other's tensors. Therefore only one client at a time may use several devices. Clients
//! that use a single device make no such transfers.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The length of a client's name.
pub const NAME_LENGTH: usize = 32;

/// The maximum number of open connections.
const MOST: usize = 256;

/// The maximum number of open connections without a checked token, which include those of other workers.
const MOST_UNCHECKED: usize = 64;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its token is not checked yet.
    Unchecked,
    /// It may compute.
    Admitted,
    /// It was refused, because another client uses several devices.
    Busy,
}

#[derive(Debug)]
struct Connection {
    standing: Standing,
    /// The local port of its connection to the server.
    port: Option<u16>,
    /// The name of its client, if it gave one.
    client: Option<Vec<u8>>,
}

/// The connections of a worker.
#[derive(Debug)]
pub struct Sessions {
    /// Whether the worker serves several devices.
    has_several_devices: bool,
    connections: Mutex<Connections>,
}

#[derive(Debug, Default)]
struct Connections {
    next: u64,
    open: BTreeMap<u64, Connection>,
}

impl Sessions {
    /// The connections of a worker with this many devices.
    pub fn new(devices: usize) -> Self {
        Self {
            has_several_devices: devices > 1,
            connections: Mutex::default(),
        }
    }

    /// Locks the connections. A lock poisoned by a panic is usable, because no change is made in several steps.
    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection and returns its number; `None` if there are too many.
    pub fn enter(&self) -> Option<u64> {
        let mut connections = self.connections();
        let open = &connections.open;
        let unchecked = |connection: &&Connection| connection.standing != Standing::Admitted;
        let waiting = open.values().filter(unchecked).count();
        if open.len() >= MOST || waiting >= MOST_UNCHECKED {
            return None;
        }
        let number = connections.next;
        connections.next += 1;
        let connection = Connection {
            standing: Standing::Unchecked,
            port: None,
            client: None,
        };
        connections.open.insert(number, connection);
        Some(number)
    }

    /// Records the local port from which a connection reaches the server.
    pub fn connect(&self, number: u64, port: u16) {
        if let Some(connection) = self.connections().open.get_mut(&number) {
            connection.port = Some(port);
        }
    }

    /// The state of a connection.
    pub fn standing(&self, number: u64) -> Standing {
        let connections = self.connections();
        let connection = connections.open.get(&number);
        connection.map_or(Standing::Unchecked, |connection| connection.standing)
    }

    /// Ends a connection.
    pub fn leave(&self, number: u64) {
        self.connections().open.remove(&number);
    }

    /// Admits or refuses the client at a local port. Its credential is its name in [`NAME_LENGTH`] hexadecimal
    /// digits, a line feed and the token, or only the token.
    ///
    /// # Errors
    ///
    /// The reason why the client is not served.
    pub fn authorize(
        &self,
        port: u16,
        credential: &[u8],
        check: impl FnOnce(&[u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        let (client, token) = divided(credential);
        let mut connections = self.connections();
        let Connections { open, .. } = &mut *connections;
        let number = (open.iter())
            .find(|(_, connection)| connection.port == Some(port))
            .map(|(&number, _)| number)
            .ok_or("it did not come through the worker's own port")?;
        check(token)?;
        let is_busy = self.has_several_devices && would_share(open, client);
        let connection = open.get_mut(&number).ok_or("it has ended")?;
        connection.client = client.map(<[u8]>::to_vec);
        if is_busy {
            connection.standing = Standing::Busy;
            return Err("another client uses several devices".to_owned());
        }
        connection.standing = Standing::Admitted;
        Ok(())
    }
}

/// Whether two clients could use several devices after one more session of `client`. Sessions without a name
/// may belong to any client, so two of them count as one client with several devices.
fn would_share(open: &BTreeMap<u64, Connection>, client: Option<&[u8]>) -> bool {
    let mut sessions: BTreeMap<Option<&[u8]>, usize> = BTreeMap::new();
    let admitted = |connection: &&Connection| connection.standing == Standing::Admitted;
    for connection in open.values().filter(admitted) {
        *sessions.entry(connection.client.as_deref()).or_default() += 1;
    }
    if !sessions.contains_key(&client) {
        return false;
    }
    let mut others = sessions.iter().filter(|(other, _)| **other != client);
    client.is_none() || others.any(|(_, &count)| count > 1)
}

/// Splits a credential into the name of the client and the token.
fn divided(credential: &[u8]) -> (Option<&[u8]>, &[u8]) {
    match credential.split_at_checked(NAME_LENGTH) {
        Some((name, [b'\n', token @ ..])) if name.iter().all(u8::is_ascii_hexdigit) => {
            (Some(name), token)
        }
        _ => (None, credential),
    }
}

#[cfg(test)]
impl Sessions {
    /// The state of the connection from a local port.
    pub fn standing_of(&self, port: u16) -> Option<Standing> {
        let connections = self.connections();
        let mut open = connections.open.values();
        let connection = open.find(|connection| connection.port == Some(port))?;
        Some(connection.standing)
    }

    /// The number of connections.
    pub fn count(&self) -> usize {
        self.connections().open.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(token: &[u8]) -> Result<(), String> {
        match token {
            b"secret" => Ok(()),
            _ => Err("wrong token".to_owned()),
        }
    }

    /// Adds a connection of a client, which is named by a digit or has no name.
    fn join(sessions: &Sessions, client: Option<char>) -> (u64, Standing) {
        let number = sessions.enter().expect("room");
        let port = 1000 + number as u16;
        sessions.connect(number, port);
        let credential = match client {
            Some(digit) => format!("{}\nsecret", digit.to_string().repeat(NAME_LENGTH)),
            None => "secret".to_owned(),
        };
        let admitted = sessions.authorize(port, credential.as_bytes(), check);
        let standing = sessions.standing(number);
        assert_eq!(admitted.is_ok(), standing == Standing::Admitted);
        (number, standing)
    }

    #[test]
    fn one_client_at_a_time_uses_several_devices() {
        use Standing::{Admitted, Busy};
        let sessions = Sessions::new(3);
        let (first, second) = (join(&sessions, Some('a')), join(&sessions, Some('a')));
        assert_eq!((first.1, second.1), (Admitted, Admitted));
        // Another client may use one device, but not two.
        let other = join(&sessions, Some('b'));
        assert_eq!(other.1, Admitted);
        let busy = join(&sessions, Some('b'));
        assert_eq!(busy.1, Busy);
        sessions.leave(busy.0);
        // The first client can use more devices.
        assert_eq!(join(&sessions, Some('a')).1, Admitted);
        // The same holds for a third client.
        assert_eq!(join(&sessions, Some('c')).1, Admitted);
        assert_eq!(join(&sessions, Some('c')).1, Busy);
    }

    #[test]
    fn the_next_client_follows_when_the_first_has_left() {
        let sessions = Sessions::new(2);
        let (first, second) = (join(&sessions, Some('a')), join(&sessions, Some('a')));
        join(&sessions, Some('b'));
        assert_eq!(join(&sessions, Some('b')).1, Standing::Busy);
        sessions.leave(second.0);
        assert_eq!(join(&sessions, Some('b')).1, Standing::Admitted);
        assert_eq!(join(&sessions, Some('a')).1, Standing::Busy);
        sessions.leave(first.0);
    }

    #[test]
    fn clients_without_names_could_be_one() {
        let sessions = Sessions::new(2);
        assert_eq!(join(&sessions, None).1, Standing::Admitted);
        assert_eq!(join(&sessions, None).1, Standing::Busy);
        assert_eq!(join(&sessions, Some('a')).1, Standing::Admitted);
        assert_eq!(join(&sessions, Some('a')).1, Standing::Admitted);
    }

    #[test]
    fn workers_with_one_device_serve_all() {
        let sessions = Sessions::new(1);
        for client in [Some('a'), Some('a'), Some('b'), Some('b'), None, None] {
            assert_eq!(join(&sessions, client).1, Standing::Admitted);
        }
    }

    #[test]
    fn wrong_tokens_and_unknown_ports_are_refused() {
        let sessions = Sessions::new(1);
        let number = sessions.enter().expect("room");
        sessions.connect(number, 7);
        let name = "0".repeat(NAME_LENGTH);
        for credential in [
            "",
            "secre",
            "secret ",
            "\nsecret",
            &format!("{name}\nother"),
            &name,
        ] {
            assert!(sessions.authorize(7, credential.as_bytes(), check).is_err());
            assert_eq!(sessions.standing(number), Standing::Unchecked);
        }
        assert!(sessions.authorize(8, b"secret", check).is_err());
        assert_eq!(sessions.authorize(7, b"secret", check), Ok(()));
    }

    #[test]
    fn there_are_only_so_many_connections() {
        let sessions = Sessions::new(1);
        let unchecked: Vec<u64> = (0..MOST_UNCHECKED)
            .map(|_| sessions.enter().expect("room"))
            .collect();
        assert_eq!(sessions.enter(), None);
        unchecked
            .into_iter()
            .for_each(|number| sessions.leave(number));
        for _ in 0..MOST {
            assert_eq!(join(&sessions, Some('a')).1, Standing::Admitted);
        }
        assert_eq!(sessions.enter(), None);
    }
}
