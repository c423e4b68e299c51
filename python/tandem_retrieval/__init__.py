"""Tandem: dual-encoder retrievers (embedding models), from Python.

    import tandem_retrieval as tandem

    model = tandem.Model("models/all-MiniLM-L6-v2")
    embeddings = model.encode(["a text", "another"])       # float32 [2, E]

docs/python.md has the guide; the program `tandem`, which comes with this package, does the rest.
"""

from . import losses
from ._commands import calibrate, compare, mine, prune, score, thresholds
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
from ._runs import Metric, Run, resume, train
from ._tandem import __version__, set_threads, threads

__all__ = [
    "CheckFailed", "DataError", "Error", "Evaluation", "Hit", "Index", "MemoryError", "Metric", "Model", "ModelError",
    "NumericError", "OutputError", "PeerLost", "RecipeError", "Run", "UsageError", "__version__", "calibrate",
    "compare", "evaluate", "losses", "mine", "prune", "resume", "score", "set_threads", "thresholds", "threads",
    "train",
]
