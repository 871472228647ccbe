"""The calls: a model and options in, dataclasses out."""

from __future__ import annotations

import contextlib
import json
import os
import random
import tempfile
from typing import Any, Callable, Iterable, Mapping, Optional, Union

from . import _volee
from ._answers import (
    Check, Comparison, Reduction, Result, Simulation, Solution, Tests, _message, _reason, _run,
)
from ._models import Model, Text

Source = Union[str, "os.PathLike[str]", Text, Model]
Several = Union[str, Iterable[str]]


def _listed(given: Optional[Several]) -> list:
    return [] if given is None else [given] if isinstance(given, str) else list(given)


def _defined(define) -> list:
    if isinstance(define, Mapping):
        return [f"{name}={value}" for name, value in define.items()]
    return _listed(define)


def _options(**given: Any) -> dict:
    return {name: value for name, value in given.items() if value is not None}


@contextlib.contextmanager
def _file(model: Source):
    """The path of a model; a text is written to a file as long as it is needed."""
    if isinstance(model, Model):
        raise TypeError("a model in Python can be checked; whole graphs are made of files and texts")
    if not isinstance(model, Text):
        yield os.fspath(model)
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
    memory: Union[str, int, None] = None,
    time: Optional[float] = None,
    depth: Optional[int] = None,
    shortest: bool = False,
    all_errors: bool = False,
    audit: bool = False,
    coverage: bool = False,
    plain: bool = False,
    seed: int = 0,
    workers: Optional[int] = None,
    progress: Union[bool, Callable, None] = None,
) -> Check:
    """Asks questions about a model: without any, whether it deadlocks, whether its assertions and its own claims hold.

    `memory` is a number of bytes or a text such as "512M", `time` is in seconds. `progress=True` shows a bar if tqdm is there; a
    function is called with the numbers of states and transitions, the depth and the bytes in use.
    """
    options = _options(
        invariant=_listed(invariant), reachable=_listed(reachable), ltl=_listed(ltl), tl=_listed(tl), mu=_listed(mu),
        properties=_listed(properties), only=_listed(only), skip=_listed(skip), engine=engine, for_any=_listed(for_any),
        parameters=_listed(parameters), assume=_listed(assume), fair=fair, define=_defined(define),
        copies=dict(copies or {}), capacity=capacity, memory=memory, time=time, depth=depth, shortest=shortest,
        all_errors=all_errors, audit=audit, coverage=coverage, plain=plain, seed=seed, workers=workers,
    )
    with _told(progress) as told:
        if isinstance(model, Model):
            done = _volee.check(model.name, json.dumps(options), told, model)
        elif isinstance(model, Text) and model.extension == "pml":
            done = _volee.check("model.pml", json.dumps({**options, "text": model.text}), told)
        else:
            with _file(model) as path:
                done = _volee.check(path, json.dumps(options), told)
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
    options = _options(steps=steps, seed=seed, define=_defined(define), copies=dict(copies or {}))
    with _file(model) as path:
        text, svg = _volee.simulate(path, json.dumps(options))
    raw = json.loads(text)
    result = raw["results"][0] if raw["results"] else {"reason": None, "witness": raw["witness"]}
    return Simulation(_run(result["witness"], svg), raw["ending"], seed, _reason(result["reason"]))


def compare(
    first: Source,
    second: Source,
    relation: str = "strong",
    *,
    hide: Optional[Several] = None,
    define: Union[Mapping[str, Any], Several, None] = None,
    memory: Union[str, int, None] = None,
    time: Optional[float] = None,
    progress: Union[bool, Callable, None] = None,
) -> Comparison:
    """Compares two systems: strong, branching, weak, trace … equal, or something that tells them apart."""
    options = _options(hide=_listed(hide), define=_defined(define), memory=memory, time=time)
    with _file(first) as one, _file(second) as other, _told(progress) as told:
        raw = json.loads(_volee.compare(one, other, relation, json.dumps(options), told))
    reason = raw["results"][0]["reason"] if raw["results"] else None
    return Comparison(raw["verdict"], relation, _reason(reason), raw["statistics"], raw)


def reduce(
    model: Source,
    relation: str = "strong",
    *,
    hide: Optional[Several] = None,
    define: Union[Mapping[str, Any], Several, None] = None,
    memory: Union[str, int, None] = None,
    time: Optional[float] = None,
    progress: Union[bool, Callable, None] = None,
) -> Reduction:
    """Makes the smallest system that is equal in the sense asked for."""
    options = _options(hide=_listed(hide), define=_defined(define), memory=memory, time=time)
    with _file(model) as path, _told(progress) as told:
        text, aut = _volee.reduce(path, relation, json.dumps(options), told)
    raw = json.loads(text)
    figures = raw["statistics"]
    sizes = [figures.get(n, 0) for n in ("states", "transitions", "states_before", "transitions_before")]
    return Reduction(raw["verdict"], *sizes, aut=aut)


def solve(
    equations: Union[str, "os.PathLike[str]", Text],
    *,
    solver: str = "auto",
    memory: Union[str, int, None] = None,
    time: Optional[float] = None,
    progress: Union[bool, Callable, None] = None,
) -> Solution:
    """Solves a system of boolean equations (.bes) or a parity game (.gm)."""
    options = _options(solver=solver, memory=memory, time=time)
    if isinstance(equations, Text):
        path, text = f"equations.{equations.extension}", equations.text
    else:
        path = os.fspath(equations)
        with open(path, encoding="utf-8") as given:
            text = given.read()
    with _told(progress) as told:
        raw = json.loads(_volee.solve(path, text, json.dumps(options), told))
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
    hide: Optional[Several] = None,
    define: Union[Mapping[str, Any], Several, None] = None,
    memory: Union[str, int, None] = None,
    time: Optional[float] = None,
    progress: Union[bool, Callable, None] = None,
) -> Tests:
    """Makes a test from a specification, for a purpose; without one, a suite that covers every visible transition."""
    options = _options(
        cover=cover, tl=tl, after=after, purpose=os.fspath(purpose) if purpose is not None else None,
        inputs=_listed(inputs), outputs=_listed(outputs), hide=_listed(hide), define=_defined(define), memory=memory,
        time=time,
    )
    with _file(model) as path, _told(progress) as told:
        text, test = _volee.tests(path, json.dumps(options), told)
    raw = json.loads(text)
    question = raw["results"][0]["question"] if raw["results"] else "suite"
    return Tests(raw["verdict"], question, raw["statistics"], test, raw)
