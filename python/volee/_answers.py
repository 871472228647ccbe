"""What comes out: dataclasses made of machine-readable answers, which notebooks show as charts and pages."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any, Optional


@dataclass(frozen=True)
class Message:
    """Something that the author of a model should know, and where."""

    message: str
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    length: Optional[int] = None
    help: Optional[str] = None
    code: Optional[str] = None


@dataclass(frozen=True)
class Reason:
    """Why a question is violated or unknown."""

    kind: str
    message: str
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None


@dataclass(frozen=True)
class Step:
    """A step of a run: what happened, who did it, and the variables it changed."""

    label: str
    process: Optional[str]
    pid: Optional[int]
    text: str
    line: Optional[int]
    changed: dict


@dataclass(frozen=True)
class Run:
    """A run: the first state whole, then what each step changes. Its cycle, if it goes on for ever, starts at `loop_start`."""

    initial: dict
    steps: list
    loop_start: Optional[int] = None
    skipped: int = 0
    svg: Optional[str] = field(default=None, repr=False)

    def states(self) -> list:
        """The variables in the first state and after each step."""
        states = [dict(self.initial)]
        for step in self.steps:
            states.append({**states[-1], **step.changed})
        return states

    def to_frame(self):
        """A pandas data frame: one row for the first state and one for each step, a column for each variable."""
        import pandas

        rows = [{"process": None, "statement": None, "line": None}]
        rows += [{"process": s.process, "statement": s.text, "line": s.line} for s in self.steps]
        for row, state in zip(rows, self.states()):
            row.update(state)
        return pandas.DataFrame(rows)

    def __len__(self) -> int:
        return len(self.steps)

    def _repr_svg_(self) -> Optional[str]:
        return self.svg


@dataclass(frozen=True)
class Result:
    """The answer to one question."""

    question: str
    verdict: str
    reason: Optional[Reason] = None
    run: Optional[Run] = None
    why: list = field(default_factory=list)
    replay: Optional[str] = None

    def __bool__(self) -> bool:
        return self.verdict == "holds"

    def _repr_svg_(self) -> Optional[str]:
        return None if self.run is None else self.run.svg


@dataclass(frozen=True)
class Check:
    """The answers about a model; true if everything holds."""

    verdict: str
    results: list
    statistics: dict
    warnings: list
    text: str = field(repr=False, default="")
    raw: dict = field(repr=False, default_factory=dict)
    _page: Any = field(repr=False, compare=False, default=None)

    def __bool__(self) -> bool:
        return self.verdict == "holds"

    def __str__(self) -> str:
        return self.text

    def __getitem__(self, question: str) -> Result:
        """The result of a question, by its name or the model's name for it."""
        for result in self.results:
            if question in (result.question, result.question.partition(" ")[2]):
                return result
        raise KeyError(f"{question!r} was not asked; there are {', '.join(r.question for r in self.results)}")

    @property
    def violation(self) -> Optional[Result]:
        """The first result that is violated."""
        return next((r for r in self.results if r.verdict == "violated"), None)

    @property
    def states(self) -> int:
        return self.statistics.get("states", 0)

    def html(self) -> str:
        """The whole answer as one page that stands alone."""
        return self._page()

    def assert_holds(self) -> None:
        """Raises an AssertionError with the whole answer unless everything holds: for tests."""
        if not self:
            raise AssertionError(f"{self.verdict}\n{self.text}")

    def _repr_html_(self) -> str:
        shown = f"<pre>{html.escape(self.text)}</pre>"
        # A result that is violated is false, so that it is asked for by name.
        violation = self.violation
        chart = None if violation is None else violation._repr_svg_()
        return shown if chart is None else f"{shown}\n<div>{_embedded(chart)}</div>"


@dataclass(frozen=True)
class Simulation:
    """A random run, and how it ended."""

    run: Run
    ending: str
    seed: int
    reason: Optional[Reason] = None

    def _repr_svg_(self) -> Optional[str]:
        return self.run.svg


@dataclass(frozen=True)
class Comparison:
    """Whether two systems are equal; if not, `reason` tells them apart."""

    verdict: str
    relation: str
    reason: Optional[Reason]
    statistics: dict
    raw: dict = field(repr=False, default_factory=dict)

    def __bool__(self) -> bool:
        return self.verdict == "holds"


@dataclass(frozen=True)
class Reduction:
    """A smaller system that is equal in the sense asked for; `aut` is the system itself."""

    verdict: str
    states: int
    transitions: int
    states_before: int
    transitions_before: int
    aut: str = field(repr=False)


@dataclass(frozen=True)
class Solution:
    """The value of the main variable, or who wins the game; None where a limit was reached."""

    verdict: str
    value: Optional[bool]
    statistics: dict


@dataclass(frozen=True)
class Tests:
    """Tests of a specification; `test` is one for `volee conform`, where one was asked for."""

    __test__ = False  # not for pytest

    verdict: str
    question: str
    statistics: dict
    test: Optional[str] = field(repr=False, default=None)
    raw: dict = field(repr=False, default_factory=dict)


def _embedded(svg: str) -> str:
    """A chart without the line that says it is a file of its own."""
    return svg[svg.find("<svg"):]


def _reason(value) -> Optional[Reason]:
    return None if value is None else Reason(**{k: value.get(k) for k in ("kind", "message", "file", "line", "column")})


def _message(value) -> Message:
    return Message(**{k: value.get(k) for k in ("message", "file", "line", "column", "length", "help", "code")})


def _step(value) -> Step:
    action = (value.get("actions") or [{}])[-1]
    return Step(
        label=value["label"],
        process=action.get("process"),
        pid=action.get("pid"),
        text="; ".join(a["text"] for a in value.get("actions", [])) or value["label"],
        line=(action.get("place") or {}).get("line"),
        changed=value.get("values", value.get("changed", {})),
    )


def _run(value, svg=None) -> Optional[Run]:
    if value is None:
        return None
    return Run(
        initial=value.get("initial_values", value["initial"]),
        steps=[_step(step) for step in value["steps"]],
        loop_start=value.get("loop_start"),
        skipped=value.get("skipped", 0),
        svg=svg,
    )
