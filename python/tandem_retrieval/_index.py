"""Indexes of documents in folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _tandem
from ._arguments import (
    array,
    flag,
    mapping,
    number,
    optional_number,
    optional_text,
    path,
    shown,
    text,
    whole,
)
from ._errors import UsageError
from ._model import Model, as_rows, precision_name
from ._texts import check_texts, listed_texts

_BLOCK = 1024
# Index folders up to this size are compared with their checksums when they are opened, as by the program.
_VERIFIED_BYTES = 256 << 20


class Hit(NamedTuple):
    """A document that a search has found."""

    id: str
    score: float
    probability: float | None  # None: no model was used (Index.search), or it has no calibration
    text: str  # "" where the index keeps no texts
    title: str  # that the text begins with; "" without one
    metadata: dict[str, Any]


def _metadata(metadata: Any, number: int) -> Mapping[str, Any]:
    return {} if metadata is None else mapping(metadata, f"documents[{number}]: its metadata", "a dict or None")


def _fields(fields: Any) -> list[str]:
    """Returns fields as the module reads them: "year:number"."""
    if fields is None:
        return []
    found = []
    for name, kind in mapping(fields, "fields", 'a dict as {"lang": "string", "year": "number"}').items():
        if text(kind, f"fields[{shown(name)}]") not in ("string", "number"):
            raise UsageError(f'fields[{shown(name)}] is {shown(kind)}; expected "string" or "number"')
        found.append(f"{text(name, 'a name of fields')}:{kind}")
    return found


def _document(document: Any, number: int) -> tuple[str, str, str | None, dict]:
    if isinstance(document, Mapping):
        rest = dict(document)
        id = rest.pop("id", rest.pop("_id", None))
        text = rest.pop("text", None)
        title = rest.pop("title", None)
        metadata = {**_metadata(rest.pop("metadata", None), number), **rest}
    elif isinstance(document, (tuple, list)) and len(document) in (2, 3):
        id, text = document[0], document[1]
        title, metadata = None, dict(_metadata(document[2], number)) if len(document) == 3 else {}
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
        folder = path(folder, "folder")
        self._verify = _size_of(folder) <= _VERIFIED_BYTES if verify is None else flag(verify, "verify")
        self._module = _tandem.Index(folder, self._verify)
        self._given = model  # that vectors are of
        self._model = model

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, model: Model | str | os.PathLike[str] | None = None,
             verify: bool | None = None) -> Index:
        """Opens an index folder.

        Args:
            model: the model of the index, where it has moved, or where hits of vectors are to have probabilities; None:
                from where the index says, once a text is searched for.
            verify: whether all files are compared with their checksums; None: those of small indexes.

        Raises:
            DataError: a broken, altered or later-version index.
        """
        return cls(path(folder, "folder"), model=None if model is None else _opened(model), verify=verify)

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
            OutputError. KeyboardInterrupt: after Ctrl-C, within a forward pass or two. Whatever is raised, the folder is
            then as it was.
        """
        options = _tandem.BuildOptions()
        options.fields = _fields(fields)
        options.kind = optional_text(kind, "kind") or ""
        options.recall = number(recall, "recall", 0, 1)
        options.memory = whole(memory, "memory", 0)
        options.texts = flag(texts, "texts")
        options.min_probability = optional_number(min_probability, "min_probability", 0, 1)
        options.copy_model = flag(copy_model, "copy_model")
        options.replace = flag(replace, "replace")
        target, encoding, blocks = path(folder, "folder"), precision_name(precision), _Blocks(documents)
        opened = _opened(model)
        _tandem.build_index(target, opened._module, blocks, encoding, options)
        return cls.open(target, model=opened)

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
            queries: a text, several texts, or vectors [Q, E] or [E] as the model encodes queries. Where the index
                compares by cosine, their lengths do not count.
            k: the most hits of a query.
            filter: conditions that must all hold: {"lang": "en", "year": {">=": 2020}}.
            min_score, min_probability: of hits; the latter, from 0 to 1, needs a model with a calibration.
            effort: of an approximate kind; 0: the index's own.
            prompt, precision: as in `Model.encode`.

        Returns:
            The hits of the one query, best first, or a list of them for each of several. Equal scores go by id,
            descending in bytes. Hits have a probability where the model has a calibration and is used: for texts, with
            a `min_probability` (the index's own too), and for vectors where `open` or `build` was given the model.

        Raises:
            UsageError: a closed index, vectors of another width or without a direction, a field that there is not.
            NumericError: a vector that is not finite. TypeError.
        """
        self._module.info()  # raises where the index is closed
        options = _tandem.SearchOptions()
        options.k = whole(k, "k", 1, 2**64 - 1)
        options.effort = whole(effort, "effort", 0)
        options.min_score = optional_number(min_score, "min_score")
        options.min_probability = optional_number(min_probability, "min_probability", 0, 1)
        options.filter = _filter_text(filter)
        rows, single, model = self._vectors(queries, prompt, precision)
        if min_probability is not None or self.info["min_probability"] is not None:
            model = self.model
            if min_probability is None:
                options.min_probability = self.info["min_probability"]
        found = self._module.search(rows, model._module if model else None, options)
        hits = [[Hit(*hit) for hit in of_query] for of_query in found]
        return hits[0] if single else hits

    def _vectors(self, queries: Any, prompt: str | None, precision: str | None):
        """Returns vectors, whether they are of one query, and the model that they are known to be of."""
        if not isinstance(queries, str):
            check_texts(queries, "queries")
        if hasattr(queries, "__array__"):  # NumPy's, torch's, a column of a frame
            queries = array(queries, "queries")
            if queries.dtype.kind not in "UTO":
                return _directions(queries), queries.ndim == 1, self._given
            queries = queries.tolist()
        if isinstance(queries, str):
            return self.model.encode_query([queries], prompt=prompt, precision=precision), True, self.model
        listed = list(queries)
        if listed and not isinstance(listed[0], str):
            vectors = array(listed, "queries")
            return _directions(vectors), vectors.ndim == 1, self._given
        texts = listed_texts(listed, "queries")
        return self.model.encode_query(texts, prompt=prompt, precision=precision, progress=False), False, self.model

    def add(self, documents: Mapping[str, str] | Iterable[Any], *, update: bool = False,
            precision: str | None = None) -> int:
        """Adds documents, as `build` takes them, and returns how many the index then has.

        Args:
            update: a document with an id that is there takes its place; else this is a DataError.

        Raises: as `build`. The index is then as it was, unless Ctrl-C came when all documents were in it already.
        """
        self._module.info()
        blocks, encoding, takes_place = _Blocks(documents), precision_name(precision), flag(update, "update")
        self._module.add(self.model._module, blocks, encoding, takes_place)
        self._reopen()
        return len(self)

    def remove(self, ids: str | Iterable[str], *, ignore_missing: bool = False) -> int:
        """Removes the documents with these ids, all or none, and returns how many they were.

        Raises:
            DataError: an id that is no document's, unless `ignore_missing`.
        """
        self._module.info()
        check_texts(ids, "ids")
        listed = [ids] if isinstance(ids, str) else listed_texts(ids, "ids")
        removed = _tandem.remove_documents(self.folder, listed, flag(ignore_missing, "ignore_missing"))
        self._reopen()
        return removed

    def _reopen(self) -> None:
        self._module = _tandem.Index(self.folder, self._verify)


def _opened(model: Any) -> Model:
    return model if isinstance(model, Model) else Model(path(model, "model"))


def _directions(vectors: np.ndarray) -> npt.NDArray[np.float32]:
    """Returns vectors as rows. Raises UsageError for one that is zero, which is like no document more than another."""
    rows = as_rows(vectors, "queries")
    zero = np.flatnonzero(~rows.any(axis=1))
    if len(zero) > 0:
        raise UsageError(f"queries[{zero[0]}] is zero in all its numbers, which is no embedding of a text; leave it out")
    return rows


def _filter_text(filter: Any) -> str:
    """Returns a filter as JSON; "" for none."""
    if filter is None:
        return ""
    import json  # here, since few searches have a filter, and every import would pay for it

    given = dict(mapping(filter, "filter", 'a dict as {"lang": "en", "year": {">=": 2020}}'))
    for name in given:
        text(name, "a name of filter")
    try:
        return json.dumps(given, allow_nan=False, default=_plain_number)
    except TypeError as error:
        raise TypeError(f"filter is {shown(filter)}, which has a value of a wrong type: {error}") from None
    except ValueError:
        raise UsageError(f"filter is {shown(filter)}, which has a number that is not finite") from None


def _plain_number(value: Any) -> Any:
    if isinstance(value, (np.integer, np.floating, np.str_)):
        return value.item()
    raise TypeError(f"expected str or a number, found {type(value).__name__}")


def _files_of(folder: str) -> Iterator[str]:
    for root, _, names in os.walk(folder):
        yield from (os.path.join(root, name) for name in names)


def _size_of(folder: str) -> int:
    return sum(os.path.getsize(file) for file in _files_of(folder))
