//! As much HTTP/1.1 as one page on loopback needs: a request of bounded size in, one response out, connection
//! closed.
//!
//! Requests are taken apart by `httparse`. Heads and bodies have a largest size, reading has a time limit,
//! and a body must say its length: a peer can waste a thread for some seconds, and nothing else.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The largest head of a request, in bytes.
const LARGEST_HEAD: usize = 16 << 10;
/// The largest body: a stored run of some ten thousand steps with its labels fits.
pub const LARGEST_BODY: usize = 4 << 20;
const MOST_HEADERS: usize = 64;
const PATIENCE: Duration = Duration::from_secs(10);

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET` or another word.
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// What stands behind `?`.
    pub query: String,
    headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Vec<u8>,
}

impl Request {
    /// The only value of a header; `Err` when it comes twice, which no browser does.
    pub fn header(&self, name: &str) -> Result<Option<&str>, ()> {
        let mut all = self.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name));
        match (all.next(), all.next()) {
            (None, _) => Ok(None),
            (Some((_, value)), None) => Ok(Some(value)),
            _ => Err(()),
        }
    }
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status, e.g. 200.
    pub status: u16,
    content_type: &'static str,
    policy: Option<String>,
    body: Vec<u8>,
}

impl Response {
    /// A refusal or an error, in a sentence.
    pub fn plain(status: u16, text: impl Into<String>) -> Self {
        let body = text.into().into_bytes();
        Response { status, content_type: "text/plain; charset=utf-8", policy: None, body }
    }

    /// A page with its content security policy.
    pub fn page(html: String, policy: String) -> Self {
        let content_type = "text/html; charset=utf-8";
        Response { status: 200, content_type, policy: Some(policy), body: html.into_bytes() }
    }

    /// An answer to the page.
    pub fn json(status: u16, text: String) -> Self {
        let content_type = "application/json";
        Response { status, content_type, policy: None, body: text.into_bytes() }
    }

    /// An icon.
    pub fn svg(text: &str) -> Self {
        Response { status: 200, content_type: "image/svg+xml", policy: None, body: text.as_bytes().to_vec() }
    }

    /// Writes the response; the connection is closed behind it.
    pub fn send(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let policy = self.policy.as_deref().unwrap_or("default-src 'none'");
        let head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nContent-Security-Policy: {policy}; frame-ancestors 'none'\r\n\
             X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\r\n",
            self.status,
            phrase(self.status),
            self.content_type,
            self.body.len(),
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(&self.body)?;
        stream.flush()
    }
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        411 => "Length Required",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

/// Reads one request.
///
/// # Errors
/// What to answer instead: the request is too large, too slow or none at all.
pub fn receive(stream: &mut TcpStream) -> Result<Request, Response> {
    let slow = |_| Response::plain(400, "the request did not arrive");
    stream.set_read_timeout(Some(PATIENCE)).map_err(slow)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(slow)?;
    let (head, rest) = read_head(stream)?;
    let mut request = parse(&head)?;
    let length = request.header("content-length").map_err(|()| bad("two lengths"))?.map(str::to_string);
    let transfer = request.header("transfer-encoding").map_err(|()| bad("two encodings"))?;
    if transfer.is_some() {
        return Err(Response::plain(411, "a body must say its length"));
    }
    let length: usize = match length {
        None => 0,
        Some(text) if text.bytes().all(|b| b.is_ascii_digit()) => {
            text.parse().map_err(|_| Response::plain(413, "the body is too large"))?
        }
        Some(_) => return Err(bad("no length")),
    };
    if length > LARGEST_BODY {
        return Err(Response::plain(413, "the body is too large"));
    }
    request.body = rest;
    let missing = length.saturating_sub(request.body.len());
    request.body.truncate(length);
    let read = stream.take(missing as u64).read_to_end(&mut request.body).map_err(slow)?;
    if read < missing { Err(bad("a body shorter than its length")) } else { Ok(request) }
}

fn bad(what: &str) -> Response {
    Response::plain(400, format!("this is no request: {what}"))
}

/// The head up to and with its empty line, and what was read behind it.
fn read_head(stream: &mut TcpStream) -> Result<(Vec<u8>, Vec<u8>), Response> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let read = stream.read(&mut chunk).map_err(|_| bad("it did not arrive"))?;
        if read == 0 {
            return Err(bad("it ends too early"));
        }
        let from = bytes.len().saturating_sub(3);
        bytes.extend_from_slice(&chunk[..read]);
        if let Some(at) = bytes[from..].windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(from + at + 4);
            return Ok((bytes, rest));
        }
        if bytes.len() > LARGEST_HEAD {
            return Err(Response::plain(431, "the head of the request is too large"));
        }
    }
}

fn parse(head: &[u8]) -> Result<Request, Response> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        _ => return Err(bad("its head")),
    }
    let target = parsed.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let text = |h: &httparse::Header<'_>| {
        let value = std::str::from_utf8(h.value).map_err(|_| bad("a header that is no text"))?;
        Ok((h.name.to_string(), value.trim().to_string()))
    };
    Ok(Request {
        method: parsed.method.unwrap_or_default().to_string(),
        path: path.to_string(),
        query: query.to_string(),
        headers: parsed.headers.iter().map(text).collect::<Result<_, Response>>()?,
        body: Vec::new(),
    })
}

#[cfg(test)]
pub(crate) fn request(text: &str) -> Request {
    parse(text.as_bytes()).expect("a request of the tests is one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_taken_apart() {
        let request = request("GET /a/b?token=1 HTTP/1.1\r\nHost: x:1\r\nX-A: 1\r\nx-a: 2\r\n\r\n");
        assert_eq!((request.path.as_str(), request.query.as_str()), ("/a/b", "token=1"));
        assert_eq!(request.header("host"), Ok(Some("x:1")));
        assert_eq!(request.header("x-a"), Err(()), "twice is not once");
        assert_eq!(request.header("y"), Ok(None));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for text in ["", "GET\r\n\r\n", "GET / HTTP/9\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n"] {
            assert!(parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
