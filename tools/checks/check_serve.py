#!/usr/bin/env python3
"""Whether `tandem serve` answers as others' programs expect, and goes on under load and faults.

    check_serve.py --program build/release/tandem --model MODEL [--index INDEX] [--seconds 600]

Three parts: `curl` and, where they are installed, the `openai` package and sentence-transformers agree
with the server; then for --seconds: clients ask, others break off, send nonsense, send slowly or send
too much, and the server is told to swap (SIGHUP) again and again. Afterwards its memory must be flat,
no honest request may have been lost, and SIGTERM must end it with exit code 0. Prints what was seen;
exit code 1 where something did not hold. Needs nothing but Python; PEER_PYTHON may name another one
that has the packages.
"""
import argparse
import base64
import http.client
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

TEXTS = [
    "How do I renew a passport?", "The passport office renews passports within six weeks.",
    "A recipe for bread: flour, water, salt and yeast, and a long night.",
    "Die Straße nach Köln ist gesperrt.", "日本の首都は東京です。", "", "a",
    "word " * 700,  # cut at the model's length
    'quotes " and \\ and\nline breaks and \u2028 and 🙂',
]

failures = []


def check(good, what):
    print(("held: " if good else "FAILED: ") + what, flush=True)
    if not good:
        failures.append(what)


class Server:
    def __init__(self, arguments, flags=()):
        self.process = subprocess.Popen(
            [arguments.program, "serve", arguments.index or arguments.model, "--port", "0",
             "--threads", str(arguments.threads), *flags],
            stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.port = None
        for line in self.process.stderr:
            self.lines.append(line)
            if " at http://" in line:
                self.port = int(line.rsplit(":", 1)[1])
                break
        if self.port is None:
            sys.exit("the server did not start:\n" + "".join(self.lines))
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line)

    def post(self, path, body, timeout=120):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path)
        return connection.getresponse().read().decode()

    def metric(self, name):
        for line in self.get("/metrics").splitlines():
            if line.startswith(name + " "):
                return float(line.split()[-1])
        return None

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


def difference(a, b):
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


# --- agreement -----------------------------------------------------------------------------------


def check_forms(server, model_name):
    status, answer = server.post("/v1/embeddings", {"input": TEXTS, "model": model_name})
    check(status == 200 and len(answer["data"]) == len(TEXTS), "/v1/embeddings answers every text")
    floats = [row["embedding"] for row in answer["data"]]
    check(answer["usage"]["truncated_texts"] == 1, "a text that was cut is counted")
    _, packed = server.post("/v1/embeddings", {"input": TEXTS, "encoding_format": "base64"})
    bits = [list(struct.unpack(f"<{len(floats[0])}f", base64.b64decode(row["embedding"])))
            for row in packed["data"]]
    worst = max(difference(a, b) for a, b in zip(floats, bits))
    check(worst < 1e-6, f"base64 is the same as floats (largest difference {worst:.1e})")
    alone = [server.post("/embed", {"texts": text})[1]["embeddings"][0] for text in TEXTS]
    worst = max(difference(a, b) for a, b in zip(floats, alone))
    check(worst < 1e-5, f"a text alone has the embedding that it has among others ({worst:.1e})")
    _, cut = server.post("/embed", {"texts": TEXTS[0], "dimensions": 7})
    check(len(cut["embeddings"][0]) == 7, "`dimensions` cuts")
    return floats


def check_encode(arguments, floats):
    """`tandem encode` gives the same."""
    work = f"/tmp/check_serve.{os.getpid()}"
    os.makedirs(work, exist_ok=True)
    with open(f"{work}/texts.jsonl", "w", encoding="utf-8") as file:
        for i, text in enumerate(TEXTS):
            file.write(json.dumps({"_id": str(i), "text": text}) + "\n")
    subprocess.run([arguments.program, "encode", "--model", arguments.model, "--input",
                    f"{work}/texts.jsonl", "--output", f"{work}/out", "--force", "--quiet",
                    "--threads", str(arguments.threads)], check=True, stderr=subprocess.DEVNULL)
    with open(f"{work}/out/embeddings.npy", "rb") as file:
        content = file.read()
    header = struct.unpack("<H", content[8:10])[0] + 10
    numbers = struct.unpack(f"<{(len(content) - header) // 4}f", content[header:])
    width = len(floats[0])
    rows = [numbers[i * width:(i + 1) * width] for i in range(len(TEXTS))]
    shutil.rmtree(work)
    worst = max(difference(a, b) for a, b in zip(floats, rows))
    check(worst < 1e-5, f"`tandem encode` makes the same embeddings (largest difference {worst:.1e})")


