"""The threads that this process computes with."""

from __future__ import annotations

import numpy as np

from . import _tandem
from ._arguments import wrong_type


def set_threads(threads: int) -> None:
    """Sets the threads that this process computes with; 0: all that it may use, by its affinity and its cgroup's quota.

    Raises:
        UsageError: a number below 0 or above 4,096.
    """
    if isinstance(threads, (bool, np.bool_)) or not isinstance(threads, (int, np.integer)):
        wrong_type(threads, "threads", "a whole number, 0 (all) to 4096")
    # What an int of C has no room for is refused as what is nearest to it.
    _tandem.set_threads(min(max(int(threads), -(2**31)), 2**31 - 1))
