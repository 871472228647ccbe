//! The server as a stranger and as its page see it, over real connections.

mod questions;
mod strangers;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use volee::report::Filter;
use volee::{Options, Source};
use volee_page::Server;

/// A server at work, ended when it is dropped.
pub(crate) struct Running {
    pub(crate) port: u16,
    pub(crate) token: String,
    ended: Arc<AtomicBool>,
    _directory: tempfile::TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

pub(crate) fn serve(name: &str, text: &str, run: Option<&str>) -> Running {
    let directory = tempfile::tempdir().expect("a directory for the model");
    let path = directory.path().join(name);
    std::fs::write(&path, text).expect("the model is written");
    let source = Source::new(path, Options::default());
    let server =
        Server::new(source, run.map(str::to_string), &Filter::default(), 0).expect("the server starts");
    let url = server.url();
    let (address, token) = url.split_once("/?token=").expect("the address has its token");
    let port = address.rsplit_once(':').and_then(|(_, p)| p.parse().ok()).expect("the address has its port");
    let ended = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ended);
    let running = Running { port, token: token.to_string(), ended, _directory: directory };
    std::thread::spawn(move || server.run(&flag));
    running
}

impl Running {
    /// Sends bytes and gives the status and the whole answer.
    pub(crate) fn send(&self, request: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
        // A server that refuses early may close before everything is sent.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let status = text.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        (status, text)
    }

    pub(crate) fn get(&self, target: &str, headers: &str) -> (u16, String) {
        self.send(format!("GET {target} HTTP/1.1\r\n{headers}\r\n").as_bytes())
    }

    /// Asks as the page does.
    pub(crate) fn ask(&self, question: &Value) -> (u16, Value) {
        let body = question.to_string();
        let head = format!(
            "POST /api HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nX-Volee-Token: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.port,
            self.token,
            body.len()
        );
        let (status, text) = self.send(format!("{head}{body}").as_bytes());
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status, serde_json::from_str(body).unwrap_or(Value::String(body.to_string())))
    }
}