def check_curl(server):
    if not shutil.which("curl"):
        return print("skipped: there is no curl")
    url = f"http://127.0.0.1:{server.port}"
    body = json.dumps({"texts": ["a"] * 300 + ["b" * 2000]})  # long enough for Expect: 100-continue
    out = subprocess.run(["curl", "-sS", "--fail", "-H", "Content-Type: application/json", "-d", body,
                          f"{url}/embed"], capture_output=True, text=True)
    check(out.returncode == 0 and len(json.loads(out.stdout)["embeddings"]) == 301, "curl posts")
    out = subprocess.run(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-H",
                          "Content-Type: application/json", "-H", "Transfer-Encoding: chunked", "-d",
                          '{"texts": "a"}', f"{url}/embed"], capture_output=True, text=True)
    check(out.stdout == "200", "curl posts a chunked body")


PEERS = r"""
import json, sys
port, model, folder, texts = json.loads(sys.stdin.read())
result = {}
try:
    from openai import OpenAI, BadRequestError, NotFoundError
    client = OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0)
    answer = client.embeddings.create(model=model, input=texts)  # asks for base64
    result["openai"] = [row.embedding for row in answer.data]
    plain = client.embeddings.create(model=model, input=texts[0], encoding_format="float", dimensions=8)
    result["openai_cut"] = len(plain.data[0].embedding)
    result["openai_models"] = [one.id for one in client.models.list().data]
    for kind, call in [(BadRequestError, lambda: client.embeddings.create(model=model, input=[])),
                       (BadRequestError, lambda: client.embeddings.create(model=model, input=[[1, 2]])),
                       (NotFoundError, lambda: client.embeddings.create(model="gpt", input="a"))]:
        try:
            call()
            result.setdefault("openai_errors", []).append(False)
        except kind as error:
            result.setdefault("openai_errors", []).append(bool(error.code and error.type))
except ImportError as error:
    result["no_openai"] = str(error)
try:
    from sentence_transformers import SentenceTransformer
    model = SentenceTransformer(folder, device="cpu")
    result["sentence_transformers"] = model.encode(texts).tolist()
except ImportError as error:
    result["no_sentence_transformers"] = str(error)
print(json.dumps(result))
"""


def check_peers(server, arguments, model_name, floats):
    question = json.dumps([server.port, model_name, os.path.abspath(arguments.model), TEXTS])
    python = os.environ.get("PEER_PYTHON", sys.executable)
    out = subprocess.run([python, "-c", PEERS], input=question, capture_output=True, text=True)
    if out.returncode != 0:
        return check(False, "the packages' clients run:\n" + out.stderr)
    result = json.loads(out.stdout.splitlines()[-1])
    if "openai" in result:
        worst = max(difference(a, b) for a, b in zip(floats, result["openai"]))
        check(worst < 1e-5, f"the openai package reads the embeddings (largest difference {worst:.1e})")
        check(result["openai_cut"] == 8 and result["openai_models"] == [model_name],
              "the openai package: dimensions, models")
        check(result["openai_errors"] == [True] * 3, "the openai package knows the errors")
    else:
        print("skipped: " + result["no_openai"])
    if "sentence_transformers" in result:
        worst = max(difference(a, b) for a, b in zip(floats, result["sentence_transformers"]))
        check(worst < 1e-5, f"sentence-transformers' embeddings agree (largest difference {worst:.1e})")
    else:
        print("skipped: " + result["no_sentence_transformers"])


# --- load with faults ----------------------------------------------------------------------------


