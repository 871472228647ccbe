//! A wrong server: it goes on counting where the last connection stopped.

fn main() -> std::io::Result<()> {
    connection_example::serve(|| {
        let (mut open, mut count) = (false, 0);
        move |request| {
            let reply = match (request, open) {
                ("OPEN", false) => {
                    open = true;
                    "ACCEPTED".to_string()
                }
                ("DATA", true) => {
                    count = (count + 1) % 4;
                    format!("ACK {count}")
                }
                ("CLOSE", true) => {
                    open = false;
                    "CLOSED".to_string()
                }
                _ => "ERROR".to_string(),
            };
            Some(reply)
        }
    })
}
