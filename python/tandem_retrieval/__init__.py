"""Tandem: dual-encoder retrievers (embedding models), from Python.

    import tandem_retrieval as tandem

    model = tandem.Model("models/all-MiniLM-L6-v2")
    embeddings = model.encode(["a text", "another"])       # float32 [2, E]

docs/python.md has the guide; the program `tandem`, which comes with this package, does the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import losses
from ._errors import (
    CheckFailed,
    DataError,
    Error,
    MemoryError,
    ModelError,
    NumericError,
    OutputError,
    PeerLost,
    RecipeError,
    UsageError,
)
from ._evaluate import Evaluation, evaluate
from ._index import Hit, Index
from ._model import Model
from ._tandem import __version__, threads
from ._threads import set_threads

if TYPE_CHECKING:
    from ._commands import calibrate, compare, mine, prune, score, thresholds
    from ._runs import Metric, Run, resume, train
    from ._tune import Search, tune

__all__ = [
    "CheckFailed", "DataError", "Error", "Evaluation", "Hit", "Index", "MemoryError", "Metric", "Model", "ModelError",
    "NumericError", "OutputError", "PeerLost", "RecipeError", "Run", "Search", "UsageError", "__version__", "calibrate",
    "compare", "evaluate", "losses", "mine", "prune", "resume", "score", "set_threads", "thresholds", "threads",
    "train", "tune",
]

# What runs the program is imported when it is first asked for: subprocess, logging and tempfile, which it needs,
# would take as long as the rest of this package.
_IMPORTED_LATER = {
    **dict.fromkeys(("calibrate", "compare", "mine", "prune", "score", "thresholds"), "._commands"),
    **dict.fromkeys(("Metric", "Run", "resume", "train"), "._runs"),
    **dict.fromkeys(("Search", "tune"), "._tune"),
}


def __getattr__(name: str) -> Any:
    if name not in _IMPORTED_LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_IMPORTED_LATER[name], __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
