"""Tandem's models as LangChain's Embeddings."""

from __future__ import annotations

import os

from .._model import Model

try:
    from langchain_core.embeddings import Embeddings
except ImportError as error:
    raise ImportError("TandemEmbeddings needs langchain-core: pip install 'tandem-retrieval[langchain]'") from error


class TandemEmbeddings(Embeddings):
    """Embeddings of a Model, or of a model folder; queries and documents each get their prompt and length.

    `options` are those of `Model.encode`: dimensions, precision, progress.
    """

    def __init__(self, model: Model | str | os.PathLike[str], **options) -> None:
        self.model = model if isinstance(model, Model) else Model(model)
        self.options = options

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.model.encode_document(texts, **self.options).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self.model.encode_query(text, **self.options).tolist()
