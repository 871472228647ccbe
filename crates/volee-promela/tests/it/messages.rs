//! Messages: what is wrong, where, and what to do. Several at once.

use crate::errors;

fn check(text: &str, expected: &[&str]) {
    assert_eq!(errors(text), expected, "for {text}");
}

#[test]
fn syntax_errors_say_what_was_expected() {
    check("init { x = ; }", &["m:1:12: expected an expression, found `;`"]);
    check(
        "init { if skip fi }",
        &[
            "m:1:11: expected `::` and the first option, found `skip` (write `if :: condition -> … :: else -> … fi`)",
        ],
    );
    check("init { skip ", &["m:1:6: this `{` is never closed"]);
    check("init { { skip } ", &["m:1:6: this `{` is never closed"]);
    check("init { if :: skip od }", &["m:1:8: this `if` is not closed by `fi` before `od`"]);
    check(
        "init { do :: skip }",
        &[
            "m:1:8: this `do` is not closed by `od` before `}` (every `if` has a `fi` of its own, every `do` an `od`, also inside another's `else`)",
        ],
    );
    check("init { goto if }", &["m:1:13: expected a label, found the keyword `if` (choose another name)"]);
    check("init { }", &["m:1:6: there are no statements here (write at least `skip`)"]);
    check(
        "byte if; init { skip }",
        &["m:1:6: expected the name of a variable, found the keyword `if` (choose another name)"],
    );
    check("init { skip skip }", &["m:1:13: expected `;` or a new line between two statements, found `skip`"]);
    check("init { skip } }", &["m:1:15: expected a declaration or a proctype, found `}`"]);
    check("/* init { skip }", &["m:1:1: this comment is never closed"]);
    check("init { printf(\"a)\n }", &["m:1:15: this string is never closed"]);
    check(
        "proctpye P() { skip }",
        &["m:1:1: expected a declaration or a proctype, found `proctpye` (did you mean `proctype`?)"],
    );
    check(
        "",
        &[
            "m:1:1: there is no process in this model (write `active proctype Name() { … }`, or `init { … }` that runs the others)",
        ],
    );
    check("init { \0 }", &["m:1:8: this is not a text file: it has a zero byte (is it the right file?)"]);
    check("init { \x07 }", &["m:1:8: expected a statement, found `\\u{7}`"]);
    check(
        "init { x = 99999999999 }",
        &["m:1:12: the number 99999999999 is too large (numbers have 32 bits)"],
    );
}

#[test]
fn several_errors_are_found_in_one_run() {
    check(
        "byte x\nproctype P( { skip }\ninit {\n  x = ;\n  x = (1;\n  x = 2\n  if :: x == fi\n}",
        &[
            "m:2:13: expected a type, found `{`",
            "m:4:7: expected an expression, found `;`",
            "m:5:9: expected `)`, found `;`",
            "m:7:14: expected an expression, found `fi`",
        ],
    );
    check(
        "byte count;\ninit {\n  cuont = 1;\n  goto nowhere;\n  run Q();\n  break\n}\nproctype P() { here: skip }",
        &[
            "m:3:3: `cuont` is not declared (did you mean `count`?)",
            "m:4:8: there is no label `nowhere` in this body",
            "m:5:7: there is no proctype `Q` (did you mean `P`?)",
            "m:6:3: `break` outside a loop (it leaves a `do … od` or a `for`)",
        ]
        .map(|line| if line.contains("`Q`") { "m:5:7: there is no proctype `Q`" } else { line }),
    );
}

#[test]
fn embedded_c_is_refused_by_name() {
    let help = "(volee has no C compiler behind it; write the step in Promela)";
    check(
        "c_decl { int x; }\ninit { skip }",
        &[&format!("m:1:1: embedded C (`c_decl`) is not supported {help}")],
    );
    check(
        "init { c_code { x = 'a'; { } }; skip }",
        &[&format!("m:1:8: embedded C (`c_code`) is not supported {help}")],
    );
    check(
        "c_state \"int x\" \"Global\"\ninit { skip }",
        &[&format!("m:1:1: embedded C (`c_state`) is not supported {help}")],
    );
    check(
        "c_track \"&x\" \"4\"\ninit { skip }",
        &[&format!("m:1:1: embedded C (`c_track`) is not supported {help}")],
    );
    check(
        "init { if :: c_expr { x } -> skip fi }",
        &[&format!("m:1:14: embedded C (`c_expr`) is not supported {help}")],
    );
}

