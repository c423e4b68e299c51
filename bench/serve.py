#!/usr/bin/env python3
"""Requests a second and latencies of `tandem serve` and infinity-emb under the same load, in one run.

    bench/serve.py --program build/release/tandem --model MODEL [--infinity /path/to/infinity_emb]
                   [--texts corpus.jsonl] [--seconds 8] [--clients 1 8 64]

Every client is a connection that sends one text, waits for its embedding (POST /v1/embeddings, floats)
and sends the next (`wrk`, Debian package). Both servers have the same model, texts and number of
threads; they run one after the other. Prints a table in Markdown, and ratios. infinity-emb needs an
environment of its own:

    python3 -m venv V && V/bin/pip install 'infinity-emb[server,torch]' 'sentence-transformers<4' 'numpy<2'

With --index, whose model is MODEL, clients send questions of --texts to POST /search instead (k = 10, with
texts, once with and once without highlights), and the table has the server's memory (VmHWM and VmRSS less the
pages of files); there is no peer.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

SCRIPT = """
local bodies = {}
for line in io.lines("%(bodies)s") do bodies[#bodies + 1] = line end
local headers = {["Content-Type"] = "application/json"}
local next = %(seed)d
request = function()
  next = next %% #bodies + 1
  return wrk.format("POST", "%(path)s", headers, bodies[next])
end
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("RESULT %%d %%d %%d %%d %%d\\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
"""


def read_texts(path, words, count):
    """The first `words` words of texts that have as many; 1: whole texts."""
    texts = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            parts = (row.get("title", "") + " " + row["text"]).split()
            if len(parts) >= words:
                texts.append(" ".join(parts if words == 1 else parts[:words]))
            if len(texts) == count:
                break
    return texts


def wait_for(url, process):
    for _ in range(1200):
        if process.poll() is not None:
            sys.exit(f"the server ended with {process.returncode}")
        try:
            urllib.request.urlopen(url, timeout=5).read()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("the server does not answer")


def load(url, path, bodies, clients, seconds, work):
    script = os.path.join(work, "load.lua")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT % {"bodies": bodies, "seed": 0, "path": path})
    out = subprocess.run(["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "60s", "-s", script, url],
                         capture_output=True, text=True, check=True).stdout
    line = [line for line in out.splitlines() if line.startswith("RESULT")][0]
    requests, duration, p50, p99, errors = (float(word) for word in line.split()[1:])
    return {"rate": requests / duration * 1e6, "p50": p50 / 1e3, "p99": p99 / 1e3, "errors": int(errors)}


def memory_of(process):
    """Megabytes: the most that was resident, and what is not pages of files now."""
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
        values = {line.split(":")[0]: line.split(":")[1].split() for line in file}
    return int(values["VmHWM"][0]) / 1e3, int(values["RssAnon"][0]) / 1e3


def search(arguments, environment):
    url = "http://127.0.0.1:18431"
    command = [arguments.program, "serve", arguments.index, "--port", "18431", "--threads", str(arguments.threads)]
    rows = []
    with tempfile.TemporaryDirectory() as work:
        with open(f"{work}/log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        try:
            wait_for(f"{url}/health", process)
            for highlight in (True, False):
                with open(f"{work}/bodies", "w", encoding="utf-8") as file:
                    for text in read_texts(arguments.texts, 1, 2000):
                        file.write(json.dumps({"query": text, "k": 10, "highlight": highlight}) + "\n")
                load(url, "/search", f"{work}/bodies", 8, 1, work)  # warms up
                for clients in arguments.clients:
                    row = load(url, "/search", f"{work}/bodies", clients, arguments.seconds, work)
                    rows.append((highlight, clients, row, memory_of(process)))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
    print("| highlights | clients | requests/s | p50 ms | p99 ms | errors | most memory, MB | without files, MB |\n"
          "|---|---|---|---|---|---|---|---|")
    for highlight, clients, row, (most, own) in rows:
        print(f"| {'yes' if highlight else 'no'} | {clients} | {row['rate']:.0f} | {row['p50']:.1f} | "
              f"{row['p99']:.1f} | {row['errors']} | {most:.0f} | {own:.0f} |")


def same_embedding(a, b):
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def ask(url, path, body):
    request = urllib.request.Request(url + path, body.encode(), {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=60))["data"][0]["embedding"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--infinity", help="the program infinity_emb")
    parser.add_argument("--texts", default="../shared/data/medquad/corpus.jsonl")
    parser.add_argument("--words", type=int, nargs="+", default=[12, 80])
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--index", help="an index whose searches are measured instead")
    arguments = parser.parse_args()
    environment = dict(os.environ, OMP_NUM_THREADS=str(arguments.threads), HF_HUB_OFFLINE="1",
                       DO_NOT_TRACK="1", INFINITY_ANONYMOUS_USAGE_STATS="0")
    if arguments.index:
        search(arguments, environment)
        return
    servers = [("tandem", 18431, [arguments.program, "serve", arguments.model, "--port", "18431", "--name", "m",
                                  "--threads", str(arguments.threads)])]
    if arguments.infinity:
        servers.append(("infinity-emb", 18432, [
            arguments.infinity, "v2", "--model-id", arguments.model, "--served-model-name", "m", "--engine", "torch",
            "--device", "cpu", "--dtype", "float32", "--no-bettertransformer", "--url-prefix", "/v1", "--port",
            "18432"]))
    results, first = {}, {}
    with tempfile.TemporaryDirectory() as work:
        for words in arguments.words:
            with open(f"{work}/bodies{words}", "w", encoding="utf-8") as file:
                for text in read_texts(arguments.texts, words, 500):
                    file.write(json.dumps({"model": "m", "input": text}) + "\n")
        for name, port, command in servers:
            url = f"http://127.0.0.1:{port}"
            with open(f"{work}/{name}.log", "w", encoding="utf-8") as log:
                process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
            try:
                wait_for(f"{url}/v1/models", process)
                for words in arguments.words:
                    bodies = f"{work}/bodies{words}"
                    with open(bodies, encoding="utf-8") as file:
                        first[name, words] = ask(url, "/v1/embeddings", file.readline())
                    load(url, "/v1/embeddings", bodies, 8, 1, work)  # warms up
                    for clients in arguments.clients:
                        results[name, words, clients] = load(url, "/v1/embeddings", bodies, clients,
                                                             arguments.seconds, work)
                        print(name, words, clients, results[name, words, clients], file=sys.stderr, flush=True)
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=60)
    print("| words | clients | server | requests/s | p50 ms | p99 ms | errors |\n|---|---|---|---|---|---|---|")
    for words in arguments.words:
        for clients in arguments.clients:
            for name, _, _ in servers:
                row = results[name, words, clients]
                print(f"| {words} | {clients} | {name} | {row['rate']:.0f} | {row['p50']:.1f} | {row['p99']:.1f} | "
                      f"{row['errors']} |")
    if arguments.infinity:
        for words in arguments.words:
            print(f"largest difference of an embedding, {words} words: "
                  f"{same_embedding(first['tandem', words], first['infinity-emb', words]):.1e}")
            for clients in arguments.clients:
                ours, theirs = results["tandem", words, clients], results["infinity-emb", words, clients]
                print(f"{words} words, {clients} clients: {ours['rate'] / theirs['rate']:.2f} times the requests, "
                      f"p99 {ours['p99'] / theirs['p99']:.2f} times")


main()
