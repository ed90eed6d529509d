//! The request at the start of a connection.

use httparse::{EMPTY_HEADER, Header, Request as Parsed, Status};

/// The maximum size of a request in bytes.
pub const MOST_BYTES: usize = 8 * 1024;

/// The maximum number of headers of a request.
const MOST_HEADERS: usize = 64;

/// The length of a key, which is 16 bytes in Base64.
const KEY_LENGTH: usize = 24;

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// A client that runs computations.
    Session,
    /// Another worker that fetches tensors.
    Data,
}

impl Route {
    fn of(path: &str) -> Option<Self> {
        match path {
            "/session" => Some(Self::Session),
            "/data" => Some(Self::Data),
            _ => None,
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Session => "/session",
            Self::Data => "/data",
        }
    }
}

/// A request for a WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The purpose of the connection.
    pub route: Route,
    key: String,
}

/// The refusal of a request: the HTTP status and a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    status: &'static str,
    sentence: &'static str,
}

/// Too many connections.
pub const CROWDED: Refusal = Refusal {
    status: "503 Service Unavailable",
    sentence: "the worker has too many connections; try again later",
};

const TOO_LONG: Refusal = Refusal {
    status: "431 Request Header Fields Too Large",
    sentence: "the request is too long",
};

const OF_A_PAGE: Refusal = Refusal {
    status: "403 Forbidden",
    sentence: "a worker does not serve web pages",
};

const UNKNOWN_PATH: Refusal = Refusal {
    status: "404 Not Found",
    sentence: "a worker only has the paths /session and /data",
};

const NO_WEBSOCKET: Refusal = Refusal {
    status: "400 Bad Request",
    sentence: "this is not a WebSocket request",
};

impl Refusal {
    /// The answer to the client.
    pub fn response(self) -> String {
        let Self { status, sentence } = self;
        let length = sentence.len() + 1;
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{sentence}\n"
        )
    }
}

impl Request {
    /// Parses a request from the first bytes of a connection. Also returns the length of the request; `None` if
    /// the request is incomplete.
    ///
    /// # Errors
    ///
    /// If the request is malformed, too long, of a web page, or not for a WebSocket of a worker.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Refusal> {
        let mut headers = [EMPTY_HEADER; MOST_HEADERS];
        let mut request = Parsed::new(&mut headers);
        let length = match request.parse(bytes) {
            Ok(Status::Complete(length)) if length <= MOST_BYTES => length,
            Ok(Status::Partial) if bytes.len() < MOST_BYTES => return Ok(None),
            Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(TOO_LONG),
            Err(_) => return Err(NO_WEBSOCKET),
        };
        // Browsers name the page of a request; other programs do not.
        if values(request.headers, "origin").next().is_some() {
            return Err(OF_A_PAGE);
        }
        let route = Route::of(request.path.unwrap_or_default()).ok_or(UNKNOWN_PATH)?;
        let upgrades = values(request.headers, "upgrade")
            .any(|protocol| protocol.eq_ignore_ascii_case(b"websocket"));
        let is_get = request.method == Some("GET") && request.version == Some(1);
        if !is_get || !upgrades {
            return Err(NO_WEBSOCKET);
        }
        let mut keys = values(request.headers, "sec-websocket-key");
        match (keys.next().and_then(key), keys.next()) {
            (Some(key), None) => Ok(Some((Self { route, key }, length))),
            _ => Err(NO_WEBSOCKET),
        }
    }

    /// The request to the server, which contains only the client's key.
    pub fn to_server(&self) -> String {
        format!(
            "GET {} HTTP/1.1\r\nHost: worker\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {}\r\n\r\n",
            self.route.path(),
            self.key
        )
    }
}

/// The values of all headers with a name.
fn values<'a>(headers: &'a [Header<'a>], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let of_name = headers
        .iter()
        .filter(move |header| header.name.eq_ignore_ascii_case(name));
    of_name.map(|header| header.value)
}

/// The key as text, if it is valid.
fn key(value: &[u8]) -> Option<String> {
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let is_key = value.len() == KEY_LENGTH && value.iter().all(is_base64);
    is_key.then(|| String::from_utf8_lossy(value).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

    fn request(path: &str, more: &str) -> String {
        format!(
            "GET {path} HTTP/1.1\r\nHost: a:7777\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n{more}\r\n"
        )
    }

    #[test]
    fn requests_for_both_paths_pass() {
        for (path, route) in [("/session", Route::Session), ("/data", Route::Data)] {
            let text = request(path, "");
            let parsed = Request::parse(text.as_bytes());
            let key = KEY.to_owned();
            assert_eq!(parsed, Ok(Some((Request { route, key }, text.len()))));
            // The bytes after the request are not part of it.
            let longer = format!("{text}more");
            assert_eq!(Request::parse(longer.as_bytes()), parsed);
            for end in 0..text.len() {
                assert_eq!(Request::parse(&text.as_bytes()[..end]), Ok(None), "{end}");
            }
            let own = parsed.unwrap().unwrap().0.to_server();
            assert!(own.starts_with(&format!("GET {path} HTTP/1.1\r\n")) && own.contains(KEY));
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let plain = request("/session", "");
        let padding = format!("X: {}\r\n", "x".repeat(MOST_BYTES));
        let lines = "X: y\r\n".repeat(MOST_HEADERS);
        for (text, refusal) in [
            (
                request("/session", "Origin: https://example.org\r\n"),
                OF_A_PAGE,
            ),
            (request("/session", "ORIGIN: null\r\n"), OF_A_PAGE),
            (request("/data", "origin:\r\n"), OF_A_PAGE),
            (request("/", ""), UNKNOWN_PATH),
            (request("/session/../x", ""), UNKNOWN_PATH),
            (request("/session?x", ""), UNKNOWN_PATH),
            (request("/session", &padding), TOO_LONG),
            (request("/session", &lines), TOO_LONG),
            (plain.replace("GET", "POST"), NO_WEBSOCKET),
            (plain.replace("HTTP/1.1", "HTTP/1.0"), NO_WEBSOCKET),
            (plain.replace("WebSocket\r\n", "h2c\r\n"), NO_WEBSOCKET),
            (plain.replace(KEY, "short"), NO_WEBSOCKET),
            (
                plain.replace(KEY, "dGhlIHNhbXBsZSBub25j\u{e4}Q=="),
                NO_WEBSOCKET,
            ),
            (
                request("/session", &format!("sec-websocket-key: {KEY}\r\n")),
                NO_WEBSOCKET,
            ),
            ("\u{0}\u{1}\u{2}".to_owned(), NO_WEBSOCKET),
        ] {
            assert_eq!(Request::parse(text.as_bytes()), Err(refusal), "{text}");
        }
        let endless = "G".repeat(MOST_BYTES);
        assert!(Request::parse(endless.as_bytes()).is_err());
    }
}
