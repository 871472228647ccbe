//! Who may ask: the page that this server has served, and nobody else.
//!
//! Three doors, each enough against one kind of stranger:
//! * **Host.** A name that an attacker's DNS points at 127.0.0.1 (rebinding) comes with that name as `Host`;
//!   only loopback names with our own port pass.
//! * **Origin.** A page of another origin that sends requests here says so in `Origin` and `Sec-Fetch-Site`.
//! * **Token.** Whoever does not know the address that was printed knows neither the page nor its questions:
//!   the page is asked for with `?token=…`, everything else with a header, which another origin could only
//!   send after a preflight that is never answered.

use crate::http::{Request, Response};

/// The header that carries the token of a question.
pub const TOKEN_HEADER: &str = "x-volee-token";

/// What requests are compared with.
#[derive(Debug, Clone)]
pub struct Guard {
    port: u16,
    token: String,
}

impl Guard {
    /// A guard for one port with a fresh token.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Guard { port, token: bytes.iter().map(|b| format!("{b:02x}")).collect() })
    }

    /// The address to open.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// The token, for the page.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Whether a request may be answered.
    ///
    /// # Errors
    /// The refusal.
    pub fn admit(&self, request: &Request) -> Result<(), Response> {
        let refuse = |why: &str| Err(Response::plain(403, format!("refused: {why}\n")));
        match request.header("host") {
            Ok(Some(host)) if self.is_ours(host) => {}
            _ => return refuse("this is not the name of this server"),
        }
        match request.header("origin") {
            Ok(None) => {}
            Ok(Some(origin)) if origin.strip_prefix("http://").is_some_and(|o| self.is_ours(o)) => {}
            _ => return refuse("another origin asks"),
        }
        match request.header("sec-fetch-site") {
            Ok(None | Some("same-origin" | "none")) => {}
            // Following the link from a terminal, a mail or a chat is what the address is for.
            Ok(Some("cross-site" | "same-site")) if self.is_navigation(request) => {}
            _ => return refuse("another site asks"),
        }
        let given = match request.method.as_str() {
            "GET" => token_of(&request.query),
            _ => request.header(TOKEN_HEADER).unwrap_or(None),
        };
        match given.is_some_and(|given| same(given, &self.token)) {
            true => Ok(()),
            false => refuse("open the address that volee has printed, with its token"),
        }
    }

    fn is_navigation(&self, request: &Request) -> bool {
        request.method == "GET"
            && request.path == "/"
            && request.header("sec-fetch-mode") == Ok(Some("navigate"))
            && request.header("sec-fetch-dest") == Ok(Some("document"))
    }

    /// Whether `host:port` is this server by one of the names of loopback.
    fn is_ours(&self, host: &str) -> bool {
        let Some((name, port)) = host.rsplit_once(':') else { return false };
        let loopback = ["127.0.0.1", "localhost", "[::1]"].iter().any(|own| name.eq_ignore_ascii_case(own));
        loopback && port == self.port.to_string()
    }
}

fn token_of(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Equality that takes as long whatever differs.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differs, (x, y)| differs | (x ^ y)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::request;

    fn guard() -> Guard {
        Guard { port: 4711, token: "secret".into() }
    }

    fn admits(text: &str) -> bool {
        guard().admit(&request(&text.replace('\n', "\r\n"))).is_ok()
    }

    #[test]
    fn the_address_is_admitted_by_every_name_of_loopback() {
        for host in ["127.0.0.1:4711", "localhost:4711", "LOCALHOST:4711", "[::1]:4711"] {
            assert!(admits(&format!("GET /?token=secret HTTP/1.1\nHost: {host}\n\n")), "{host}");
        }
    }

    #[test]
    fn other_names_and_ports_are_refused() {
        for host in [
            "evil.example:4711",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1.evil.example:4711",
            "",
            "localhost:4711:4711",
        ] {
            assert!(!admits(&format!("GET /?token=secret HTTP/1.1\nHost: {host}\n\n")), "{host}");
        }
        assert!(!admits("GET /?token=secret HTTP/1.1\n\n"), "a request without a host");
        let two = "GET /?token=secret HTTP/1.1\nHost: 127.0.0.1:4711\nHost: evil.example:4711\n\n";
        assert!(!admits(two));
    }

    #[test]
    fn a_missing_or_wrong_token_is_refused() {
        for query in
            ["", "?token=", "?token=secre", "?token=secret1", "?t=secret", "?token=wrong&token=secret"]
        {
            assert!(!admits(&format!("GET /{query} HTTP/1.1\nHost: 127.0.0.1:4711\n\n")), "{query}");
        }
        assert!(
            !admits("POST /api/look?token=secret HTTP/1.1\nHost: 127.0.0.1:4711\n\n"),
            "a form can do that"
        );
        assert!(admits("POST /api/look HTTP/1.1\nHost: 127.0.0.1:4711\nX-Volee-Token: secret\n\n"));
    }

    #[test]
    fn other_origins_are_refused_even_with_the_token() {
        let post = |more: &str| {
            admits(&format!("POST /api/look HTTP/1.1\nHost: 127.0.0.1:4711\nX-Volee-Token: secret\n{more}\n"))
        };
        assert!(post("Origin: http://127.0.0.1:4711\nSec-Fetch-Site: same-origin\n"));
        for origin in
            ["http://evil.example", "null", "https://127.0.0.1:4711", "http://127.0.0.1:80", "file://"]
        {
            assert!(!post(&format!("Origin: {origin}\n")), "{origin}");
        }
        assert!(!post("Sec-Fetch-Site: cross-site\n"));
        assert!(!post("Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\n"));
    }

    #[test]
    fn a_link_may_be_followed_but_not_framed_or_fetched_from_elsewhere() {
        let get = |more: &str| {
            admits(&format!(
                "GET /?token=secret HTTP/1.1\nHost: 127.0.0.1:4711\nSec-Fetch-Site: cross-site\n{more}\n"
            ))
        };
        assert!(get("Sec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\n"));
        assert!(!get("Sec-Fetch-Mode: navigate\nSec-Fetch-Dest: iframe\n"));
        assert!(!get("Sec-Fetch-Mode: no-cors\nSec-Fetch-Dest: script\n"));
    }
}
