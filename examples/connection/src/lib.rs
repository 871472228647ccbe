//! What the four servers share: lines in, lines out, over the standard streams or, with a port as argument,
//! over TCP.
//!
//! The servers themselves are the programs in `src/bin`; each is written as if the others did not exist.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpListener;

/// Serves one client on the standard streams, or one client after the other on the port given as first
/// argument. `answer` is made anew for each client; it gets a request and gives the reply, if there is one.
///
/// # Errors
/// The port is not one or is taken, or a stream breaks.
pub fn serve<A: FnMut(&str) -> Option<String>>(new_client: impl Fn() -> A) -> io::Result<()> {
    let Some(port) = std::env::args().nth(1) else {
        return converse(io::stdin().lock(), io::stdout().lock(), new_client());
    };
    let port: u16 = port.parse().map_err(|_| io::Error::other(format!("`{port}` is not a port")))?;
    for client in TcpListener::bind(("127.0.0.1", port))?.incoming() {
        let client = client?;
        client.set_nodelay(true)?;
        // A client that goes away is no reason to stop.
        let _ = converse(BufReader::new(client.try_clone()?), client, new_client());
    }
    Ok(())
}

fn converse(
    requests: impl BufRead,
    mut replies: impl Write,
    mut answer: impl FnMut(&str) -> Option<String>,
) -> io::Result<()> {
    for request in requests.lines() {
        if let Some(reply) = answer(request?.trim()) {
            writeln!(replies, "{reply}")?;
            replies.flush()?;
        }
    }
    Ok(())
}
