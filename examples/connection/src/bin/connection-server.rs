//! The server as it should be.

/// How many data a client has sent over its open connection; none while it is closed.
fn main() -> std::io::Result<()> {
    connection_example::serve(|| {
        let mut open: Option<u32> = None;
        move |request| {
            let reply = match (request, &mut open) {
                ("OPEN", None) => {
                    open = Some(0);
                    "ACCEPTED".to_string()
                }
                ("DATA", Some(count)) => {
                    *count = (*count + 1) % 4;
                    format!("ACK {count}")
                }
                ("CLOSE", Some(_)) => {
                    open = None;
                    "CLOSED".to_string()
                }
                _ => "ERROR".to_string(),
            };
            Some(reply)
        }
    })
}
