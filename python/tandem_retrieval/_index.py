"""Indexes of documents in folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _tandem
from ._errors import UsageError
from ._model import Model, as_rows, precision_name
from ._texts import check_texts

_BLOCK = 1024
# Index folders up to this size are compared with their checksums when they are opened, as by the program.
_VERIFIED_BYTES = 256 << 20


class Hit(NamedTuple):
    """A document that a search has found."""

    id: str
    score: float
    probability: float | None  # None: the index's model was not used, or has no calibration
    text: str  # "" where the index keeps no texts
    title: str  # that the text begins with; "" without one
    metadata: dict[str, Any]


def _document(document: Any, number: int) -> tuple[str, str, str | None, dict]:
    if isinstance(document, Mapping):
        rest = dict(document)
        id = rest.pop("id", rest.pop("_id", None))
        text = rest.pop("text", None)
        title = rest.pop("title", None)
        metadata = {**rest.pop("metadata", {}), **rest}
    elif isinstance(document, (tuple, list)) and len(document) in (2, 3):
        id, text = document[0], document[1]
        title, metadata = None, dict(document[2]) if len(document) == 3 else {}
    else:
        raise TypeError(f"documents[{number}] is of the type {type(document).__name__}; expected (id, text), "
                        '(id, text, metadata) or a dict with "id" and "text"')
    for name, value in (("id", id), ("text", text)):
        if not isinstance(value, str):
            raise TypeError(f"documents[{number}]: its {name} is of the type {type(value).__name__}; expected str")
    return id, text, title, metadata


class _Blocks:
    """Gives documents to the module, block by block."""

    def __init__(self, documents: Any) -> None:
        if isinstance(documents, (str, bytes, os.PathLike)) or not isinstance(documents, Iterable):
            raise TypeError(f"documents is of the type {type(documents).__name__}; expected a dict id -> text, or an "
                            "iterable of documents")
        items: Iterable = documents.items() if isinstance(documents, Mapping) else documents
        self._documents = enumerate(items)

    def __call__(self) -> list[tuple[str, str, str | None, dict]]:
        return [_document(document, number) for number, document in islice(self._documents, _BLOCK)]


class Index:
    """An open index. Threads may share it. Use `Index.open` or `Index.build`."""

    def __init__(self, folder: str, *, model: Model | None = None, verify: bool | None = None) -> None:
        if verify is None:
            verify = _size_of(folder) <= _VERIFIED_BYTES
        self._verify = verify
        self._module = _tandem.Index(folder, verify)
        self._model = model

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, model: Model | str | os.PathLike[str] | None = None,
             verify: bool | None = None) -> Index:
        """Opens an index folder.

        Args:
            model: the model of the index, where it has moved; None: from where the index says, once a text is
                searched for.
            verify: whether all files are compared with their checksums; None: those of small indexes.

        Raises:
            DataError: a broken, altered or later-version index.
        """
        return cls(os.fspath(folder), model=_opened(model), verify=verify)

    @classmethod
    def build(
        cls,
        folder: str | os.PathLike[str],
        documents: Mapping[str, str] | Iterable[Any],
        model: Model | str | os.PathLike[str],
        *,
        fields: Mapping[str, str] | None = None,
        kind: str | None = None,
        recall: float = 0.95,
        memory: int = 2 << 30,
        texts: bool = True,
        min_probability: float | None = None,
        copy_model: bool = False,
        replace: bool = False,
        precision: str | None = None,
    ) -> Index:
        """Encodes documents and builds an index of them, in memory that does not grow with their number.

        Args:
            folder: where the index will be.
            documents: a dict id -> text, or an iterable of (id, text), (id, text, metadata), or dicts with "id",
                "text", and if they like "title" and metadata.
            fields: the metadata to keep, for filters: name -> "string" or "number".
            kind: fp32, bf16, int8, hnsw, ivf_flat or ivf_pq; None: the one that suits number, recall and memory.
            recall: share of the best 10 documents that a search of an approximate kind finds.
            memory: bytes that a search may keep in memory.
            texts: whether the texts are kept.
            min_probability: of hits, where a search asks for none.
            copy_model: puts a copy of the model into the index.
            replace: an index that is there.

        Raises:
            DataError: a document without id, or an id that comes twice. UsageError: the folder holds something.
            OutputError. KeyboardInterrupt: the folder is then as it was.
        """
        options = _tandem.BuildOptions()
        options.fields = [f"{name}:{kind_of}" for name, kind_of in (fields or {}).items()]
        options.kind = kind or ""
        options.recall = recall
        options.memory = memory
        options.texts = texts
        options.min_probability = min_probability
        options.copy_model = copy_model
        options.replace = replace
        opened = model if isinstance(model, Model) else Model(model)
        _tandem.build_index(os.fspath(folder), opened._module, _Blocks(documents), precision_name(precision), options)
        return cls.open(folder, model=opened)

    def __repr__(self) -> str:
        if self.closed:
            return f"Index({self.folder!r}, closed)"
        info = self.info
        return f"Index({self.folder!r}, {info['documents']} documents, kind={info['kind']!r})"

    def __len__(self) -> int:
        return self.info["documents"]

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def folder(self) -> str:
        """Where it is."""
        return self._module.folder

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._module.closed

    @property
    def info(self) -> dict[str, Any]:
        """Numbers of documents, kind, fields and model of the index."""
        return self._module.info()

    def close(self) -> None:
        """Gives the files back. Searching raises UsageError then; `add` and `remove` too."""
        self._module.close()

    @property
    def model(self) -> Model:
        """The model of the index, opened when it is first needed. Raises ModelError where it is another one."""
        if self._model is None:
            self._model = Model._of(self._module.open_model(""))
        return self._model

    def search(
        self,
        queries: str | Iterable[str] | npt.ArrayLike,
        k: int = 10,
        *,
        filter: Mapping[str, Any] | None = None,
        min_score: float | None = None,
        min_probability: float | None = None,
        effort: int = 0,
        prompt: str | None = None,
        precision: str | None = None,
    ) -> list[Hit] | list[list[Hit]]:
        """Finds the best documents.

        Args:
            queries: a text, several texts, or vectors [Q, E] or [E] as the model encodes queries.
            k: the most hits of a query.
            filter: conditions that must all hold: {"lang": "en", "year": {">=": 2020}}.
            min_score, min_probability: of hits; the latter needs a model with a calibration.
            effort: of an approximate kind; 0: the index's own.
            prompt, precision: as in `Model.encode`.

        Returns:
            The hits of the one query, best first, or a list of them for each of several. Equal scores go by id,
            descending in bytes.

        Raises:
            UsageError: a closed index, vectors of another width, a field that there is not. NumericError: a vector
            that is not finite.
        """
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise UsageError(f"k is {k!r}; expected a whole number of 1 or more")
        self._module.info()  # raises where the index is closed
        options = _tandem.SearchOptions()
        options.k = int(k)
        options.effort = effort
        options.min_score = min_score
        options.min_probability = min_probability
        if filter is not None:
            import json  # here, since few searches have a filter, and every import would pay for it

            options.filter = json.dumps(dict(filter))
        rows, single, model = self._vectors(queries, prompt, precision)
        if min_probability is not None or self.info["min_probability"] is not None:
            model = self.model
            if min_probability is None:
                options.min_probability = self.info["min_probability"]
        found = self._module.search(rows, model._module if model else None, options)
        hits = [[Hit(*hit) for hit in of_query] for of_query in found]
        return hits[0] if single else hits

    def _vectors(self, queries: Any, prompt: str | None, precision: str | None):
        if isinstance(queries, str):
            return self.model.encode_query([queries], prompt=prompt, precision=precision), True, self.model
        if isinstance(queries, np.ndarray):
            return as_rows(queries, "queries"), queries.ndim == 1, self._model
        check_texts(queries, "queries")
        listed = list(queries)
        if listed and not isinstance(listed[0], str):
            vectors = np.asarray(listed)
            return as_rows(vectors, "queries"), vectors.ndim == 1, self._model
        return self.model.encode_query(listed, prompt=prompt, precision=precision, progress=False), False, self.model

    def add(self, documents: Mapping[str, str] | Iterable[Any], *, update: bool = False,
            precision: str | None = None) -> int:
        """Adds documents, as `build` takes them, and returns how many the index then has.

        Args:
            update: a document with an id that is there takes its place; else this is a DataError.
        """
        self._module.info()
        self._module.add(self.model._module, _Blocks(documents), precision_name(precision), update)
        self._reopen()
        return len(self)

    def remove(self, ids: str | Iterable[str], *, ignore_missing: bool = False) -> int:
        """Removes the documents with these ids, all or none, and returns how many they were.

        Raises:
            DataError: an id that is no document's, unless `ignore_missing`.
        """
        self._module.info()
        check_texts(ids, "ids")
        removed = _tandem.remove_documents(self.folder, [ids] if isinstance(ids, str) else list(ids), ignore_missing)
        self._reopen()
        return removed

    def _reopen(self) -> None:
        self._module = _tandem.Index(self.folder, self._verify)


def _opened(model: Model | str | os.PathLike[str] | None) -> Model | None:
    return model if model is None or isinstance(model, Model) else Model(model)


def _files_of(folder: str) -> Iterator[str]:
    for root, _, names in os.walk(folder):
        yield from (os.path.join(root, name) for name in names)


def _size_of(folder: str) -> int:
    return sum(os.path.getsize(file) for file in _files_of(folder))
