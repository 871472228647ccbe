"""The package as its users meet it, from the installed wheel."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

import volee

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNTER = volee.Text("byte x; active proctype P() { do :: x < 3 -> x++ :: else -> x = 0 od }")
# More states than any budget here has room or time for.
ENDLESS = volee.Text(
    "byte a[8]; active [3] proctype P() {"
    " byte i; do :: i < 7 -> i++ :: i > 0 -> i-- :: a[i]++ :: a[i] > 0 -> a[i]-- od }"
)
BUG = volee.Text("byte x;\nactive proctype P() {\n  x++;\n  assert(x == 2)\n}\n")


def test_what_holds_is_true():
    answer = volee.check(COUNTER, invariant="x < 4", reachable=["x == 3"])
    assert answer and answer.verdict == "holds"
    assert [r.question for r in answer.results] == ["deadlock", "assertions", "invariant x < 4", "reachable x == 3"]
    assert answer.violation is None
    assert answer.states > 3
    answer.assert_holds()


def test_a_violation_has_its_reason_and_its_run():
    answer = volee.check(BUG)
    bad = answer.violation
    assert not answer and bad.question == "assertions"
    assert (bad.reason.kind, bad.reason.line) == ("assertion", 4)
    assert bad.run.initial["x"] == 0
    assert bad.run.states()[-1]["x"] == 1
    assert [s.process for s in bad.run.steps] == ["P"] * len(bad.run)
    assert "how it happens" in str(answer)
    with pytest.raises(AssertionError, match="assert"):
        answer.assert_holds()


def test_questions_are_found_by_their_names():
    model = volee.Text(COUNTER.text + " ltl small { [] (x < 3) }")
    answer = volee.check(model)
    assert answer["small"].verdict == "violated"
    assert answer["ltl small"] is answer["small"]
    with pytest.raises(KeyError, match="was not asked"):
        answer["large"]


def test_notebooks_show_charts_and_pages():
    answer = volee.check(BUG)
    assert answer.violation._repr_svg_().lstrip().startswith(("<?xml", "<svg"))
    assert "<svg" in answer._repr_html_() and "<pre>" in answer._repr_html_()
    assert answer.html().lstrip().lower().startswith("<!doctype html")
    assert "<pre>" in volee.check(COUNTER)._repr_html_()


def test_a_run_is_a_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = volee.check(BUG).violation.run.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["x"])[0] == 0 and list(frame["x"])[-1] == 1
    assert {"process", "statement", "line"} <= set(frame.columns)


def test_what_is_wrong_is_an_error_with_its_place():
    with pytest.raises(volee.InputError, match=r"model.pml:1:23.*`?y`?"):
        volee.check(volee.Text("active proctype P() { y++ }"))
    with pytest.raises(volee.InputError, match="no such file"):
        volee.check("nowhere.pml")
    with pytest.raises(volee.InputError, match="no engine"):
        volee.check(COUNTER, engine="steam")
    with pytest.raises(volee.InputError, match="no fairness `some`"):
        volee.check(COUNTER, fair="some")
    with pytest.raises(TypeError, match="'colour'"):
        volee.compare(COUNTER, COUNTER, colour="red")


def test_limits_are_unknown():
    answer = volee.check(ENDLESS, time=0.2, only="deadlock")
    assert answer.verdict == "unknown" and answer.results[0].reason.kind == "time"


def test_definitions_reach_the_model():
    model = volee.Text("#ifndef N\n#define N 1\n#endif\nactive proctype P() { assert(N < 5) }")
    assert volee.check(model) and not volee.check(model, define={"N": 7})


def test_random_runs_depend_on_the_seed_alone():
    one, other = (volee.simulate(COUNTER, steps=20, seed=7) for _ in range(2))
    assert one.run.states() == other.run.states() and len(one.run) == 20
    assert one._repr_svg_()


A = volee.Text('des (0, 3, 3)\n(0, "a", 1)\n(1, "b", 0)\n(1, "b", 2)\n', "aut")
B = volee.Text('des (0, 2, 2)\n(0, "a", 1)\n(1, "b", 0)\n', "aut")


def test_systems_are_compared_and_reduced():
    assert volee.compare(A, A) and not volee.compare(A, B)
    assert volee.compare(A, B).reason.message
    small = volee.reduce(volee.Text('des (0, 2, 3)\n(0, "a", 1)\n(0, "a", 2)\n', "aut"))
    assert (small.states, small.states_before) == (2, 3)
    assert small.aut.startswith("des (0")
    assert volee.compare(volee.Text(small.aut, "aut"), volee.Text('des (0, 1, 2)\n(0, "a", 1)\n', "aut"))


def test_equations_are_solved():
    game = volee.Text("parity 1;\n0 0 0 1;\n1 1 1 0;\n", "gm")
    assert volee.solve(game).value in (True, False)
    with pytest.raises(volee.InputError):
        volee.solve(volee.Text("nonsense", "bes"))


def test_tests_are_made():
    machine = volee.Text('des (0, 2, 2)\n(0, "?coin", 1)\n(1, "!tea", 0)\n', "aut")
    made = volee.tests(machine, cover="!tea")
    assert made.verdict == "holds" and "tea" in made.test
    assert volee.tests(machine).verdict == "holds"


def lift(top):
    def successors(floor):
        if floor < top:
            yield "up", floor + 1
        if floor > 0:
            yield "down", floor - 1

    return volee.Model(0, successors, low=lambda floor: floor < top, home=lambda floor: floor == 0, name="lift")


def test_a_model_in_python_is_asked_as_any_other():
    answer = volee.check(lift(5), invariant="low")
    assert answer["low"].verdict == "violated" and answer["deadlock"].verdict == "unknown"
    assert volee.check(lift(5))["deadlock"]
    assert [s.label for s in answer["low"].run.steps] == ["up"] * 5
    assert answer["low"].run.initial == {"state": 0}
    assert volee.check(lift(4), reachable="home").states == 5
    assert not volee.check(lift(4), ltl="[]<> home")
    with pytest.raises(volee.InputError, match="no predicate `high`"):
        volee.check(lift(4), invariant="high")


def test_a_model_in_python_is_walked_compared_reduced_and_tested_from():
    walk = volee.simulate(lift(3), steps=10, seed=2)
    assert len(walk.run) == 10 and walk.run.initial == {"state": 0} and walk.ending == "steps"
    assert volee.compare(lift(3), lift(3)) and not volee.compare(lift(3), lift(4))
    assert volee.compare(lift(2), volee.Text('des (0, 4, 3)\n(0, "up", 1)\n(1, "up", 2)\n(2, "down", 1)\n(1, "down", 0)\n', "aut"))
    # Who cannot see it go down sees it go up as often as they like.
    small = volee.reduce(lift(3), "weak-trace", hide="down")
    assert (small.states, small.states_before) == (1, 4)

    def machine(state):
        yield ("?coin", 1) if state == 0 else ("!tea", 0)

    assert "tea" in volee.tests(volee.Model(0, machine), cover="!tea").test


def test_a_model_in_python_may_end_where_it_says_so():
    def count(n):
        return [("tick", n + 1)] if n < 3 else []

    assert volee.check(volee.Model(0, count)).violation.question == "deadlock"
    assert volee.check(volee.Model(0, count, is_end=lambda n: n == 3))


def test_what_a_model_raises_reaches_the_caller():
    def bad(state):
        raise RuntimeError(f"at {state}")

    with pytest.raises(RuntimeError, match="at 0"):
        volee.check(volee.Model(0, bad))


def test_progress_is_told_and_may_end_the_search():
    seen = []

    def told(states, transitions, depth, memory):
        seen.append(states)
        raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        volee.check(ENDLESS, time=60, progress=told)
    assert seen and seen[0] > 0


def test_progress_without_tqdm_is_silent(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert volee.check(COUNTER, progress=True)


def test_progress_with_tqdm_is_a_bar():
    pytest.importorskip("tqdm")
    assert volee.check(COUNTER, progress=True)


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("call", ["check(ENDLESS)", "reduce(ENDLESS)", "check(COUNTS)", "check(HANGS)", "simulate(COUNTS)"])
def test_ctrl_c_ends_a_call(call):
    # Whoever runs the tests in the background may have them ignore the signal.
    code = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import volee
ENDLESS = volee.Text({ENDLESS.text!r})
COUNTS = volee.Model(0, lambda n: [("tick", n + 1)])
def hangs(state):
    while True:
        pass
HANGS = volee.Model(0, hangs)
print("ready", flush=True)
volee.{call[:-1]}, {"steps=10**9" if "simulate" in call else "memory='8G'"})
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    try:
        _, errors = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode != 0 and "KeyboardInterrupt" in errors


def test_other_threads_go_on_while_a_search_runs():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    volee.check(ENDLESS, time=0.5)
    done.set()
    thread.join()
    assert len(ticks) > before + 5


def test_the_lines_in_the_readme_do_what_they_say():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert blocks, "the README has lines of Python"
    there = os.getcwd()
    os.chdir(ROOT)
    try:
        names = {}
        for block in blocks:
            assert len(block.strip().splitlines()) <= 5
            exec(block, names)
    finally:
        os.chdir(there)
    assert not names["answer"]
    assert "<svg" in names["answer"].violation.run._repr_svg_()
