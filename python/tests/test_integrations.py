"""Models as LangChain's and LlamaIndex's embeddings, with the real packages, and tables of notebooks."""

import asyncio
import subprocess
import sys

import numpy as np
import pytest

import tandem_retrieval as tandem

TEXTS = ["Bread is baked with sourdough.", "The night train to Vienna leaves at ten.", "Rain comes from clouds."]


@pytest.fixture(scope="module")
def prompted(model_folder):
    """A model whose queries and documents differ, so that a mistake of kind shows."""
    return tandem.Model(model_folder, query_prompt="query: ", document_prompt="passage: ")


def test_langchain(prompted, model_folder):
    pytest.importorskip("langchain_core")
    from langchain_core.vectorstores import InMemoryVectorStore

    from tandem_retrieval.integrations.langchain import TandemEmbeddings

    embeddings = TandemEmbeddings(prompted)
    np.testing.assert_array_equal(np.float32(embeddings.embed_documents(TEXTS)), prompted.encode_document(TEXTS))
    np.testing.assert_array_equal(np.float32(embeddings.embed_query("trains")), prompted.encode_query("trains"))
    assert embeddings.embed_documents([]) == []
    assert asyncio.run(embeddings.aembed_query("trains")) == embeddings.embed_query("trains")
    store = InMemoryVectorStore.from_texts(TEXTS, embeddings)
    assert [found.page_content for found in store.similarity_search("when does the train go?", k=1)] == [TEXTS[1]]
    assert len(TandemEmbeddings(model_folder, dimensions=64).embed_query("trains")) == 64


def test_llama_index(prompted, model_folder):
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import TextNode

    from tandem_retrieval.integrations.llama_index import TandemEmbedding

    embedding = TandemEmbedding(prompted)
    documents, query = prompted.encode_document(TEXTS), prompted.encode_query("trains")
    np.testing.assert_array_equal(np.float32(embedding.get_text_embedding_batch(TEXTS)), documents)
    np.testing.assert_allclose(embedding.get_text_embedding(TEXTS[0]), documents[0], atol=1e-6)
    np.testing.assert_array_equal(np.float32(embedding.get_query_embedding("trains")), query)
    assert asyncio.run(embedding.aget_query_embedding("trains")) == embedding.get_query_embedding("trains")
    found = asyncio.run(embedding.aget_text_embedding_batch(TEXTS))
    np.testing.assert_array_equal(np.float32(found), documents)
    assert embedding.model_name == model_folder
    nodes = embedding([TextNode(text=text) for text in TEXTS])
    np.testing.assert_array_equal(np.float32([node.embedding for node in nodes]), documents)
    assert len(TandemEmbedding(model_folder, {"dimensions": 64}, embed_batch_size=2).get_query_embedding("a")) == 64


@pytest.mark.parametrize(("module", "missing", "extra"), [
    ("langchain", "langchain_core", "langchain"), ("llama_index", "llama_index", "llama-index")])
def test_what_is_missing_is_said_and_only_when_it_is_asked_for(module, missing, extra):
    code = f"import sys; sys.modules['{missing}'] = None; import tandem_retrieval.integrations; print('so far')\n"
    code += f"import tandem_retrieval.integrations.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "so far\n")
    assert f"pip install 'tandem-retrieval[{extra}]'" in done.stderr


def test_the_package_imports_none_of_them():
    code = "import sys, tandem_retrieval; print({'torch', 'langchain_core', 'llama_index'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def cells_of(html):
    from html.parser import HTMLParser

    class Cells(HTMLParser):
        def __init__(self):
            super().__init__()
            self.rows, self.after = [], []

        def handle_starttag(self, tag, attributes):
            if tag == "tr":
                self.rows.append([])
            elif tag in ("td", "th"):
                self.rows[-1].append("")
            elif tag == "p":
                self.after.append("")

        def handle_data(self, data):
            if self.after:
                self.after[-1] += data
            elif self.rows and self.rows[-1]:
                self.rows[-1][-1] += data.strip("\n")

    parser = Cells()
    parser.feed(html)
    return parser.rows, [text.strip() for text in parser.after]


def test_an_evaluation_is_a_table_in_notebooks():
    found = tandem.evaluate(qrels={"q1": {"d1": 1}, "q2": {"d2": 1}}, measures="mrr,auc",
                            run={"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d1": 3.0, "d2": 2.5}})
    rows, after = cells_of(found._repr_html_())
    assert rows == [["measure", "mean", "95 % interval"], ["mrr", "0.7500", "0.5000 to 1.0000"],
                    ["auc", f"{found['auc']:.4f}", ""]]
    assert after == ["2 queries", *found.remarks]


def test_a_model_is_a_table_in_notebooks(model_folder):
    model = tandem.Model(model_folder, query_prompt="<b>query & more</b>: ", max_query_tokens=32)
    rows, _ = cells_of(model._repr_html_())
    assert dict(rows) == {"Model": "", "folder": model_folder, "dimensions": "384", "similarity": "cosine",
                          "longest text in tokens, query": "32", "longest text in tokens, document": "256",
                          "prompt, query": "<b>query & more</b>: ", "prompt, document": ""}
    assert "<b>" not in model._repr_html_()
