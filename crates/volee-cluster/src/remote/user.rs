//! Whose connection this is: without a secret a worker serves nobody but the user it runs as.
//!
//! The system lists its connections with the user of each end; the other end of ours is the one that goes the
//! other way. Where there is no such list nobody is let in without a secret.

use std::net::{SocketAddr, TcpStream};

/// Whether the other end of a connection is on this machine and of the user of this process.
pub fn is_same_user(stream: &TcpStream) -> bool {
    let (Ok(here), Ok(there)) = (stream.local_addr(), stream.peer_addr()) else { return false };
    there.ip().is_loopback() && user_of(there, here) == Some(rustix::process::getuid().as_raw())
}

/// The user of the end at `local` of a connection to `remote`.
fn user_of(local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let table = if local.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
    let text = std::fs::read_to_string(table).ok()?;
    let (local, remote) = (shown(local), shown(remote));
    text.lines().find_map(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let is_it = columns.next() == Some(&local) && columns.next() == Some(&remote);
        is_it.then(|| columns.nth(4)?.parse().ok()).flatten()
    })
}

/// An address as the list has it: words in the order of the machine, in hexadecimal digits.
fn shown(address: SocketAddr) -> String {
    let bytes = match address {
        SocketAddr::V4(v4) => v4.ip().octets().to_vec(),
        SocketAddr::V6(v6) => v6.ip().octets().to_vec(),
    };
    let words =
        bytes.chunks_exact(4).map(|b| format!("{:08X}", u32::from_ne_bytes([b[0], b[1], b[2], b[3]])));
    format!("{}:{:04X}", words.collect::<String>(), address.port())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_other_end_of_ones_own_connection_is_ones_own() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // A machine may have no IPv6.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let caller = TcpStream::connect(listener.local_addr().expect("it has one")).expect("loopback");
            let (called, _) = listener.accept().expect("it comes");
            assert!(is_same_user(&caller) && is_same_user(&called), "{address}");
            let nobody: SocketAddr = "127.0.0.1:1".parse().expect("an address");
            assert_eq!(user_of(nobody, nobody), None);
        }
    }
}
