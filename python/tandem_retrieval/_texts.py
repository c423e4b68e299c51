"""Texts of any source as lists, block by block, and the progress that is shown meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

# What the program encodes together (src/commands/encode/encode_texts.h): the blocks decide which texts share a
# forward pass, and so the last bits of the embeddings.
BLOCK_TEXTS = 4096
BLOCK_BYTES = 64 << 20

Texts = "str | Iterable[str]"


def check_texts(texts: Any, name: str = "texts") -> None:
    """Raises TypeError for what is no iterable of str."""
    if isinstance(texts, (bytes, bytearray, memoryview)):
        raise TypeError(f"{name} is of the type {type(texts).__name__}; expected str or an iterable of str")
    if not isinstance(texts, Iterable):
        raise TypeError(f"{name} is of the type {type(texts).__name__}; expected str or an iterable of str")
    if isinstance(texts, Mapping):
        raise TypeError(f"{name} is a {type(texts).__name__}; give its values: {name}.values()")
    if hasattr(texts, "columns") or hasattr(texts, "column_names"):  # pandas, polars; Arrow, datasets
        raise TypeError(f"{name} is a {type(texts).__name__}; give one of its columns")


def listed_texts(texts: Iterable[Any], name: str) -> list[str]:
    """Returns the texts as a list; TypeError with the number of the first that is none."""
    listed = list(texts)
    for number, text in enumerate(listed):
        if not isinstance(text, str):
            raise TypeError(f"{name}[{number}] is of the type {type(text).__name__}; expected str")
    return listed


def _utf8_bytes(text: Any) -> int:
    if not isinstance(text, str):
        return 0  # the module says where it stands
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def blocks(texts: Iterable[str], most: int = BLOCK_TEXTS) -> Iterator[list[str]]:
    """Yields lists of at most `most` texts; a long one ends where 64 MiB of UTF-8 are reached."""
    block: list[str] = []
    size = 0
    for text in texts:
        block.append(text)
        size += _utf8_bytes(text)
        if len(block) == most or size >= BLOCK_BYTES:
            yield block
            block, size = [], 0
    if block:
        yield block


class Progress:
    """A bar of tqdm, or nothing: `update` takes the number of texts that are done."""

    def __init__(self, wanted: bool | None, total: int | None, label: str) -> None:
        self._bar = None
        if wanted is None:
            wanted = _has_viewer()
        if not wanted:
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(total=total, desc=label, unit=" texts", leave=False)

    @property
    def callback(self) -> Callable[[int], None] | None:
        return self.update if self._bar is not None else None

    def update(self, done: int) -> None:
        if self._bar is not None and done > self._bar.n:
            self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _has_viewer() -> bool:
    """Says whether there is a terminal or a notebook to show a bar in."""
    if "ipykernel" in sys.modules:
        return True
    return sys.stderr is not None and sys.stderr.isatty()
