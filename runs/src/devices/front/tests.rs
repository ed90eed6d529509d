//! Connections to a server that echoes what it receives.

use super::sessions::NAME_LENGTH;
use super::*;

const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const TOKEN: &[u8] = b"secret";
const HEAD: &str = "HTTP/1.1 101 Switching Protocols\r\n\r\n";

/// The port of a worker with two devices. Its server takes its first read as the credential, and then echoes
/// each read.
fn worker() -> (SocketAddr, Arc<Sessions>) {
    let sessions = Arc::new(Sessions::new(2));
    let inner = TcpListener::bind("127.0.0.1:0").unwrap();
    let outer = TcpListener::bind("127.0.0.1:0").unwrap();
    let addresses = [&inner, &outer].map(|listener| listener.local_addr().unwrap());
    let authorizing = Arc::clone(&sessions);
    thread::spawn(move || {
        for stream in inner.incoming() {
            let (stream, sessions) = (stream.unwrap(), Arc::clone(&authorizing));
            thread::spawn(move || echo(stream, &sessions));
        }
    });
    serve(outer, addresses[0], Arc::clone(&sessions), |_| Ok(())).unwrap();
    (addresses[1], sessions)
}

fn echo(mut stream: TcpStream, sessions: &Sessions) {
    let port = stream.peer_addr().unwrap().port();
    let mut bytes = vec![0; 1 << 20];
    let count = stream.read(&mut bytes).unwrap();
    let request = String::from_utf8(bytes[..count].to_vec()).unwrap();
    assert!(
        request.ends_with("\r\n\r\n") && !request.contains("X-Mine"),
        "{request}"
    );
    stream.write_all(HEAD.as_bytes()).unwrap();
    let is_session = request.starts_with("GET /session");
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        // The credential comes after the header of the frame.
        if is_session && sessions.standing_of(port) == Some(Standing::Unchecked) {
            let check = |token: &[u8]| match token == TOKEN {
                true => Ok(()),
                false => Err("wrong".to_owned()),
            };
            let admitted = sessions.authorize(port, &bytes[6..count], check);
            if admitted.is_err() {
                let _ = stream.write_all(b"refused");
                return;
            }
        }
        stream.write_all(&bytes[..count]).unwrap();
    }
}

fn connect(address: SocketAddr, route: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let text = format!(
        "GET /{route} HTTP/1.1\r\nHost: x\r\nX-Mine: y\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Key: {KEY}\r\n\r\n"
    );
    stream.write_all(text.as_bytes()).unwrap();
    expect(&mut stream, HEAD.as_bytes());
    stream
}

/// A masked frame with up to 125 bytes.
fn frame(content: &[u8]) -> Vec<u8> {
    [&[0x82, 0x80 | content.len() as u8, 0, 0, 0, 0], content].concat()
}

fn credential(client: char) -> Vec<u8> {
    let name = client.to_string().repeat(NAME_LENGTH);
    [name.as_bytes(), b"\n", TOKEN].concat()
}

fn expect(stream: &mut TcpStream, expected: &[u8]) {
    stream.set_read_timeout(Some(2 * PATIENCE)).unwrap();
    let mut bytes = vec![0; expected.len()];
    stream.read_exact(&mut bytes).unwrap();
    assert!(bytes == expected, "{:?}", String::from_utf8_lossy(&bytes));
}

/// The bytes until the end of the connection.
fn rest(mut stream: TcpStream) -> Vec<u8> {
    stream.set_read_timeout(Some(2 * PATIENCE)).unwrap();
    let mut bytes = Vec::new();
    // A connection that is reset has ended, too.
    match stream.read_to_end(&mut bytes) {
        Err(error) if is_time_out(&error) => panic!("it did not end"),
        _ => bytes,
    }
}

fn admitted(address: SocketAddr, client: char) -> TcpStream {
    let mut stream = connect(address, "session");
    let first = frame(&credential(client));
    stream.write_all(&first).unwrap();
    expect(&mut stream, &first);
    stream
}

#[test]
fn large_messages_pass_once_the_token_is_checked() {
    let (address, _) = worker();
    let mut stream = admitted(address, 'a');
    let large: Vec<u8> = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
    let mut sender = stream.try_clone().unwrap();
    let sent = large.clone();
    let sending = thread::spawn(move || sender.write_all(&sent).unwrap());
    expect(&mut stream, &large);
    sending.join().unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert!(rest(stream).is_empty());
}

#[test]
fn large_messages_end_the_connection_before() {
    let (address, sessions) = worker();
    for route in ["session", "data"] {
        let mut stream = connect(address, route);
        // The header of a message of 1 GiB.
        let header = [0x82, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 1, 2, 3, 4];
        stream.write_all(&header).unwrap();
        assert!(rest(stream).is_empty());
    }
    // A wrong token does not lift the limit.
    let mut stream = connect(address, "session");
    stream.write_all(&frame(b"wrong")).unwrap();
    assert_eq!(rest(stream), b"refused");
    wait_for_none(&sessions);
}

fn wait_for_none(sessions: &Sessions) {
    let deadline = Instant::now() + PATIENCE;
    while sessions.count() > 0 {
        assert!(Instant::now() < deadline, "{sessions:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn web_pages_are_refused_before_the_server_hears_of_them() {
    let (address, _) = worker();
    let mut stream = TcpStream::connect(address).unwrap();
    let text = format!(
        "GET /session HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nOrigin: https://example.org\r\n\
         Sec-WebSocket-Key: {KEY}\r\n\r\n"
    );
    stream.write_all(text.as_bytes()).unwrap();
    let answer = String::from_utf8(rest(stream)).unwrap();
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert!(
        answer.ends_with("a worker does not serve web pages\n"),
        "{answer}"
    );
}

#[test]
fn silent_connections_end() {
    let (address, sessions) = worker();
    let silent = TcpStream::connect(address).unwrap();
    let mut slow = TcpStream::connect(address).unwrap();
    slow.write_all(b"GET /ses").unwrap();
    let upgraded = connect(address, "session");
    let asking = connect(address, "data");
    let start = Instant::now();
    for stream in [silent, slow, upgraded, asking] {
        assert!(rest(stream).is_empty());
    }
    assert!(start.elapsed() < 2 * PATIENCE);
    wait_for_none(&sessions);
}

#[test]
fn the_second_client_with_several_devices_hears_why() {
    let (address, _) = worker();
    let _first = [admitted(address, 'a'), admitted(address, 'a')];
    let _one = admitted(address, 'b');
    let mut second = connect(address, "session");
    second.write_all(&frame(&credential('b'))).unwrap();
    assert_eq!(rest(second), BUSY);
}
