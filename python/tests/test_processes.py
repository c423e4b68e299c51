"""Threads, forks, spawned processes, Ctrl-C, memory, and other libraries in the same process."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from forked import WAIT_FOR_CHILD

import tandem_retrieval as tandem


def run(code, *arguments, timeout=240):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code), *arguments], capture_output=True, text=True,
                          timeout=timeout)


def test_threads_share_a_model(model, texts):
    some = texts[:300]
    expected = model.encode(some)
    found, failures = {}, []

    def work(number):
        try:
            for _ in range(3):
                found[number] = model.encode(some)
                tandem.losses.infonce(expected[:20], expected[20:60])
                tandem.evaluate(qrels={"q": {"d": 1}}, run={"q": {"d": 1.0}}, measures="mrr")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert all(rows.tobytes() == expected.tobytes() for rows in found.values())


def test_the_gil_is_free_while_texts_are_encoded(model, texts):
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    model.encode(texts[:2000])
    took = time.monotonic() - start
    done.set()
    thread.join()
    inside = [at for at in ticks if start <= at <= start + took]
    assert took > 0.2
    assert len(inside) > 0.2 * took / 0.01


def test_ctrl_c_stops_an_encoding_soon(model_folder):
    code = """
        import sys, time, threading, os, signal
        import tandem_retrieval as tandem
        model = tandem.Model(sys.argv[1])
        model.encode(["warm up"])
        texts = ["a rather long text that takes some time " * 20] * 4000
        start = time.monotonic()
        threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            model.encode(texts)
        except KeyboardInterrupt:
            took = time.monotonic() - start
            assert 0.9 < took < 4, took
            print("stopped", model.encode(["and goes on"]).shape)
    """
    done = run(code, model_folder)
    assert done.stdout == "stopped (1, 384)\n", done.stderr


def test_ctrl_c_stops_the_building_of_an_index_soon_and_leaves_nothing(model_folder, tmp_path):
    code = """
        import os, signal, sys, threading, time
        from pathlib import Path
        import tandem_retrieval as tandem
        model, folder = tandem.Model(sys.argv[1]), Path(sys.argv[2]) / "index"
        documents = [(str(i), "a rather long text that takes some time " * 20) for i in range(4000)]
        def files():
            return sorted((str(path), path.stat().st_size) for path in folder.parent.rglob("*"))
        def stopped(call):
            start = time.monotonic()
            threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            try:
                call()
            except KeyboardInterrupt:
                took = time.monotonic() - start
                assert 1.4 < took < 5, took
                return files()
        assert stopped(lambda: tandem.Index.build(folder, documents, model)) == []
        index = tandem.Index.build(folder, documents[:3], model)
        before = files()
        assert stopped(lambda: index.add(documents[3:])) == before
        print(index.add(documents[3:5]), len(index.search("text")))
    """
    done = run(code, model_folder, str(tmp_path))
    assert done.stdout == "5 5\n", done.stderr


def test_a_source_of_documents_may_encode_with_the_model(model_folder, tmp_path):
    code = """
        import sys
        import tandem_retrieval as tandem
        model = tandem.Model(sys.argv[1])
        def documents(first):
            for number in range(first, first + 1500):
                if number % 500 == 0:
                    assert model.encode(["a", "b"]).shape == (2, 384)
                yield str(number), f"text {number}"
        index = tandem.Index.build(sys.argv[2] + "/index", documents(0), model)
        print(index.add(documents(1500)))
    """
    done = run(code, model_folder, str(tmp_path))
    assert done.stdout == "3000\n", done.stderr


def test_a_signal_handler_that_encodes_with_the_model_is_told_so(model_folder):
    code = """
        import signal, sys
        import tandem_retrieval as tandem
        model, other = tandem.Model(sys.argv[1]), tandem.Model(sys.argv[1])
        def handle(*_):
            assert other.encode(["a"]).shape == (1, 384)
            model.encode(["a"])
        signal.signal(signal.SIGALRM, handle)
        signal.setitimer(signal.ITIMER_REAL, 1)
        try:
            model.encode(["a rather long text that takes some time " * 20] * 4000)
        except tandem.UsageError as error:
            assert "is encoding in this thread" in str(error), error
            print("refused", model.encode(["and goes on"]).shape)
    """
    done = run(code, model_folder)
    assert done.stdout == "refused (1, 384)\n", done.stderr


def test_an_exception_of_the_progress_ends_the_work(model, texts, monkeypatch):
    import tqdm.auto

    class Bar:
        n = 0

        def __init__(self, **_):
            pass

        def update(self, _):
            raise RuntimeError("of the bar")

        def close(self):
            pass

    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    with pytest.raises(RuntimeError, match="of the bar"):
        model.encode(texts, progress=True)
    assert model.encode(["a"]).shape == (1, 384)


def test_a_fork_after_a_computation_says_that_it_cannot_compute(model_folder):
    code = """
        import os, sys
        import tandem_retrieval as tandem
        model = tandem.Model(sys.argv[1])
        model.encode(["a"] * 300)
        ids = model.tokenize("a text")[0].tolist()
        child = os.fork()
        if child == 0:
            assert model.tokenize("a text")[0].tolist() == ids
            for compute in (lambda: model.encode(["a"]), lambda: tandem.Model(sys.argv[1])):
                try:
                    compute()
                except tandem.UsageError as error:
                    assert "was forked from process" in str(error) and "spawn" in str(error), error
                else:
                    os._exit(3)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        print(os.waitstatus_to_exitcode(status), model.encode(["a"]).shape)
    """
    done = run(code, model_folder)
    assert done.stdout == "0 (1, 384)\n", done.stderr


def test_a_fork_before_any_computation_computes(model_folder):
    code = """
        import os, sys
        import tandem_retrieval as tandem
        child = os.fork()
        if child == 0:
            os._exit(0 if tandem.Model(sys.argv[1]).encode(["a"] * 300).shape == (300, 384) else 3)
        status = os.waitpid(child, 0)[1]
        print(os.waitstatus_to_exitcode(status), tandem.Model(sys.argv[1]).encode(["a"]).shape)
    """
    done = run(code, model_folder)
    assert done.stdout == "0 (1, 384)\n", done.stderr


def _encode(folder):
    return tandem.Model(folder).encode(["a text"])


def test_spawned_processes_compute(model, model_folder):
    expected = model.encode(["a text"])
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for rows in pool.map(_encode, [model_folder] * 3):
            assert rows.tobytes() == expected.tobytes()


def test_a_model_is_not_pickled(model):
    import pickle

    with pytest.raises(TypeError, match="give processes its folder"):
        pickle.dumps(model)


def resident_kib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def test_ten_thousand_calls_take_no_memory(model):
    rows = np.random.default_rng(1).normal(size=(4, 8))

    def refused():
        with pytest.raises((TypeError, tandem.UsageError)):
            model.encode([None])
        with pytest.raises(tandem.UsageError):
            model.encode(["\ud800"])

    kinds = [
        lambda: model.encode(["a"]),
        lambda: model.tokenize(["a text"]),
        lambda: tandem.losses.infonce(rows, rows),
        lambda: tandem.evaluate(qrels={"q": {"d": 1}}, run={"q": {"d": 1.0, "e": 2.0}}, measures="mrr"),
        refused,
    ]

    def calls(count):
        for number in range(count):
            kinds[number % len(kinds)]()

    calls(1000)
    before = resident_kib()
    calls(10_000)
    assert resident_kib() - before < 4096


TORCH = """
    import sys
    if sys.argv[2] == "torch first":
        import torch, tandem_retrieval as tandem
    else:
        import tandem_retrieval as tandem, torch
    import numpy as np
    def theirs():
        a = torch.arange(1_000_000, dtype=torch.float32).reshape(1000, 1000) / 1e6
        return float((a @ a.T).sum())
    model = tandem.Model(sys.argv[1])
    texts = [f"text number {i} of many" for i in range(600)]
    if sys.argv[2] == "torch first":
        before = theirs()
        ours = model.encode(texts)
    else:
        ours = model.encode(texts)
        before = theirs()
    for _ in range(3):
        assert abs(theirs() - before) <= 1e-3 * abs(before)
        assert model.encode(texts).tobytes() == ours.tobytes()
    index = tandem.Index.build(sys.argv[3], {str(i): text for i, text in enumerate(texts)}, model, kind="hnsw")
    assert index.search("text number 7 of many", k=1)[0].id == "7"
    sys.stdout.buffer.write(ours.tobytes())
"""


@pytest.mark.parametrize("order", ["torch first", "tandem first"])
def test_lives_beside_torch(model, model_folder, tmp_path, order):
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(TORCH), model_folder, order, str(tmp_path / "index")],
                          capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr.decode()
    expected = model.encode([f"text number {i} of many" for i in range(600)])
    assert done.stdout == expected.tobytes()


def test_a_fork_after_a_computation_of_torch_computes(model_folder):
    pytest.importorskip("torch")
    code = """
        import os, sys, torch
        import tandem_retrieval as tandem
        a = torch.ones(1000, 1000)
        (a @ a).sum(), torch.exp(a).sum()
        child = os.fork()
        if child == 0:
            os._exit(0 if tandem.Model(sys.argv[1]).encode(["a text"] * 500).shape == (500, 384) else 3)
    """
    done = run(textwrap.dedent(code) + WAIT_FOR_CHILD, model_folder)
    assert done.stdout == "0\n", (done.stdout, done.stderr)


def test_signals_of_others_stay_theirs(model):
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    model.encode(["a"])
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