#[test]
fn names_must_mean_one_thing() {
    check(
        "byte x; int x; init { skip }",
        &["m:1:13: `x` is already declared (the other declaration is at m:1:6)"],
    );
    check(
        "init { byte a; byte a; skip }",
        &["m:1:21: `a` is already declared (the other declaration is at m:1:13)"],
    );
    check(
        "mtype = { a }; byte a; init { skip }",
        &["m:1:21: `a` is already declared (the other declaration is at m:1:11)"],
    );
    check(
        "mtype = { a }; init { byte a; skip }",
        &["m:1:28: `a` is the name of an mtype value, so it cannot be a variable"],
    );
    check(
        "init { L: skip; L: skip }",
        &["m:1:17: the label `L` is already there (the other one is at m:1:8)"],
    );
    check(
        "proctype P() { skip } proctype P() { skip }",
        &["m:1:32: the proctype `P` is already declared (the other declaration is at m:1:10)"],
    );
    check("init { skip } init { skip }", &["m:1:15: there is a second `init` (the other one is at m:1:1)"]);
    check("byte _pid; init { skip }", &["m:1:6: `_pid` is predefined and cannot be declared"]);
    check(
        "typedef T { byte a; int a } init { skip }",
        &["m:1:25: the field `a` is already declared (the other declaration is at m:1:18)"],
    );
    check(
        "inline f() { skip }\ninline f() { skip }\ninit { f() }",
        &["m:2:8: the inline `f` is already defined (the other definition is at m:1:8)"],
    );
}

#[test]
fn types_are_checked_where_spin_checks_them() {
    check("mtype = { a }; init { a = 1 }", &["m:1:23: `a` is a constant, not a variable"]);
    check("init { _pid = 1 }", &["m:1:8: `_pid` cannot be assigned to"]);
    check("byte x; init { x!1 }", &["m:1:16: `x` is not a channel but of type `byte`"]);
    check("typedef T { byte a } T t; init { t.b = 1 }", &["m:1:36: the type `T` has no field `b`"]);
    check(
        "typedef T { byte a } T t; byte x; init { x = t }",
        &["m:1:46: `t` is a whole struct of type `T` (name one of its fields)"],
    );
    check("byte x; init { x.a = 1 }", &["m:1:18: `x` is of type `byte`, so it has no field `a`"]);
    check("byte x; init { x[2] = 1 }", &["m:1:16: `x` is not an array, so it has no elements"]);
    check(
        "chan c = [1] of { byte }; init { c!1,2 }",
        &["m:1:34: 2 fields are sent, but a message of this channel has 1"],
    );
    check(
        "chan c = [1] of { byte }; byte x; init { c?x,x }",
        &["m:1:44: 2 fields are received, but a message of this channel has 1"],
    );
    check(
        "proctype P(byte a) { skip } init { run P() }",
        &["m:1:40: the proctype `P` has 1 parameters but gets 0 arguments (it is declared at m:1:10)"],
    );
    check(
        "proctype P() { skip } init { P() }",
        &["m:1:30: `P` is a proctype, so it cannot be called like this (write `run P(…)` to start one)"],
    );
    check(
        "int x := 5; init { skip }",
        &["m:1:8: expected a number of bits, found `=` (Promela has no `:=`; write `=` to assign)"],
    );
    check("Foo x; init { skip }", &["m:1:1: there is no type `Foo`"]);
    check("unsigned x; init { skip }", &["m:1:10: how many bits has `x`? (write `unsigned x : 4`)"]);
    check(
        "byte x = run P(); proctype P() { skip }",
        &[
            "m:1:14: `run` cannot stand in an initial value (use it in a statement of its own, or assign its value to a variable)",
        ],
    );
    check(
        "init { chan c; skip; chan d = [1] of { byte } }",
        &["m:1:27: the channel `d` is made in the midst of a body (declare it at the start of the proctype)"],
    );
    check(
        "ltl { [] x == 1 } byte x; init { skip }",
        &[
            "m:1:7: a temporal formula cannot be the operand of an arithmetic operator (temporal operators bind tightly: put parentheses around what they govern)",
        ],
    );
}

#[test]
fn jumps_respect_d_steps() {
    check(
        "init { d_step { goto L }; L: skip }",
        &["m:1:22: this jump goes into or out of a `d_step` (a `d_step` is one step; use `atomic` to jump)"],
    );
    check(
        "init { goto L; d_step { skip; L: skip } }",
        &["m:1:13: this jump goes into or out of a `d_step` (a `d_step` is one step; use `atomic` to jump)"],
    );
    check(
        "init { do :: d_step { skip; break } od }",
        &[
            "m:1:29: this `break` leaves a `d_step` in its midst (put the `break` behind the `d_step`, or use `atomic`)",
        ],
    );
    check("init { d_step { do :: break od } }", &[]);
}

#[test]
fn mistakes_in_inlines_name_the_call() {
    check(
        "inline f(a) {\n  a = y\n}\nbyte x; init { f(x) }",
        &["m:2:7: `y` is not declared (in the inline `f`, called at m:4:16)"],
    );
    check(
        "inline f(a) { a = 1 }\nbyte x; init { f(x, x) }",
        &["m:2:16: the inline `f` has 1 parameters but gets 2 arguments (it is defined at m:1:8)"],
    );
    check(
        "inline flip() { skip }\ninit { filp() }",
        &["m:2:8: `filp` is not an inline, so it cannot be called like this (did you mean `flip`?)"],
    );
}

