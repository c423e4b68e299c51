#!/usr/bin/env python3
"""Prints how fast `tandem tokenize` is beside the `tokenizers` package, on the same texts and threads.

Run it with a Python that has the package:

    python bench/tokenize_speed.py --program build/release/tandem --model FOLDER SHARED_DATA

Texts are those of all BEIR folders in SHARED_DATA, one per line. Ours is the whole program: start,
reading the vocabulary, reading lines, printing decimal ids. The package's time is `encode_batch`
alone, without reading the vocabulary (that time stands below the table), in batches of 1,000 and of
10,000 texts (the better one counts) and without offsets
(`encode_batch_fast`) where it has that. Wall and processor time, best of --repeat, at each number of
threads; a ratio above 1 says how many times longer the package takes. The ids of all texts are
compared first. The folder may hold any tokenizer.json that both read.

With --letters N it shows, besides, the time of one text of 1, 2 and 4 times N letters "a" without
spaces (1 MB: --letters 1000000): a tokenizer that is linear takes twice and four times as long.
"""

import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
import time


def read_lines(shared, share):
    lines = []
    files = glob.glob(os.path.join(shared, "*/*.jsonl"))
    files += glob.glob(os.path.join(shared, "xquad/*/*.jsonl"))
    for path in sorted(files):
        with open(path, encoding="utf-8", newline="\n") as records:
            for record in map(json.loads, records):
                title = record.get("title", "")
                text = (title + " " if title else "") + record["text"]
                lines.append(text.replace("\n", " "))
    return lines[::share]


def measure(action, repeat):
    """Best wall and best processor time of `action`, in seconds."""
    def processor():
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    walls, processors = [], []
    for _ in range(repeat):
        wall, cpu = time.monotonic(), processor()
        action()
        walls.append(time.monotonic() - wall)
        processors.append(processor() - cpu)
    return min(walls), min(processors)


def run_ours(options, threads, texts, ids):
    command = [options.program, "tokenize", "--model", options.model, "--quiet", "--max-length",
               str(options.max_length), "--threads", str(threads)]
    with open(texts, "rb") as source, open(ids, "wb") as out:
        subprocess.run(command, stdin=source, stdout=out, stderr=subprocess.DEVNULL, check=True)


def load_package(options):
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(os.path.join(options.model, "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if options.max_length:
        tokenizer.enable_truncation(options.max_length)
    return tokenizer


def check_ids(tokenizer, lines, ids):
    with open(ids) as printed:
        for start in range(0, len(lines), 1000):
            for encoding in tokenizer.encode_batch(lines[start:start + 1000]):
                if " ".join(map(str, encoding.ids)) != printed.readline().rstrip("\n"):
                    sys.exit("ids differ: " + repr(encoding.tokens[:20]))


def measure_package(options, lines, threads):
    """Runs in a process of its own, since the package fixes its threads at its first call."""
    if os.fork() == 0:
        os.environ["RAYON_NUM_THREADS"] = str(threads)
        os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
        import tokenizers  # noqa: F401  not part of the time below
        start = time.monotonic()
        tokenizer = load_package(options)
        loading = time.monotonic() - start
        encode = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)

        def all_texts(batch):
            for start in range(0, len(lines), batch):
                encode(lines[start:start + batch])

        results = [measure(lambda batch=batch: all_texts(batch), options.repeat)
                   for batch in (1000, 10000)]
        with open(options.scratch, "w") as out:
            json.dump([min(wall for wall, _ in results), min(cpu for _, cpu in results), loading],
                      out)
        os._exit(0)
    _, status = os.wait()
    assert status == 0
    with open(options.scratch) as result:
        return json.load(result)


def time_letters(options, letters, folder):
    """Seconds of ours, those of the program's start taken off, and of the package, for one text."""
    text = os.path.join(folder, "letters")
    ids = os.path.join(folder, "letter_ids")
    results = []
    for count in (1, letters):
        with open(text, "w") as out:
            out.write("a" * count + "\n")
        results.append(measure(lambda: run_ours(options, 1, text, ids), options.repeat)[0])
    tokenizer = load_package(options)
    start = time.monotonic()
    encoding = tokenizer.encode("a" * letters)
    peer = time.monotonic() - start
    check_ids(tokenizer, ["a" * letters], ids)
    return results[1] - results[0], peer, len(encoding.ids)


def show_letters(options, folder):
    print("letters   ids      ours  MB/s   package  MB/s   ratio")
    for letters in (options.letters, 2 * options.letters, 4 * options.letters):
        ours, peer, ids = time_letters(options, letters, folder)
        size = letters / 1e6
        print(f"{letters:7}  {ids:7}  {ours:6.3f}s  {size / ours:5.1f}  {peer:6.3f}s  "
              f"{size / peer:5.1f}  {peer / ours:5.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared_data")
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", default="1,2", help="numbers of threads (default 1,2)")
    parser.add_argument("--max-length", type=int, default=0, help="0 (default): no limit")
    parser.add_argument("--share", type=int, default=10, help="every n-th text only (default 10)")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--letters", type=int, default=0, help="see above (default 0: not shown)")
    parser.add_argument("--json", action="store_true", help="print one line of JSON instead")
    options = parser.parse_args()
    lines = read_lines(options.shared_data, options.share)
    with tempfile.TemporaryDirectory() as folder:
        texts, ids = os.path.join(folder, "texts"), os.path.join(folder, "ids")
        options.scratch = os.path.join(folder, "times")
        with open(texts, "w", encoding="utf-8", newline="\n") as out:
            out.writelines(line + "\n" for line in lines)
        size = os.path.getsize(texts) / 1e6
        # This comes before the package starts any thread in this process.
        rows = []
        for threads in map(int, options.threads.split(",")):
            peer = measure_package(options, lines, threads)
            ours = measure(lambda: run_ours(options, threads, texts, ids), options.repeat)
            rows.append((threads, ours, peer))
        check_ids(load_package(options), lines, ids)
        if options.letters:
            show_letters(options, folder)
    if options.json:
        print(json.dumps([{"threads": threads, "mb_per_s": size / wall,
                           "package_mb_per_s": size / peer_wall, "ratio": peer_wall / wall,
                           "package_loading_s": loading}
                          for threads, (wall, _), (peer_wall, _, loading) in rows]))
        return
    print(f"{len(lines)} texts, {size:.1f} MB, max length {options.max_length}; ids equal")
    print("threads  ours wall  MB/s   package wall  MB/s   ratio  ours cpu  package cpu  ratio")
    for threads, (wall, cpu), (peer_wall, peer_cpu, _) in rows:
        print(f"{threads:7}  {wall:8.3f}s  {size / wall:5.1f}  {peer_wall:11.3f}s  "
              f"{size / peer_wall:5.1f}  {peer_wall / wall:5.1f}  {cpu:7.3f}s  {peer_cpu:10.3f}s  "
              f"{peer_cpu / cpu:5.1f}")
    print(f"the package reads its vocabulary in {rows[0][2][2]:.2f} s, which its times leave out")


if __name__ == "__main__":
    main()
