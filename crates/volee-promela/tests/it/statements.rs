//! What statements become: an outline of the resolved body, one line per statement.

use volee_promela::model::{Init, Statement, StatementKind, Type};
use volee_promela::{Model, parse_predicate, render};

use crate::model;

/// The body of the last proctype, indented, labels first.
fn outline(model: &Model) -> String {
    let behaviour = &model.proctypes.last().expect("a proctype").behaviour;
    let mut out = String::new();
    sequence(&mut out, &behaviour.body, &|id| behaviour.labels[id].name.to_string(), 0);
    out
}

fn sequence(out: &mut String, statements: &[Statement], label: &dyn Fn(usize) -> String, depth: usize) {
    for statement in statements {
        let indent = "  ".repeat(depth);
        let labels: String = statement.labels.iter().map(|l| label(l.0 as usize) + ": ").collect();
        let mut compound = |word: &str, parts: &[&[Statement]]| {
            *out += &format!("{indent}{labels}{word}\n");
            for (i, part) in parts.iter().enumerate() {
                if i > 0 {
                    *out += &format!("{indent}--\n");
                }
                sequence(out, part, label, depth + 1);
            }
        };
        let parts = |options: &'_ Vec<Vec<Statement>>| -> Vec<Vec<Statement>> { options.clone() };
        match &statement.kind {
            StatementKind::Block(inner) => compound("block", &[inner]),
            StatementKind::Atomic(inner) => compound("atomic", &[inner]),
            StatementKind::DStep(inner) => compound("d_step", &[inner]),
            StatementKind::If(options) => {
                compound("if", &parts(options).iter().map(Vec::as_slice).collect::<Vec<_>>());
            }
            StatementKind::Do(options, _) => {
                compound("do", &parts(options).iter().map(Vec::as_slice).collect::<Vec<_>>());
            }
            StatementKind::Unless { body, escape } => compound("unless", &[body, escape]),
            _ => *out += &format!("{indent}{labels}{}\n", statement.text),
        }
    }
}

/// Compares the outline of the last proctype.
fn check(text: &str, expected: &str) {
    let expected: Vec<&str> = expected.trim_end().trim_matches('\n').lines().collect();
    let indent = expected[0].len() - expected[0].trim_start().len();
    let expected: String = expected.iter().map(|line| format!("{}\n", line[indent..].trim_end())).collect();
    assert_eq!(outline(&model(text)), expected, "for {text}");
}