#[test]
fn habits_from_other_languages_get_an_answer() {
    let cases = [
        ("init { byte x; while (x < 3) { x++ } }", "no `while`", "do :: condition"),
        ("init { byte x; x += 2 }", "no `+=`", "x = x + …"),
        ("init { byte x; x -= 2 }", "no `-=`", "x = x - …"),
        ("init { byte x; x := 2 }", "no `:=`", "write `=`"),
        ("struct S { byte a }; init { skip }", "no `struct`", "typedef"),
        ("enum { a, b }; init { skip }", "no `enum`", "mtype = {"),
        ("init { byte x; if (x == 1) { x++ } }", "expected `::`", "if :: condition"),
        ("init { byte i; for (i = 0; i < 3; i++) { skip } }", "has a range", "for (i : 0 .. n - 1)"),
        ("init { byte x; switch (x) { skip } }", "no `switch`", "if :: x == 1"),
        ("init { byte x; do :: continue; x++ od }", "no `continue`", "goto"),
        ("init { char c; c++ }", "no type `char`", "`byte`"),
        ("boolean b; init { skip }", "no type `boolean`", "`bool`"),
        ("init { byte x; (x = 1) -> skip }", "found `=`", "`==` compares"),
        ("init { byte x, y; y = x++ }", "found `++`", "statements of their own"),
        ("init { byte x; ++x }", "found `++`", "statements of their own"),
        ("init { byte x; x == 1 and x == 2 }", "found `and`", "`&&`"),
        ("init { byte x; x = (x > 1 ? 2 : 3) }", "found `?`", "(condition -> a : b)"),
        ("init { bool b; b = TRUE }", "`TRUE` is not declared", "`true`"),
        ("init { byte x; x = NULL }", "`NULL` is not declared", "`0`"),
        ("init { byte x; x <> 1 }", "found `>`", "`!=`"),
        ("void f() { skip } init { skip }", "no `void`", "inline"),
        ("process P() { skip } init { skip }", "no `process`", "proctype"),
        ("init { print(\"x\") }", "no `print`", "printf"),
    ];
    for (text, message, help) in cases {
        let all = errors(text);
        assert!(all.iter().any(|e| e.contains(message) && e.contains(help)), "{text}\n{all:?}");
    }
}

#[test]
fn words_of_other_languages_are_good_names() {
    let text = "byte end, loop, send, wait; inline repeat(n) { n++ } inline function(n) { n-- } init { function(end) } active proctype P() { repeat(loop); send = wait; wait: loop = end }";
    assert_eq!(errors(text), Vec::<String>::new());
}

#[test]
fn more_habits_of_other_languages_get_an_answer() {
    let habits = [
        ("int f(int a) { return a + 1 } init { skip }", "inline name(a, b)"),
        ("int main() { skip }", "write `init { … }`"),
        ("typedef struct { int x; } point; init { skip }", "typedef Name { byte a; int b }"),
        ("int a[3][3]; init { skip }", "an array has one dimension"),
        ("int x; init { if :: x < 3 => x++ fi }", "a guard is followed by `->`"),
        ("int x; init { x = 1 } ltl p { [] (x == 1 => <> (x == 2)) }", "in formulas `->` is \"implies\""),
        ("int x; init { x = 1 } ltl p { G (x == 1) }", "write `[]`"),
        ("int x; init { x = 1 } ltl p { F (x == 1) }", "write `<>`"),
        ("int x := 5; init { skip }", "write `=` to assign"),
        ("int x; init { for (int i = 0; i < 3; i++) { x = i } }", "byte i; for (i : 0 .. n - 1)"),
        ("unsigned int x; init { skip }", "a type is one word"),
        ("bool a; init { if :: not a -> skip fi }", "write `!`"),
        ("init { do :: skip; continue od }", "begin the loop anew"),
        ("init { do :: { skip; continue } od }", "begin the loop anew"),
        ("string s = \"abc\"; init { skip }", "Promela has no strings"),
        ("int *p; init { skip }", "Promela has no pointers"),
        (
            "init { int x; if :: x > 0 -> skip else if :: x < 0 -> skip fi }",
            "every `if` has a `fi` of its own",
        ),
        ("proctype P(int a) { skip } init { P(1) }", "write `run P(…)`"),
        ("init { atomic skip }", "write `{ … }` around it"),
    ];
    for (text, answer) in habits {
        let (_, found) = volee_promela::parse("m", text, &volee_promela::Options::default());
        let helps: Vec<&str> = found.iter().filter_map(|d| d.help.as_deref()).collect();
        assert!(helps.iter().any(|help| help.contains(answer)), "{text}\n{found:?}");
    }
}
