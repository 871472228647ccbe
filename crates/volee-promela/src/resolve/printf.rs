//! `printf`: the format is taken apart once, here, and its conversions are matched with the arguments.

use super::{Resolved, Resolver};
use crate::ast::{Expr, Name};
use crate::model::{Conversion, FormatPiece, StatementKind};
use crate::source::Advice;

impl Resolver<'_> {
    pub(super) fn printf(&mut self, format: Name, arguments: &[Expr]) -> Resolved<StatementKind> {
        let text = self.interner.text(format.sym).to_owned();
        let (pieces, unknown) = pieces(text.trim_start_matches('"').strip_suffix('"').unwrap_or_default());
        if let Some(c) = unknown {
            self.sources
                .warning(
                    format.at,
                    text.len(),
                    format!("`%{c}` is not a conversion, so it is printed as it is"),
                )
                .advise("there are %d, %u, %x, %o, %c and %e");
        }
        let wanted = pieces.iter().filter(|p| matches!(p, FormatPiece::Argument(_))).count();
        if wanted != arguments.len() {
            let message =
                format!("this text has {wanted} conversions but gets {} arguments", arguments.len());
            self.sources.warning(format.at, text.len(), message);
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.state_expr(argument, "`printf`")?);
        }
        Ok(StatementKind::Printf { format: pieces, arguments: values })
    }
}

/// The pieces of a format, and the first conversion that is none.
fn pieces(format: &str) -> (Vec<FormatPiece>, Option<char>) {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut unknown = None;
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('\n') | None => {}
                Some(other) => text.push(other),
            },
            '%' => {
                let conversion = match chars.next() {
                    Some('d' | 'i') => Conversion::Decimal,
                    Some('u') => Conversion::Unsigned,
                    Some('x') => Conversion::Hexadecimal,
                    Some('o') => Conversion::Octal,
                    Some('c') => Conversion::Character,
                    Some('e') => Conversion::Mtype,
                    Some('%') | None => {
                        text.push('%');
                        continue;
                    }
                    Some(other) => {
                        unknown = unknown.or(Some(other));
                        text.extend(['%', other]);
                        continue;
                    }
                };
                if !text.is_empty() {
                    pieces.push(FormatPiece::Text(std::mem::take(&mut text)));
                }
                pieces.push(FormatPiece::Argument(conversion));
            }
            other => text.push(other),
        }
    }
    if !text.is_empty() {
        pieces.push(FormatPiece::Text(text));
    }
    (pieces, unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_text_and_conversions() {
        let (found, unknown) = pieces(r"x=%d%%\n%e");
        assert_eq!(unknown, None);
        assert_eq!(
            found,
            [
                FormatPiece::Text("x=".into()),
                FormatPiece::Argument(Conversion::Decimal),
                FormatPiece::Text("%\n".into()),
                FormatPiece::Argument(Conversion::Mtype),
            ]
        );
        assert_eq!(pieces("%z"), (vec![FormatPiece::Text("%z".into())], Some('z')));
    }
}
