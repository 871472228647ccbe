"""The calls: a model and options in, dataclasses out."""

from __future__ import annotations

import contextlib
import json
import os
import random
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional, TypedDict, Union

from . import _volee
from ._answers import (
    Check, Comparison, Reduction, Result, Simulation, Solution, Tests, _message, _reason, _run,
)
from ._models import Model, Text

if TYPE_CHECKING:
    from typing_extensions import Unpack

Source = Union[str, "os.PathLike[str]", Text, Model]
Several = Union[str, Iterable[str]]


class Limits(TypedDict, total=False):
    """What every long call takes: how much it may use, and who is told how far it is.

    `memory` is a number of bytes or a text such as "512M", `time` is in seconds. `progress=True` shows a bar if tqdm is there; a
    function is called with the numbers of states and transitions, the depth and the bytes in use.
    """

    memory: Union[str, int, None]
    time: Optional[float]
    progress: Union[bool, Callable, None]


class Reading(Limits, total=False):
    """How a system is read: names of the preprocessor, events that nobody sees, whether nothing is optimised."""

    define: Union[Mapping[str, Any], Several, None]
    hide: Optional[Several]
    plain: bool


class Relabelling(Reading, total=False):
    """The same, where events may get another text as well: "PATTERN=TEXT"."""

    rename: Optional[Several]


def _given(allowed, given: dict, **more: Any) -> dict:
    """The options of a call as the extension reads them; a name that it does not know is a mistake."""
    unknown = sorted(set(given) - set(allowed.__annotations__))
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}")
    options = {**given, **more}
    for name in ("hide", "rename", "inputs", "outputs"):
        if name in options:
            options[name] = _listed(options[name])
    if "define" in options:
        options["define"] = _defined(options["define"])
    options.pop("progress", None)
    return {name: value for name, value in options.items() if value is not None}


def _listed(given: Optional[Several]) -> list:
    return [] if given is None else [given] if isinstance(given, str) else list(given)


def _defined(define) -> list:
    if isinstance(define, Mapping):
        return [f"{name}={value}" for name, value in define.items()]
    return _listed(define)


@contextlib.contextmanager
def _subject(model: Source):
    """A model as the extension takes it; a text is a file as long as it is needed."""
    if not isinstance(model, Text):
        yield model
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"model.{model.extension}")
        with open(path, "w", encoding="utf-8") as out:
            out.write(model.text)
        yield path


@contextlib.contextmanager
def _told(progress: Union[bool, Callable, None]):
    """A function that is told how far a search is: the caller's, or a bar of tqdm if that is there."""
    if progress is None or progress is False or callable(progress):
        yield progress or None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(unit=" states", unit_scale=True, leave=False) as bar:

        def told(states, transitions, depth, memory):
            bar.set_postfix(depth=depth, MB=memory >> 20, refresh=False)
            bar.update(states - bar.n)

        yield told


def _asked(call: Callable, models: Iterable, *words: str, options: dict, progress=None):
    """Calls the extension about these models."""
    with contextlib.ExitStack() as stack:
        subjects = [stack.enter_context(_subject(model)) for model in models]
        told = stack.enter_context(_told(progress))
        return call(*subjects, *words, json.dumps(options), told)


def check(
    model: Source,
    *,
    invariant: Optional[Several] = None,
    reachable: Optional[Several] = None,
    ltl: Optional[Several] = None,
    tl: Optional[Several] = None,
    mu: Optional[Several] = None,
    properties: Optional[Several] = None,
    only: Optional[Several] = None,
    skip: Optional[Several] = None,
    engine: Optional[str] = None,
    for_any: Optional[Several] = None,
    parameters: Optional[Several] = None,
    assume: Optional[Several] = None,
    fair: Optional[str] = None,
    define: Union[Mapping[str, Any], Several, None] = None,
    copies: Optional[Mapping[str, int]] = None,
    capacity: Optional[int] = None,
    depth: Optional[int] = None,
    shortest: bool = False,
    all_errors: bool = False,
    audit: bool = False,
    coverage: bool = False,
    plain: bool = False,
    seed: int = 0,
    workers: Optional[int] = None,
    **limits: Unpack[Limits],
) -> Check:
    """Asks questions about a model: without any, whether it deadlocks, whether its assertions and its own claims hold.

    `fair` is "weak" or "strong"; for `memory`, `time` and `progress` see :class:`Limits`.
    """
    options = _given(
        Limits, limits,
        invariant=_listed(invariant), reachable=_listed(reachable), ltl=_listed(ltl), tl=_listed(tl), mu=_listed(mu),
        properties=_listed(properties), only=_listed(only), skip=_listed(skip), engine=engine, for_any=_listed(for_any),
        parameters=_listed(parameters), assume=_listed(assume), fair=fair, define=define, copies=dict(copies or {}),
        capacity=capacity, depth=depth, shortest=shortest, all_errors=all_errors, audit=audit, coverage=coverage,
        plain=plain, seed=seed, workers=workers,
    )
    if isinstance(model, Text) and model.extension == "pml":
        # Its name is in the answer, so it is not that of a file that is gone.
        model, options = "model.pml", {**options, "text": model.text}
    done = _asked(_volee.check, [model], options=options, progress=limits.get("progress"))
    raw = json.loads(done.json())
    results = [
        Result(
            question=result["question"],
            verdict=result["verdict"],
            reason=_reason(result["reason"]),
            run=_run(result["witness"], done.svg(number)),
            why=result.get("why", []),
            replay=result.get("replay"),
        )
        for number, result in enumerate(raw["results"])
    ]
    warnings = [_message(warning) for warning in raw.get("warnings", [])]
    return Check(raw["verdict"], results, raw["statistics"], warnings, done.text(), raw, done.html)


