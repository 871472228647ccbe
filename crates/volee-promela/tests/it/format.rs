//! The formatter: the same program, evenly laid out, and the same text when it is laid out again.

use std::path::Path;

use volee_promela::format::{Style, format};
use volee_promela::{Options, parse};

use crate::corpus::models;

fn formatted(text: &str) -> String {
    format("m", text, Style::default()).unwrap_or_else(|wrong| panic!("{wrong}\nin:\n{text}"))
}

#[test]
fn indentation_and_spacing_are_even() {
    let text = "byte x=1,y ; chan c=[ 2 ] of{byte,bit};\n\
        active   [2]proctype P (byte n;int m){   byte z ; // why\n\
        if\n :: x==1->x ++;y=-x\n   :: else->skip fi;\n\
        do :: c ! x,1 -> break :: c ?<y ,_> :: c??[1,0]-> goto L od\n\
        L : atomic{ x=(y>2->1:0); printf( \"%d\\n\",a[ x ] . b ) }\n  d_step {\nx= ! y; y=!!x }\n}\n\n\n\n\
        ltl p {[]<>(x<3) && (x <-> y)}\n";
    let expected = "\
byte x = 1, y; chan c = [2] of { byte, bit };
active [2] proctype P(byte n; int m) {
    byte z;  // why
    if
    :: x == 1 -> x++; y = -x
    :: else -> skip
    fi;
    do :: c!x, 1 -> break :: c?<y, _> :: c??[1, 0] -> goto L od
L : atomic { x = (y > 2 -> 1:0); printf(\"%d\\n\", a[x].b) }
    d_step {
        x = !y; y = !!x
    }
}

ltl p {[]<>(x<3) && (x <-> y)}
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn comments_and_directives_stay() {
    let text = "/* head\n * of the file\n */\n#define N   3 /* three */\n  #define M(a) \\\n\t   a+1\ninit {\n/* inside\n   it */\nskip /* a */ ; /* b */ x++ // c\n#ifdef N\n:: \n#endif\n}\n// end";
    let expected = "/* head\n * of the file\n */\n#define N   3 /* three */\n#define M(a) \\\n\t   a+1\ninit {\n    /* inside\n       it */\n    skip /* a */; /* b */ x++  // c\n#ifdef N\n::\n#endif\n}\n// end\n";
    assert_eq!(formatted(text), expected);
}

#[test]
fn a_line_end_that_ends_a_statement_stays() {
    for text in ["init { byte x;\n x = 1\n -x\n}", "init { chan c; c\n !c }", "init {\n skip\n (1) }"] {
        let after = formatted(text);
        assert_eq!(meaning("m", text), meaning("m", &after), "{after}");
        assert!(after.matches('\n').count() >= text.matches('\n').count());
    }
}

#[test]
fn what_cannot_be_read_is_refused() {
    for text in ["init { /* }", "init { \"a }", "init { x = 1 \\\n + 2 }", "init { ` }", "*/ init { skip }"] {
        assert!(format("m", text, Style::default()).is_err(), "{text}");
    }
}

#[test]
fn line_ends_of_windows_and_tabs_are_kept_if_asked() {
    let after =
        format("m", "init {\r\nskip\r\n}\r\n", Style { width: 8, tabs: true }).expect("it is formatted");
    assert_eq!(after, "init {\r\n\tskip\r\n}\r\n");
}

/// A model as text without the places in it, which formatting changes.
fn meaning(file: &str, text: &str) -> Option<String> {
    let (model, _) = parse(file, text, &Options::default());
    let shown = format!("{:?}", model?);
    // Places are `Place { file: …, line: …, column: … }`.
    let mut parts = shown.split("Place { file: ");
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        all.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    Some(all)
}

#[test]
fn real_models_keep_their_meaning_and_their_layout_once_they_have_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = root.join("../../../shared/corpus/promela");
    if !corpus.is_dir() {
        println!("skipped: no corpus at {}", corpus.display());
    }
    let mut refused = Vec::new();
    let mut count = 0;
    for path in
        [root.join("../../models"), root.join("../../examples"), corpus].iter().flat_map(|d| models(d))
    {
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a model")).into_owned();
        let name = path.display().to_string();
        count += 1;
        for style in [Style::default(), Style { width: 8, tabs: true }] {
            match format(&name, &text, style) {
                Ok(after) => {
                    assert_eq!(meaning(&name, &text), meaning(&name, &after), "{name}\n{after}");
                    assert_eq!(format(&name, &after, style).as_ref(), Ok(&after), "{name}");
                }
                Err(why) => refused.push(why.to_string()),
            }
        }
    }
    // A comment in a comment ends with a `*/` too many.
    assert!(refused.iter().all(|why| why.contains("the end of a comment")), "{refused:#?}");
    assert!(refused.len() <= 2 && count > 80, "{count}: {refused:#?}");
}
