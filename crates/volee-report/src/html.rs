//! The page, as one self-contained file: markup, style, script and data together, nothing to load.
//!
//! The explorer serves it with an engine behind, a report is the same page without one. The script is written
//! as plain modules in `page/`, one concern each, and put together here: `import` and `export` stand each on
//! one line, so that no tool but this file is needed. What a page may do is said by its content security
//! policy, which allows exactly this script and this style, by their hashes.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

const SHELL: &str = include_str!("../page/index.html");
const STYLE: &str = include_str!("../page/style.css");
/// Graph layout by dagre, MIT licence: see `page/vendor/dagre.LICENSE.txt`. It is a text until somebody looks
/// at a graph (`page/graph.js`), so that the page is painted before; the policy allows it by its hash.
const LAYOUT: &str = include_str!("../page/vendor/dagre.min.js");
/// The icon that browsers ask for.
pub const ICON: &str = include_str!("../page/icon.svg");

/// The modules, each after those it uses.
const MODULES: &[(&str, &str)] = &[
    ("dom.js", include_str!("../page/dom.js")),
    ("run.js", include_str!("../page/run.js")),
    ("store.js", include_str!("../page/store.js")),
    ("noise.js", include_str!("../page/noise.js")),
    ("list.js", include_str!("../page/list.js")),
    ("source.js", include_str!("../page/source.js")),
    ("steps.js", include_str!("../page/steps.js")),
    ("state.js", include_str!("../page/state.js")),
    ("chart.js", include_str!("../page/chart.js")),
    ("history.js", include_str!("../page/history.js")),
    ("graph.js", include_str!("../page/graph.js")),
    ("expression.js", include_str!("../page/expression.js")),
    ("watch.js", include_str!("../page/watch.js")),
    ("answer.js", include_str!("../page/answer.js")),
    ("check.js", include_str!("../page/check.js")),
    ("compare.js", include_str!("../page/compare.js")),
    ("keys.js", include_str!("../page/keys.js")),
    ("main.js", include_str!("../page/main.js")),
];

/// A page with its policy.
pub struct Page {
    /// The whole document.
    pub html: String,
    /// The content security policy it was made for.
    pub policy: String,
}

/// Whether there is an engine behind the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// None: the page does what needs none.
    Nothing,
    /// The server that the page came from.
    Server,
}

/// The page about `data`.
pub fn page(title: &str, data: &Value, behind: Behind) -> Page {
    let script = script();
    let connect = match behind {
        Behind::Nothing => "'none'",
        Behind::Server => "'self'",
    };
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}' 'sha256-{}'; style-src 'sha256-{}'; img-src data:; \
         connect-src {connect}; base-uri 'none'; form-action 'none'",
        hash(LAYOUT),
        hash(&script),
        hash(STYLE),
    );
    let parts = [
        ("{{title}}", crate::svg::escaped(title)),
        ("{{policy}}", policy.clone()),
        ("{{icon}}", data_url(ICON)),
        ("{{style}}", STYLE.to_string()),
        ("{{data}}", json_in_html(data)),
        ("{{script}}", script),
        ("{{layout}}", LAYOUT.to_string()),
    ];
    Page { html: filled(&parts), policy }
}

/// The shell with its parts. Parts are put in from the left to the right, so that none is looked for inside
/// another.
fn filled(parts: &[(&str, String)]) -> String {
    let size = SHELL.len() + parts.iter().map(|(_, text)| text.len()).sum::<usize>();
    let mut html = String::with_capacity(size);
    let mut rest = SHELL;
    for (mark, text) in parts {
        let (before, after) = rest.split_once(mark).expect("the shell has its marks in this order");
        html.push_str(before);
        html.push_str(text);
        rest = after;
    }
    html.push_str(rest);
    html
}

/// All modules as one script: each becomes a function that is called at once and gives what it exports.
fn script() -> String {
    let mut whole = String::from("'use strict';\n");
    for (file, text) in MODULES {
        whole.push_str(&format!("const ${} = (() => {{\n", name_of(file)));
        let mut exported = Vec::new();
        for line in text.lines() {
            if let Some((names, from)) = imported(line) {
                whole.push_str(&format!("const {names} = ${};\n", name_of(from)));
                continue;
            }
            let told = line.strip_prefix("export ");
            exported.extend(told.and_then(declared));
            whole.push_str(told.unwrap_or(line));
            whole.push('\n');
        }
        whole.push_str(&format!("return {{ {} }};\n}})();\n", exported.join(", ")));
    }
    whole
}

fn name_of(file: &str) -> &str {
    file.strip_suffix(".js").unwrap_or(file)
}

/// `import { a, b } from './file.js';` as the braces and the file.
fn imported(line: &str) -> Option<(&str, &str)> {
    let (names, from) = line.strip_prefix("import ")?.split_once(" from './")?;
    Some((names, from.strip_suffix("';")?))
}

/// The name that a line declares.
fn declared(line: &str) -> Option<&str> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let kinds = ["function ", "const ", "class "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// JSON that no text inside can end: `<` is written as an escape.
fn json_in_html(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c")
}

fn hash(text: &str) -> String {
    base64(&Sha256::digest(text.as_bytes()))
}

fn data_url(svg: &str) -> String {
    format!("data:image/svg+xml;base64,{}", base64(svg.as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0_u32, |word, b| word << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        for digit in 0..4 {
            match digit <= three.len() {
                true => out.push(char::from(DIGITS[(word >> (18 - 6 * digit) & 63) as usize])),
                false => out.push('='),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn base64_is_as_the_standard_writes_it() {
        for (text, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes()), coded);
        }
    }

    #[test]
    fn no_text_of_a_model_ends_the_script_it_is_in() {
        let data = serde_json::json!({ "text": "</script><script>alert(1)</script>{{script}}" });
        let html = page("<title>", &data, Behind::Nothing).html;
        assert!(!html.contains("<script>alert"));
        assert!(html.contains("\\u003cscript>alert(1)"));
        assert!(html.contains("<title>&lt;title&gt;</title>"));
    }

    #[test]
    fn the_policy_names_what_the_page_has_and_no_more() {
        let page = page("m", &Value::Null, Behind::Nothing);
        assert!(page.html.contains(&page.policy));
        assert!(page.policy.contains("default-src 'none'") && page.policy.contains("connect-src 'none'"));
        assert!(!page.policy.contains("unsafe"));
        assert!(!page.html.contains("http://") || !page.html.contains("src=\"http"));
    }

    #[test]
    fn the_modules_import_only_what_earlier_ones_export() {
        let mut exported: HashMap<&str, HashSet<&str>> = HashMap::new();
        for (file, text) in MODULES {
            let mut own = HashSet::new();
            for line in text.lines() {
                assert!(!line.starts_with("import ") || imported(line).is_some(), "{file}: {line}");
                if let Some((names, from)) = imported(line) {
                    let known = exported
                        .get(from)
                        .unwrap_or_else(|| panic!("{file} imports {from}, which comes later"));
                    let names = names.trim_matches(['{', '}']).split(',').map(str::trim);
                    names.for_each(|name| {
                        assert!(known.contains(name), "{file}: {from} does not export {name}")
                    });
                }
                if let Some(told) = line.strip_prefix("export ") {
                    own.insert(declared(told).unwrap_or_else(|| panic!("{file}: {line}")));
                }
            }
            exported.insert(file, own);
        }
    }
}