def simulate(
    model: Source,
    *,
    steps: int = 100,
    seed: Optional[int] = None,
    define: Union[Mapping[str, Any], Several, None] = None,
    copies: Optional[Mapping[str, int]] = None,
) -> Simulation:
    """Takes random steps; the same seed takes the same ones."""
    seed = random.randrange(1_000_000) if seed is None else seed
    options = _given(Limits, {}, steps=steps, seed=seed, define=define, copies=dict(copies or {}))
    with _subject(model) as subject:
        text, svg = _volee.simulate(subject, json.dumps(options))
    raw = json.loads(text)
    result = raw["results"][0] if raw["results"] else {"reason": None, "witness": raw["witness"]}
    return Simulation(_run(result["witness"], svg), raw["ending"], seed, _reason(result["reason"]))


def compare(first: Source, second: Source, relation: str = "strong", **reading: Unpack[Relabelling]) -> Comparison:
    """Compares two systems: strong, branching, weak, trace … equal, or something that tells them apart.

    For `define`, `hide`, `rename` and `plain` see :class:`Relabelling`, for `memory`, `time` and `progress` :class:`Limits`.
    """
    options, progress = _given(Relabelling, reading), reading.get("progress")
    raw = json.loads(_asked(_volee.compare, [first, second], relation, options=options, progress=progress))
    reason = raw["results"][0]["reason"] if raw["results"] else None
    return Comparison(raw["verdict"], relation, _reason(reason), raw["statistics"], raw)


def reduce(model: Source, relation: str = "strong", **reading: Unpack[Relabelling]) -> Reduction:
    """Makes the smallest system that is equal in the sense asked for; takes what :func:`compare` takes."""
    options, progress = _given(Relabelling, reading), reading.get("progress")
    text, aut = _asked(_volee.reduce, [model], relation, options=options, progress=progress)
    raw = json.loads(text)
    figures = raw["statistics"]
    sizes = [figures.get(n, 0) for n in ("states", "transitions", "states_before", "transitions_before")]
    return Reduction(raw["verdict"], *sizes, aut=aut)


def solve(
    equations: Union[str, "os.PathLike[str]", Text], *, solver: str = "auto", **limits: Unpack[Limits]
) -> Solution:
    """Solves a system of boolean equations (.bes) or a parity game (.gm)."""
    options = _given(Limits, limits, solver=solver)
    if isinstance(equations, Text):
        path, text = f"equations.{equations.extension}", equations.text
    else:
        path = os.fspath(equations)
        with open(path, encoding="utf-8") as given:
            text = given.read()
    raw = json.loads(_asked(_volee.solve, [path], text, options=options, progress=limits.get("progress")))
    return Solution(raw["verdict"], raw["statistics"].get("value"), raw["statistics"])


def tests(
    model: Source,
    *,
    cover: Optional[str] = None,
    tl: Optional[str] = None,
    after: Optional[int] = None,
    purpose: Union[str, "os.PathLike[str]", None] = None,
    inputs: Optional[Several] = None,
    outputs: Optional[Several] = None,
    **reading: Unpack[Reading],
) -> Tests:
    """Makes a test from a specification, for a purpose; without one, a suite that covers every visible transition."""
    purpose = None if purpose is None else os.fspath(purpose)
    options = _given(
        Reading, reading, cover=cover, tl=tl, after=after, purpose=purpose, inputs=inputs, outputs=outputs
    )
    text, test = _asked(_volee.tests, [model], options=options, progress=reading.get("progress"))
    raw = json.loads(text)
    question = raw["results"][0]["question"] if raw["results"] else "suite"
    return Tests(raw["verdict"], question, raw["statistics"], test, raw)