class Soak:
    """Honest clients, whose every request must be answered, among broken ones."""

    def __init__(self, server, with_index, expected):
        self.server = server
        self.with_index = with_index
        self.expected = expected  # embedding of TEXTS[0]
        self.end = threading.Event()
        self.lock = threading.Lock()
        self.statuses = {}
        self.lost = []
        self.faults = 0

    def count(self, status):
        with self.lock:
            self.statuses[status] = self.statuses.get(status, 0) + 1

    def honest(self, seed):
        draw = random.Random(seed)
        connection = None
        while not self.end.is_set():
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
            path, body = self.request(draw)
            try:
                connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
                answer = connection.getresponse()
                content = json.loads(answer.read())
            except (OSError, http.client.HTTPException, ValueError) as error:
                with self.lock:
                    self.lost.append(f"{path}: {error!r}")
                connection = None
                continue
            self.count(answer.status)
            if answer.status == 200 and path == "/embed" and body["texts"][0] == TEXTS[0]:
                if difference(content["embeddings"][0], self.expected) > 1e-5:
                    with self.lock:
                        self.lost.append("another text's embedding")
            if answer.status == 429:
                time.sleep(0.2)
            if draw.random() < 0.05:
                connection.close()
                connection = None

    def request(self, draw):
        kind = draw.random()
        texts = [TEXTS[0]] + draw.choices(TEXTS[:7], k=draw.choice([0, 0, 0, 1, 3, 20]))
        if kind < 0.2 and self.with_index:
            return "/search", {"query": draw.choice(TEXTS[:4]), "k": 3, "highlight": draw.random() < 0.2}
        if kind < 0.4:
            return "/similarity", {"query": texts[0], "documents": texts}
        if kind < 0.6:
            return "/v1/embeddings", {"input": texts, "encoding_format": "base64"}
        return "/embed", {"texts": texts}

    def broken(self, seed):
        draw = random.Random(seed)
        faults = [self.nonsense, self.breaks_off, self.asks_and_leaves, self.half_closes, self.trickles,
                  self.deep, self.large, self.silent]
        while not self.end.is_set():
            connection = socket.socket()
            connection.settimeout(20)
            try:
                connection.connect(("127.0.0.1", self.server.port))
                draw.choice(faults)(connection, draw)
            except OSError:
                pass  # the server ended the connection, as it may
            finally:
                connection.close()
                self.faults += 1

    @staticmethod
    def post(body, length=None):
        return (b"POST /embed HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: "
                + str(len(body) if length is None else length).encode() + b"\r\n\r\n" + body)

    def nonsense(self, connection, draw):
        connection.sendall(draw.randbytes(draw.randrange(1, 3000)))
        connection.recv(1000)

    def breaks_off(self, connection, draw):
        connection.sendall(self.post(b'{"texts": ["a', 5000)[:draw.randrange(1, 110)])
        time.sleep(draw.random() / 10)

    def asks_and_leaves(self, connection, draw):
        texts = json.dumps({"texts": ["left alone " * 20] * draw.randrange(1, 200)}).encode()
        connection.sendall(self.post(texts))
        if draw.random() < 0.5:  # with a reset
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        time.sleep(draw.random() / 20)

    def half_closes(self, connection, draw):
        connection.sendall(self.post(b'{"texts": "half"}'))
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(10000):
            pass

    def trickles(self, connection, draw):
        for byte in self.post(b'{"texts": "slow"}')[:draw.randrange(20, 130)]:
            connection.sendall(bytes([byte]))
            time.sleep(0.02)

    def deep(self, connection, draw):
        connection.sendall(self.post(b'{"texts": ' + b"[" * 100_000))
        connection.recv(1000)

    def large(self, connection, draw):
        connection.sendall(self.post(b"", 1_000_000_000))
        for _ in range(100):
            connection.sendall(b" " * 65536)

    def silent(self, connection, draw):
        self.end.wait(draw.random() * 3)

    def swap(self):
        while not self.end.wait(5):
            self.server.process.send_signal(signal.SIGHUP)

    def run(self, seconds):
        threads = [threading.Thread(target=self.honest, args=(i,)) for i in range(8)]
        threads += [threading.Thread(target=self.broken, args=(100 + i,)) for i in range(6)]
        threads.append(threading.Thread(target=self.swap))
        for thread in threads:
            thread.start()
        memory = []
        start = time.time()
        while time.time() - start < seconds:
            self.end.wait(max(0.5, seconds / 60))
            memory.append(self.server.metric("process_resident_memory_bytes"))
        self.end.set()
        for thread in threads:
            thread.join()
        return memory


def check_soak(server, arguments, expected):
    print(f"load with faults for {arguments.seconds} s", flush=True)
    soak = Soak(server, bool(arguments.index), expected)
    memory = soak.run(arguments.seconds)
    answered = sum(soak.statuses.values())
    swaps = server.get("/metrics").split('tandem_reloads_total{result="done"} ')[1].split()[0]
    print(f"{answered} honest requests by status {soak.statuses}, {soak.faults} broken connections, "
          f"{swaps} swaps")
    check(not soak.lost, f"no honest request was lost {soak.lost[:3]}")
    check(set(soak.statuses) <= {200, 429}, "nothing but 200 and 429 for honest requests")
    check(int(swaps) > 0 or arguments.seconds < 10, "models were swapped in meanwhile")
    check(server.process.poll() is None, "the server runs")
    quarter = len(memory) // 4
    early, late = max(memory[quarter:2 * quarter]), max(memory[-quarter:])
    check(late < 1.1 * early + 20e6,
          f"memory is flat: at most {early / 1e6:.0f} MB in the second quarter, {late / 1e6:.0f} MB in "
          "the last")
    errors = [line for line in server.lines if "failed" in line or "error" in line]
    check(not errors, f"the server's log has no fault of its own {errors[:3]}")
    time.sleep(1)
    check(server.metric("tandem_queue_texts") == 0, "nothing is left in the queue")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--index", default="")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    server = Server(arguments)
    model_name = json.loads(server.get("/v1/models"))["data"][0]["id"]
    floats = check_forms(server, model_name)
    check_encode(arguments, floats)
    check_curl(server)
    check_peers(server, arguments, model_name, floats)
    if arguments.seconds > 0:
        check_soak(server, arguments, floats[0])
    code = server.stop()
    check(code == 0, f"SIGTERM ends it with exit code {code}")
    if failures:
        sys.exit(f"{len(failures)} did not hold")


main()
