//! Other origins, other names, missing tokens, paths that climb, requests that are too large: refused.

use super::{Running, serve};

const MODEL: &str = "active proctype P() { skip }";

fn running() -> Running {
    serve("m.pml", MODEL, None)
}

#[test]
fn the_page_is_served_to_whoever_has_the_address() {
    let server = running();
    let host = format!("Host: 127.0.0.1:{}\r\n", server.port);
    let (status, text) = server.get(&format!("/?token={}", server.token), &host);
    assert_eq!(status, 200);
    assert!(text.contains("active proctype P()"), "the model is in the page");
    for header in [
        "Content-Security-Policy: default-src 'none'",
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer",
        "frame-ancestors 'none'",
    ] {
        assert!(text.contains(header), "{header} is missing");
    }
    let head = text.split("\r\n\r\n").next().unwrap_or_default();
    assert!(!head.contains("unsafe") && !head.contains("Access-Control"), "{head}");
}

#[test]
fn without_the_token_nothing_is_told() {
    let server = running();
    let host = format!("Host: 127.0.0.1:{}\r\n", server.port);
    for target in ["/", "/?token=", "/?token=0123456789abcdef0123456789abcdef", "/api", "/icon.svg"] {
        let (status, text) = server.get(target, &host);
        assert_eq!(status, 403, "{target}");
        assert!(!text.contains("proctype") && !text.contains(&server.token));
    }
    let body = r#"{"ask":"look","state":0}"#;
    let head = format!(
        "POST /api HTTP/1.1\r\n{host}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    assert_eq!(server.send(format!("{head}{body}").as_bytes()).0, 403);
}

#[test]
fn names_that_dns_points_here_and_other_origins_are_refused() {
    let server = running();
    let (port, token) = (server.port, &server.token);
    let with = |headers: &str| server.get(&format!("/?token={token}"), headers).0;
    assert_eq!(with(&format!("Host: attacker.example:{port}\r\n")), 403);
    assert_eq!(with("Host: attacker.example\r\n"), 403);
    assert_eq!(with(&format!("Host: 127.0.0.1:{port}\r\nOrigin: http://attacker.example\r\n")), 403);
    assert_eq!(
        with(&format!("Host: 127.0.0.1:{port}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n")),
        403
    );
    assert_eq!(with(&format!("Host: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n")), 200);
}

#[test]
fn a_preflight_is_not_answered() {
    let server = running();
    let request = format!(
        "OPTIONS /api HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nOrigin: http://attacker.example\r\nAccess-Control-Request-Headers: x-volee-token\r\n\r\n",
        server.port
    );
    let (status, text) = server.send(request.as_bytes());
    assert_eq!(status, 403);
    assert!(!text.to_lowercase().contains("access-control-allow"));
}

#[test]
fn paths_name_nothing_on_the_disk() {
    let server = running();
    let host = format!("Host: 127.0.0.1:{}\r\n", server.port);
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2fm.pml",
        "/m.pml",
        "//etc/passwd",
        "/./",
        "/index.html",
    ] {
        let (status, text) = server.get(&format!("{path}?token={}", server.token), &host);
        assert_eq!(status, 404, "{path}");
        assert!(!text.contains("root:") && !text.contains("proctype"));
    }
}

#[test]
fn requests_that_are_too_large_or_none_at_all_are_refused_and_the_server_lives_on() {
    let server = running();
    let host = format!("Host: 127.0.0.1:{}\r\nX-Volee-Token: {}\r\n", server.port, server.token);
    let (status, _) =
        server.send(format!("POST /api HTTP/1.1\r\n{host}Content-Length: 99999999999\r\n\r\n").as_bytes());
    assert_eq!(status, 413);
    let (status, _) =
        server.send(format!("POST /api HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n").as_bytes());
    assert_eq!(status, 411);
    let (status, _) = server.send(format!("GET /{} HTTP/1.1\r\n{host}\r\n", "a".repeat(100_000)).as_bytes());
    assert!(status == 431 || status == 0, "{status}");
    assert_eq!(server.send(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n").0, 400);
    let (status, _) =
        server.get(&format!("/?token={}", server.token), &format!("Host: 127.0.0.1:{}\r\n", server.port));
    assert_eq!(status, 200);
}
