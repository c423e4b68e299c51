"""Models: texts to embeddings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Literal

import numpy as np
import numpy.typing as npt

from . import _tandem
from ._arguments import array, optional_text, optional_whole, path, text
from ._errors import NumericError, UsageError
from ._html import table
from ._texts import Progress, blocks, check_texts

Kind = Literal["query", "document"]
Precision = Literal["fp32", "bf16", "int8", "auto"]
Floats = npt.NDArray[np.float32]


def precision_name(precision: str | None) -> str:
    """Returns the precision that is asked for, else that of TANDEM_PRECISION, else fp32, as the program does."""
    if precision is None:
        return os.environ.get("TANDEM_PRECISION") or "fp32"
    return text(precision, "precision")


def as_rows(embeddings: npt.ArrayLike, name: str) -> Floats:
    """Returns embeddings as a matrix [N, E] of float32; a vector [E] is one row."""
    rows = array(embeddings, name)
    if rows.dtype == object or not np.issubdtype(rows.dtype, np.floating):
        raise TypeError(f"{name} has the dtype {rows.dtype}; expected floating numbers")
    if rows.ndim == 1:
        rows = rows[np.newaxis]
    if rows.ndim != 2:
        raise UsageError(f"{name} has the shape {list(rows.shape)}; expected [N, E] or [E]")
    with np.errstate(over="ignore"):
        found = np.ascontiguousarray(rows, dtype=np.float32)
    if rows.dtype.itemsize > 4 and (np.isinf(found) & ~np.isinf(rows)).any():
        raise NumericError(f"{name} has a number that is larger than those of float32")
    return found


# What arguments of sentence-transformers' encode are called here, or why they are not there.
_PEERS_ARGUMENTS = {
    "batch_size": "texts are packed by their lengths; leave it out",
    "show_progress_bar": "it is called progress",
    "prompt_name": "it is called prompt, which takes the name of a prompt or its text",
    "truncate_dim": "it is called dimensions",
    "normalize_embeddings": "whether embeddings have length 1 stands in the model's folder (Normalize); leave it out, or "
                            "divide the rows by numpy.linalg.norm(rows, axis=1, keepdims=True)",
    "convert_to_tensor": "the result is an array of NumPy; torch.from_numpy(result) makes a tensor of it",
    "convert_to_numpy": "the result is an array of NumPy; leave it out",
    "output_value": "the result is embeddings; leave it out",
    "device": "it computes on all processors that tandem_retrieval.set_threads allows; leave it out",
    "pool": "one process computes on all processors; leave it out",
    "chunk_size": "texts are packed by their lengths; leave it out",
}


def _refuse(others: dict[str, object]) -> None:
    for name in others:
        hint = f": {_PEERS_ARGUMENTS[name]}" if name in _PEERS_ARGUMENTS else ""
        raise TypeError(f"encode has no argument {name}{hint}")


def _check_encoding(kind, prompt, dimensions, precision) -> tuple:
    """Returns the arguments as the module takes them."""
    return (text(kind, "kind"), optional_text(prompt, "prompt"), optional_whole(dimensions, "dimensions", 1),
            precision_name(precision))


class Model:
    """A model folder, opened for encoding.

    Threads may share it; one encodes at a time, on all processors that this process may use (`set_threads`).

    Args:
        folder: a folder of sentence-transformers or Hugging Face's transformers, or one that Tandem has trained.
        max_query_tokens, max_document_tokens: longer texts are cut; None: the folder's; 0: the encoder's limit.
        query_prompt, document_prompt: the name of one of the folder's prompts, or a text; None: the folder's
            prompt "query" or "document".
        dimensions: embeddings are cut to so many numbers; None: the folder's `truncate_dim`; 0: they are whole.

    Raises:
        ModelError: the folder is broken, or of an encoder that is not supported.
        UsageError: an argument does not fit the folder, or this process was forked from one that had computed.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        max_query_tokens: int | None = None,
        max_document_tokens: int | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        dimensions: int | None = None,
    ) -> None:
        self._module = _tandem.open_model(
            path(folder, "folder"), optional_whole(max_query_tokens, "max_query_tokens", 0),
            optional_whole(max_document_tokens, "max_document_tokens", 0), optional_text(query_prompt, "query_prompt"),
            optional_text(document_prompt, "document_prompt"), optional_whole(dimensions, "dimensions", 0),
        )

    @classmethod
    def _of(cls, module: _tandem.Model) -> Model:
        model = cls.__new__(cls)
        model._module = module
        return model

    def __repr__(self) -> str:
        return f"Model({self.folder!r}, dimensions={self.dimensions}, similarity={self.similarity_name!r})"

    def _repr_html_(self) -> str:
        both = {name: (str(of("query")), str(of("document"))) for name, of in
                (("longest text in tokens", self.max_tokens), ("prompt", self.prompt))}
        rows = [("folder", self.folder), ("dimensions", str(self.dimensions)), ("similarity", self.similarity_name)]
        for name, (query, document) in both.items():
            rows += [(f"{name}, query", query), (f"{name}, document", document)]
        return table(("Model", ""), rows)

    def __reduce__(self) -> tuple:
        raise TypeError("a Model is not pickled: give processes its folder, and let each open it")

    @property
    def folder(self) -> str:
        """The folder that it was opened from."""
        return self._module.folder

    @property
    def dimensions(self) -> int:
        """E, the numbers of an embedding."""
        return self._module.width

    def get_sentence_embedding_dimension(self) -> int:
        """E, as sentence-transformers names it."""
        return self.dimensions

    def get_embedding_dimension(self) -> int:
        """E, as sentence-transformers names it since its version 5.4."""
        return self.dimensions

    @property
    def similarity_name(self) -> str:
        """How embeddings are compared: "cosine" or "dot"."""
        return self._module.similarity

    def max_tokens(self, kind: Kind = "document") -> int:
        """Tokens after which texts of this kind are cut, special ones among them."""
        return self._module.max_tokens(text(kind, "kind"))

    def prompt(self, kind: Kind = "document") -> str:
        """The prompt that stands before every text of this kind."""
        return self._module.prompt(text(kind, "kind"))

    def encode(
        self,
        texts: str | Iterable[str],
        kind: Kind = "document",
        *,
        prompt: str | None = None,
        dimensions: int | None = None,
        precision: Precision | None = None,
        progress: bool | None = None,
        **others: object,
    ) -> Floats:
        """Encodes texts, to the bytes that `tandem encode` writes.

        Args:
            texts: str, or any iterable of str, an iterator too. Of one str the result is one embedding [E].
            kind: "query" or "document", which decides prompt, length and, of two encoders, the encoder.
            prompt: the name of one of the folder's prompts, or a text; None: the model's for this kind.
            dimensions: embeddings are cut to so many numbers; cosine models give them unit length again.
            precision: "fp32", "bf16", "int8" or "auto"; None: TANDEM_PRECISION of the environment, else "fp32".
            progress: whether tqdm shows a bar; None: where there is a terminal or a notebook.

        Returns:
            float32 [N, E].

        Raises:
            TypeError: a text is no str; an argument that there is not, as sentence-transformers' batch_size.
            UsageError: kind, prompt, dimensions or precision that there is not.
            KeyboardInterrupt: after Ctrl-C; what was encoded is lost.
        """
        _refuse(others)
        if isinstance(texts, str):
            return self.encode([texts], kind, prompt=prompt, dimensions=dimensions, precision=precision,
                               progress=False)[0]
        check_texts(texts)
        total = len(texts) if hasattr(texts, "__len__") else None
        parts = self._encode(texts, total, progress, _check_encoding(kind, prompt, dimensions, precision))
        if total is None:
            return _joined(list(parts), dimensions or self.dimensions)
        rows = np.empty((total, dimensions or self.dimensions), np.float32)
        first = 0
        for part in parts:
            if first + len(part) > total:
                raise UsageError(f"texts has more than the {total} texts that its length says")
            rows[first : first + len(part)] = part
            first += len(part)
        if first != total:
            raise UsageError(f"texts has {first} texts, and its length says {total}")
        return rows

    def encode_query(self, texts: str | Iterable[str], **options) -> Floats:
        """`encode` with kind="query", as sentence-transformers names it."""
        return self.encode(texts, "query", **options)

    def encode_document(self, texts: str | Iterable[str], **options) -> Floats:
        """`encode` with kind="document", as sentence-transformers names it."""
        return self.encode(texts, "document", **options)

    def encode_blocks(
        self,
        texts: Iterable[str],
        kind: Kind = "document",
        *,
        prompt: str | None = None,
        dimensions: int | None = None,
        precision: Precision | None = None,
        progress: bool | None = None,
        **others: object,
    ) -> Iterator[Floats]:
        """Encodes an iterable of any length in constant memory.

        Yields:
            float32 [n, E] for each 4,096 texts (fewer where they are long), in their order: together, the rows of
            `encode`.

        Raises: as `encode`.
        """
        _refuse(others)
        check_texts(texts)
        if isinstance(texts, str):
            raise TypeError("texts is one str; expected an iterable of str")
        return self._encode(texts, None, progress, _check_encoding(kind, prompt, dimensions, precision))

    def _encode(self, texts, total, progress, checked) -> Iterator[Floats]:
        kind, prompt, dimensions, precision = checked
        bar = Progress(progress, total, f"encode {kind}")
        try:
            encoder = self._module.encoder(kind, precision, prompt, dimensions, total or 0, bar.callback)
            done = 0
            for block in blocks(texts):
                rows = np.empty((len(block), encoder.width), np.float32)
                encoder.encode(block, rows)
                done += len(block)
                bar.update(done)
                yield rows
            encoder.report("queries" if kind == "query" else "documents")
        finally:
            bar.close()

    def similarity(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
        """Compares all rows of two arrays of embeddings, as the model does.

        Args:
            a, b: [A, E] and [B, E], or vectors [E].

        Returns:
            float32 [A, B]: cosines or dot products (`similarity_name`). The cosine with a zero vector is 0.

        Raises:
            TypeError: for what are no floating numbers. UsageError: for rows of different widths.
        """
        left, right = self._pair(a, b)
        return left @ right.T

    def similarity_pairwise(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
        """Compares row i of `a` with row i of `b`: float32 [N]."""
        left, right = self._pair(a, b)
        if len(left) != len(right):
            raise UsageError(f"a has {len(left)} rows and b {len(right)}; expected as many")
        return np.einsum("ij,ij->i", left, right)

    def _pair(self, a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Floats, Floats]:
        left, right = as_rows(a, "a"), as_rows(b, "b")
        if left.shape[1] != right.shape[1]:
            raise UsageError(f"a has rows of {left.shape[1]} numbers and b of {right.shape[1]}; expected as many")
        if self.similarity_name == "dot":
            return left, right
        return _unit(left), _unit(right)

    def probabilities(self, scores: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The probabilities that documents with these scores are relevant, of the scores' shape.

        Raises:
            UsageError: the model has no calibration (`tandem_retrieval.calibrate`).
        """
        given = array(scores, "scores")
        if not np.issubdtype(given.dtype, np.floating) and not np.issubdtype(given.dtype, np.integer):
            raise TypeError(f"scores has the dtype {given.dtype}; expected numbers")
        given = given.astype(np.float64)
        return self._module.probabilities(np.ascontiguousarray(given.ravel())).reshape(given.shape)

    def tokenize(
        self, texts: str | Iterable[str], kind: Kind | None = None, *, max_tokens: int | None = None
    ) -> list[npt.NDArray[np.int32]]:
        """Turns texts into token ids, as `tandem tokenize` prints them.

        Args:
            texts: str, or an iterable of str.
            kind: puts the prompt of the kind before each text; None: no prompt, and the length of documents.
            max_tokens: longer texts are cut; None: the model's length; 0: no limit.

        Returns:
            int32 [tokens] for each text, special tokens among them. It works in forked processes too.
        """
        check_texts(texts)
        listed = [texts] if isinstance(texts, str) else list(texts)
        ids, starts, _ = self._module.tokenize(listed, optional_text(kind, "kind"),
                                               optional_whole(max_tokens, "max_tokens", 0))
        return [ids[begin:end] for begin, end in zip(starts[:-1], starts[1:])]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes a sentence-transformers folder, complete or not at all.

        Raises:
            OutputError: it cannot be written. UsageError: something that is no model is in the way.
        """
        self._module.save(path(folder, "folder"))


def _unit(rows: Floats) -> Floats:
    norms = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)  # squares of float32 may overflow
    return (rows / np.where(norms > 0, norms, 1)).astype(np.float32)


def _joined(parts: list[Floats], width: int) -> Floats:
    return np.concatenate(parts) if parts else np.empty((0, width), np.float32)
