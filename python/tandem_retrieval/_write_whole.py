"""Files and folders that appear under their names when they are complete."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._arguments import flag
from ._arguments import path as checked_path
from ._errors import OutputError, UsageError


def output_error(path: str | os.PathLike[str], error: OSError) -> OutputError:
    """The OutputError of what the system says."""
    made = OutputError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}")
    made.file, made.errno = os.fspath(path), error.errno
    return made


def free_output(path: Any, force: bool) -> Path:
    """Returns a path to write to. Raises UsageError where something is there, unless `force` replaces it."""
    found = Path(checked_path(path, "output"))
    if not flag(force, "force") and found.exists():
        raise UsageError(f"{found}: exists already; remove it, give another output, or force=True")
    return found


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives a path to write to, which takes the name `path` at the end, and goes where anything is raised.

    Raises:
        OutputError: it cannot be written.
    """
    final = Path(path)
    temporary = final.with_name(f"{final.name}.tmp{os.getpid()}")
    try:
        try:
            yield temporary
            os.replace(temporary, final)
        except OSError as error:
            if isinstance(error, OutputError):
                raise
            raise output_error(final, error) from None
    except BaseException:
        _remove(temporary)
        raise
