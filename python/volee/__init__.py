"""volee verifies concurrent systems and protocols: does it deadlock, can this go wrong, show me how.

    import volee
    answer = volee.check("mutex.pml", invariant="inside <= 1")
    print(answer)                 # the verdicts, and how it happens
    answer.violation.run          # in a notebook: its chart

A model is the path of a file, a :class:`Text`, or a :class:`Model` written in Python. Whatever is wrong with it is an
:class:`InputError`. Ctrl-C ends any call.
"""

from ._answers import Check, Comparison, Message, Reason, Reduction, Result, Run, Simulation, Solution, Step, Tests
from ._calls import check, compare, reduce, simulate, solve, tests
from ._models import Model, Text
from ._volee import InputError, version as __version__

__all__ = [
    "Check", "Comparison", "InputError", "Message", "Model", "Reason", "Reduction", "Result", "Run", "Simulation",
    "Solution", "Step", "Tests", "Text", "check", "compare", "reduce", "simulate", "solve", "tests", "__version__",
]
