"""What the tests share: models, data, the program, and the reference vectors."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from tiny_bert import write_tiny_bert

ROOT = Path(__file__).resolve().parents[2]


def pytest_configure() -> None:
    # A shell ignores SIGINT for what it runs in the background, and processes hand that down: tests of Ctrl-C would
    # send signals that nobody sees.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _required(found: bool, what: str) -> None:
    if found:
        return
    if os.environ.get("TANDEM_REQUIRE_DATA"):
        pytest.fail(f"{what} is missing, and TANDEM_REQUIRE_DATA is set")
    pytest.skip(f"{what} is missing")


@pytest.fixture(scope="session")
def model_folder() -> str:
    folder = Path(os.environ.get("TANDEM_MODEL_DIR", ROOT / ".cache" / "models" / "all-MiniLM-L6-v2"))
    _required((folder / "config.json").exists(), f"the model {folder} (TANDEM_MODEL_DIR)")
    return str(folder)


@pytest.fixture(scope="session")
def model(model_folder):
    import tandem_retrieval as tandem

    return tandem.Model(model_folder)


@pytest.fixture(scope="session")
def program() -> str:
    found = os.environ.get("TANDEM_PROGRAM") or shutil.which("tandem")
    _required(found is not None, "the program tandem (TANDEM_PROGRAM, or on the PATH)")
    return found


@pytest.fixture(scope="session")
def vectors() -> Path:
    folder = Path(os.environ.get("TANDEM_SHARED_DIR", ROOT.parent / "shared")) / "vectors"
    _required(folder.is_dir(), f"the reference vectors {folder} (TANDEM_SHARED_DIR)")
    return folder


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Texts of many lengths: a whole block of the encoder and a part of one, two writings, an empty one."""
    words = "the quick brown fox jumps over a lazy dog while naïve cafés serve 東京 ramen".split()
    made = [" ".join(words[(i * 7 + j) % len(words)] for j in range(1 + i % 7)) for i in range(4200)]
    return [*made, "", "word " * 600]


@pytest.fixture(scope="session")
def tiny_model(model_folder, tmp_path_factory) -> str:
    """A BERT of one layer and 32 numbers with random weights, and MiniLM's tokenizer: it trains in no time."""
    return str(write_tiny_bert(tmp_path_factory.mktemp("models") / "tiny", Path(model_folder)))


@pytest.fixture(scope="session")
def rows() -> list[dict[str, str]]:
    return [{"query": f"question number {i} about topic {i % 5}", "positive": f"answer {i} tells of subject {i * 7}"}
            for i in range(40)]


@pytest.fixture(scope="session")
def beir(rows, tmp_path_factory) -> str:
    """The rows as a BEIR folder with the splits dev and test."""
    folder = tmp_path_factory.mktemp("data") / "beir"
    (folder / "qrels").mkdir(parents=True)
    for name, key in (("corpus", "positive"), ("queries", "query")):
        lines = [json.dumps({"_id": f"{name[0]}{i}", "text": row[key]}) for i, row in enumerate(rows)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    for name, part in (("dev", range(0, 20)), ("test", range(20, 40))):
        lines = ["query-id\tcorpus-id\tscore", *(f"q{i}\tc{i}\t1" for i in part)]
        (folder / "qrels" / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    return str(folder)
