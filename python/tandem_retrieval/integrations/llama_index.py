"""Tandem's models as LlamaIndex's embedding models."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from .._model import Model

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from pydantic import PrivateAttr
except ImportError as error:
    raise ImportError("TandemEmbedding needs llama-index-core: pip install 'tandem-retrieval[llama-index]'") from error


class TandemEmbedding(BaseEmbedding):
    """Embeddings of a Model, or of a model folder; queries and documents each get their prompt and length.

    `options` are those of `Model.encode`; fields of BaseEmbedding, such as embed_batch_size, stand in `fields`.
    """

    _model: Model = PrivateAttr()
    _options: dict[str, Any] = PrivateAttr()

    def __init__(self, model: Model | str | os.PathLike[str], options: dict[str, Any] | None = None, **fields) -> None:
        opened = model if isinstance(model, Model) else Model(model)
        super().__init__(**{"model_name": opened.folder, "embed_batch_size": 256, **fields})
        self._model, self._options = opened, dict(options or {})

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._model.encode_query(query, **self._options).tolist()

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._model.encode_document(texts, **self._options).tolist()

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)
