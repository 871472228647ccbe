//! A wrong server: it closes without a word.

fn main() -> std::io::Result<()> {
    connection_example::serve(|| {
        let mut open: Option<u32> = None;
        move |request| match (request, &mut open) {
            ("OPEN", None) => {
                open = Some(0);
                Some("ACCEPTED".to_string())
            }
            ("DATA", Some(count)) => {
                *count = (*count + 1) % 4;
                Some(format!("ACK {count}"))
            }
            ("CLOSE", Some(_)) => {
                open = None;
                None
            }
            _ => Some("ERROR".to_string()),
        }
    })
}