#[test]
fn simple_statements_look_as_in_spin() {
    check(
        "chan c = [2] of { mtype, byte }; mtype = { msg, ack }; byte x, a[3];
         proctype P(byte b) { skip }
         init { c!msg(3); c!!ack,x+1; c?msg,x; c??ack,eval(x); c?<_,a[x]>; c??<msg,_>;
                x == 1; x = x+1; x++; a[2]--; skip; true; run P(1); assert(x < 3 || !x); printf(\"%d %e\\n\", x, 1);
                c?[msg,x] && len(c) > 2; (x > 1 -> 2 : 3) ; -x; timeout; goto end; end: skip }",
        "
        c!msg,3
        c!!ack,(x+1)
        c?msg,x
        c??ack,eval(x)
        c?<_,a[x]>
        c??<msg,_>
        (x==1)
        x = (x+1)
        x = (x+1)
        a[2] = (a[2]-1)
        (1)
        (1)
        (run P(1))
        assert((x<3)||!(x))
        printf('%d %e\\n',x,1)
        (c?[msg,x]&&(len(c)>2))
        ((x>1) -> 2 : 3)
        (-(x))
        (timeout)
        goto end
        end: (1)
        ",
    );
}

#[test]
fn operators_bind_as_in_the_grammar() {
    let model = model("int a, b, c; init { skip }");
    let text = |source: &str| render::expr(&model, &[], &parse_predicate(&model, source).expect(source));
    for (source, expected) in [
        ("a + b * c - 1", "((a+(b*c))-1)"),
        ("a - b - c", "((a-b)-c)"),
        ("a && b || c && a", "((a&&b)||(c&&a))"),
        ("a == b & c", "((a==b)&c)"),
        ("a | b ^ c & a", "(a|(b^(c&a)))"),
        ("a << 1 + b < c", "((a<<(1+b))<c)"),
        ("!a == b", "(!(a)==b)"),
        ("- a * ~b", "(-(a)*~(b))"),
        ("a < b == c", "((a<b)==c)"),
        ("!!a", "!(!(a))"),
        ("'a' + '\\n'", "(97+10)"),
        ("(a -> b : c) + 1", "((a -> b : c)+1)"),
    ] {
        assert_eq!(text(source), expected);
    }
}

#[test]
fn separators_may_be_missing_where_spin_sees_them() {
    let expected = "
        x = 1
        (-(x))
        if
          (x==1)
          x = 2
        --
          else
          (1)
        block
          x = 3
        x = 4
        do
          break
        (1)
        ";
    check(
        "byte x; init { x = 1\n -x\n if :: x == 1 -> x = 2 :: else fi\n { x = 3 } x = 4 ; do :: break od\n skip }"
            .replace("else fi", "else skip fi")
            .as_str(),
        expected,
    );
    check(
        "byte x; init { x = 1;; -x -> if :: x == 1; x = 2; :: else -> skip; fi; { x = 3; }; x = 4; do :: break; od; skip; }",
        expected,
    );
}

#[test]
fn an_expression_goes_on_behind_a_line_end_when_nothing_else_makes_sense() {
    check("byte x; init { x = 1\n + 2; (x\n - 1) }", "\n x = (1+2)\n (x-1)");
}

#[test]
fn a_for_loop_is_an_assignment_and_a_loop() {
    check(
        "byte i, a[3]; init { L: for (i : 1 .. 3) { a[i] = 1; if :: break :: skip fi } }",
        "
        i = 1
        L: do
          else
          break
        --
          (i<=3)
          a[i] = 1
          if
            break
          --
            (1)
          i = (i+1)
        ",
    );
    check(
        "byte i, a[3]; init { for (i in a) { skip } }",
        "
        i = 0
        do
          else
          break
        --
          (i<=2)
          (1)
          i = (i+1)
        ",
    );
}

#[test]
fn a_for_loop_over_a_channel_turns_it_once_around() {
    check(
        "typedef M { byte a; byte b[2] } chan c = [4] of { M }; init { M m; for (m in c) { m.a++ } }",
        "
        _for = 0
        do
          else
          break
        --
          (_for<len(c))
          c?m.a,m.b[0],m.b[1]
          c!m.a,m.b[0],m.b[1]
          m.a = (m.a+1)
          _for = (_for+1)
        ",
    );
}

#[test]
fn select_is_a_choice_for_small_literal_ranges_and_a_loop_otherwise() {
    check("byte i; init { select (i : 1 .. 2) }", "\n if\n   i = 1\n --\n   i = 2");
    let looped = "\n i = 1\n do\n   break\n --\n   (i<n)\n   i = (i+1)";
    check("byte i, n; init { select (i : 1 .. n) }", looped);
    check("byte a_b; init { select (a_b : 1 .. 2) }", &looped.replace('i', "a_b").replace("<n", "<2"));
    let long = "\n i = 0\n do\n   (i<99)\n   i = (i+1)\n --\n   break";
    check("byte i; init { select (i : 0 .. 99) }", long);
    check(
        "byte i; inline f() { select (i : 1 .. 2) } init { f() }",
        "\n block\n   i = 1\n   do\n     break\n   --\n     (i<2)\n     i = (i+1)",
    );
}

#[test]
fn inlines_are_copied_with_their_arguments() {
    let copies = |variable: &str| {
        let once = |value: &str| {
            format!("  block\n    t = 0\n    t = {value}\n    v = (v+t)\n    goto out\n    out: (1)\n")
        };
        format!("block\n{}{}", once("2"), once("v")).replace('v', variable)
    };
    check(
        "byte x, y; inline add(a, b) { byte t; t = b; a = a + t; goto out; out: skip }
         inline twice(a) { add(a, 2) add(a, a) }
         init { twice(x); twice(y) }",
        &(copies("x") + &copies("y")),
    );
}

#[test]
fn an_inline_may_return_a_value() {
    check(
        "byte x; inline inc(n) { if :: n > 3 -> return 0 :: else -> return n + 1 fi } init { x = inc(x) }",
        "
        block
          if
            (x>3)
            x = 0
          --
            else
            x = (x+1)
        ",
    );
}

#[test]
fn statements_of_inlines_stand_in_the_inline_and_those_of_macros_at_the_call() {
    let model =
        model("#define STEP x = 1; x = 2\nbyte x;\ninline f(v) {\n  v = 3\n}\ninit {\n  f(x);\n  STEP\n}");
    let body = &model.proctypes[0].behaviour.body;
    let StatementKind::Block(inner) = &body[0].kind else { panic!("{:?}", body[0]) };
    let places: Vec<(u32, u32)> =
        [&inner[0], &body[1], &body[2]].iter().map(|s| (s.place.line, s.place.column)).collect();
    assert_eq!(places, [(4, 3), (8, 3), (8, 3)]);
}

#[test]
fn a_jump_takes_the_nearest_label() {
    let model = model("init { goto a; { goto a; skip; a: skip }; a: skip }");
    let body = &model.proctypes[0].behaviour.body;
    let StatementKind::Goto(outer) = body[0].kind else { panic!() };
    let StatementKind::Block(inner) = &body[1].kind else { panic!() };
    let StatementKind::Goto(nested) = inner[0].kind else { panic!() };
    assert_eq!((body[2].labels[0], inner[2].labels[0]), (outer, nested));
    assert_ne!(outer, nested);
}

#[test]
fn escapes_take_the_labels_of_what_they_guard() {
    check(
        "byte x; init { L: { x = 1; x = 2 } unless { x == 3; x = 4 }; x = 5 unless timeout; M: atomic { x++ } unless { x } }",
        "
        L: unless
          x = 1
          x = 2
        --
          (x==3)
          x = 4
        unless
          x = 5
        --
          (timeout)
        M: unless
          atomic
            x = (x+1)
        --
          (x)
        ",
    );
}

#[test]
fn variables_of_the_midst_of_a_body_are_set_there() {
    let model = model("init { byte a = 1, b; skip; byte c; byte d = 2; int e[2]; { byte f = a } }");
    assert_eq!(outline(&model), "(1)\nc = 0\nd = 2\ne[0] = 0\nblock\n  f = a\n");
    let inits: Vec<bool> =
        model.proctypes[0].behaviour.locals.iter().map(|v| matches!(v.init, Init::Value(_))).collect();
    assert_eq!(inits, [true, false, false, false, false, false]);
}

#[test]
fn symbolic_names_are_numbered_backwards() {
    let model = model(
        "mtype = { a, b, c }; mtype = { d, e }; mtype:fruit = { apple, pear }; mtype:fruit f = pear; init { skip }",
    );
    let values: Vec<(String, u8)> =
        model.mtypes.iter().flat_map(|set| &set.names).map(|n| (n.name.to_string(), n.value)).collect();
    let expected = [("a", 3), ("b", 2), ("c", 1), ("d", 5), ("e", 4), ("apple", 2), ("pear", 1)]
        .map(|(n, v)| (n.to_owned(), v));
    assert_eq!(values, expected);
}

#[test]
fn structs_in_messages_are_their_scalars() {
    let model = model(
        "typedef In { byte f[2]; short s } typedef Out { In i; chan c }
        chan q = [1] of { mtype, Out }; Out o; init { q!1,o; q?_,o }",
    );
    let Init::Channel(channel) = &model.globals[0].init else { panic!() };
    assert_eq!(channel.fields[1..], [Type::Byte, Type::Byte, Type::Short, Type::Chan]);
    assert_eq!(outline(&model), "q!1,o.i.f[0],o.i.f[1],o.i.s,o.c\nq?_,o.i.f[0],o.i.f[1],o.i.s,o.c\n");
}

#[test]
fn the_top_level_is_taken_whole() {
    let model = model(
        "hidden int h; local byte l = 2; show short s; unsigned u : 5; pid p; chan c[2] = [3] of { byte };
         D_proctype D(byte x; chan y, z) priority 4 provided (h > 0 && _pid == 1) { xr y; xs z; skip }
         active [3] proctype A() { skip }
         never named { accept_all: do :: h -> break :: else od }
         notrace { do :: c[0]!_ od }
         init priority 2 { run D(1, c[0], c[1]) priority 5 }",
    );
    let names: Vec<(&str, u32, Option<u8>)> =
        model.proctypes.iter().map(|p| (&*p.name, p.active, p.priority)).collect();
    assert_eq!(names, [("D", 0, Some(4)), ("A", 3, None), (":init:", 1, Some(2))]);
    assert_eq!(model.proctypes[0].parameters, 3);
    assert_eq!(model.proctypes[0].behaviour.exclusive.len(), 2);
    assert!(model.proctypes[0].provided.is_some());
    assert!(model.claims[0].behaviour.labels[0].is_accept());
    assert!(model.trace.as_ref().is_some_and(|t| t.forbids));
    assert_eq!(model.globals[3].ty, Type::Unsigned(5));
}

#[test]
fn formulas_have_the_grammar_of_spin() {
    for (source, expected) in [
        ("[] p", "[] (p)"),
        ("[] p && q", "([] (p) && q)"),
        ("[] (p -> <> q)", "[] ((p -> <> (q)))"),
        ("p -> q -> p", "((p -> q) -> p)"),
        ("p U q && r", "((p U q) && r)"),
        ("p U q U r", "((p U q) U r)"),
        ("p || q && r", "(p || (q && r))"),
        ("p \\/ q /\\ r", "(p || (q && r))"),
        ("always p implies eventually q", "([] (p) -> <> (q))"),
        ("p <-> q", "(p <-> q)"),
        ("p until q release r weakuntil p", "(((p U q) V r) W p)"),
        ("X !p", "X (!(p))"),
        ("!(x == 1) U x > 2", "(!((x==1)) U (x>2))"),
        ("(x == 1 -> p : q)", "((x==1) -> p : q)"),
        ("[] (P@cs -> P[1]:v < 3)", "[] ((P@cs -> (P[1]:v<3)))"),
    ] {
        let text =
            format!("ltl f {{ {source} }} bool p, q, r; int x; active proctype P() {{ byte v; cs: v++ }}");
        let model = model(&text);
        assert_eq!(&*model.ltl[0].text, expected, "for {source}");
    }
}

#[test]
fn labels_that_are_referred_to_from_afar_are_marked() {
    let model = model("proctype P() { a: skip; b: skip } never { do :: P[0]@b od } init { run P() }");
    let remote: Vec<bool> = model.proctypes[0].behaviour.labels.iter().map(|l| l.remote).collect();
    assert_eq!(remote, [false, true]);
}

#[test]
fn predicates_see_globals_and_processes() {
    let model = model("mtype = { on, off }; mtype m; byte x[2]; active proctype P() { byte v; cs: v++ }");
    let expr = parse_predicate(&model, "x[1] < 3 && P[0]@cs && P:v == 2 || m == on").expect("a predicate");
    assert_eq!(render::expr(&model, &[], &expr), "((((x[1]<3)&&P[0]@cs)&&(P:v==2))||(m==on))");
    let with_macros = crate::model("#define N 2\n#define both(a, b) (a && b > N)\nbyte x; init { skip }");
    let expr = parse_predicate(&with_macros, "both(x, x)").expect("a predicate");
    assert_eq!(render::expr(&with_macros, &[], &expr), "(x&&(x>2))");
    let errors = |text: &str| parse_predicate(&model, text).expect_err(text)[0].to_string();
    assert_eq!(errors("x[0] < y"), "predicate:1:8: `y` is not declared");
    assert_eq!(errors("x[0] <"), "predicate:1:7: expected an expression, found the end");
    assert_eq!(errors("x[0] 3"), "predicate:1:6: expected the end of the expression, found `3`");
    assert_eq!(errors("run P()"), "predicate:1:5: `run` cannot stand in a predicate");
    assert_eq!(errors("P[0]@sc"), "predicate:1:6: the proctype `P` has no label `sc`");
}
