//! A wrong server: it takes data before there is a connection.

fn main() -> std::io::Result<()> {
    connection_example::serve(|| {
        let (mut open, mut count) = (false, 0);
        move |request| {
            let reply = match request {
                "OPEN" if !open => {
                    (open, count) = (true, 0);
                    "ACCEPTED".to_string()
                }
                "DATA" => {
                    count = (count + 1) % 4;
                    format!("ACK {count}")
                }
                "CLOSE" if open => {
                    open = false;
                    "CLOSED".to_string()
                }
                _ => "ERROR".to_string(),
            };
            Some(reply)
        }
    })
}
