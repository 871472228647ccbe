//! Values for machines: a number is a number, a truth value one, and what a channel holds a sequence of
//! messages.
//!
//! Systems tell values as people read them; here they are read back. What is neither is a word.

use serde_json::{Value, json};

/// A value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed<'a> {
    Integer(&'a str),
    Truth(bool),
    Word(&'a str),
    /// The messages in a channel, the oldest first, each with its fields.
    Queue(Vec<Vec<Typed<'a>>>),
}

impl<'a> Typed<'a> {
    /// Reads a value: `3`, `true`, `red`, `[put,3 | ack,0]`.
    pub(crate) fn of(text: &'a str) -> Typed<'a> {
        let Some(inside) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) else {
            return Typed::scalar(text);
        };
        if inside.is_empty() {
            return Typed::Queue(Vec::new());
        }
        let messages = inside
            .split(" | ")
            .map(|message| message.split(',').map(|field| Typed::scalar(field.trim())).collect());
        Typed::Queue(messages.collect())
    }

    fn scalar(text: &'a str) -> Typed<'a> {
        match text {
            "true" => Typed::Truth(true),
            "false" => Typed::Truth(false),
            _ if text.parse::<i128>().is_ok() => Typed::Integer(text),
            _ => Typed::Word(text),
        }
    }

    /// As plain JSON: a message of one field is that field, one of several an array.
    pub(crate) fn json(&self) -> Value {
        self.told(&|text| text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from), &|fields| {
            Value::Array(fields)
        })
    }

    /// In Apalache's trace format: integers may be large, and a message of several fields is a tuple.
    pub(crate) fn itf(&self) -> Value {
        self.told(&|text| json!({ "#bigint": text }), &|fields| json!({ "#tup": fields }))
    }

    fn told(&self, integer: &dyn Fn(&str) -> Value, tuple: &dyn Fn(Vec<Value>) -> Value) -> Value {
        match self {
            Typed::Integer(text) => integer(text),
            Typed::Truth(value) => Value::Bool(*value),
            Typed::Word(text) => Value::from(*text),
            Typed::Queue(messages) => {
                let message = |fields: &Vec<Typed<'_>>| {
                    let mut all: Vec<Value> = fields.iter().map(|field| field.told(integer, tuple)).collect();
                    if all.len() == 1 { all.swap_remove(0) } else { tuple(all) }
                };
                messages.iter().map(message).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_truth_words_and_channels_are_what_they_are() {
        assert_eq!(Typed::of("-3").json(), json!(-3));
        assert_eq!(Typed::of("true").json(), json!(true));
        assert_eq!(Typed::of("red").json(), json!("red"));
        assert_eq!(Typed::of("[]").json(), json!([]));
        assert_eq!(Typed::of("[7]").json(), json!([7]));
        assert_eq!(Typed::of("[put,3 | ack,0]").json(), json!([["put", 3], ["ack", 0]]));
        assert_eq!(Typed::of("99999999999999999999").json(), json!("99999999999999999999"));
    }

    #[test]
    fn the_trace_format_has_large_integers_and_tuples() {
        assert_eq!(Typed::of("3").itf(), json!({ "#bigint": "3" }));
        assert_eq!(Typed::of("[put,3]").itf(), json!([{ "#tup": ["put", { "#bigint": "3" }] }]));
        assert_eq!(Typed::of("[1 | 2]").itf(), json!([{ "#bigint": "1" }, { "#bigint": "2" }]));
    }
}
