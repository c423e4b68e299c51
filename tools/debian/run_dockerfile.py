#!/usr/bin/env python3
"""Runs the steps of the Dockerfile where there is no builder of containers, in bare Debians that
tools/debian/bare_debian.sh makes, and then the container's command. Needs root.

    tools/debian/run_dockerfile.py --suite bookworm --work .cache/debian --data MODEL_OR_INDEX [--deb FILE.deb]

Each stage is a copy of a bare Debian of the suite, whatever FROM says, but FROM scratch, which is empty; COPY
from here takes what git knows; RUN is done as root. --deb leaves out the first stage and copies this package
instead of the one that it would build. At last the command is started as the user of the Dockerfile, with DATA
at its working folder, until the health check holds, and is stopped by SIGTERM: exit code 0 is expected. Says how
many bytes the files of the last stage have, which may be no more than MOST_BYTES, and prints the root of the
stage before it, in which the package is installed. Exit code 1 where a step fails. Only Python's standard library.
"""

import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

TOOLS = pathlib.Path(__file__).resolve().parent
SOURCE = TOOLS.parents[1]
MOST_BYTES = 150_000_000


def instructions(path):
    """(WORD, rest) of each instruction, lines joined."""
    text = "\n".join(line for line in path.read_text().splitlines() if not line.lstrip().startswith("#"))
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield word.upper(), rest.strip()


class Stage:
    """One FROM: the folder that is its root, and the settings that instructions change."""

    def __init__(self, suite, work, name):
        self.suite = suite
        self.root = work / name
        self.folder, self.user = "/", None
        self.variables, self.entry, self.command, self.health = {}, [], [], []
        if suite is None:  # scratch; a builder of containers makes these folders too
            shutil.rmtree(self.root, ignore_errors=True)
            for folder in ("dev", "proc", "sys"):
                (self.root / folder).mkdir(parents=True)
            return
        base = work / suite
        subprocess.run(["sh", TOOLS / "bare_debian.sh", suite, base, "true"], check=True, stdout=sys.stderr)
        shutil.rmtree(self.root, ignore_errors=True)
        subprocess.run(["cp", "-a", "--reflink=auto", base, self.root], check=True)

    def line(self, command):
        sets = "".join(f"export {name}={shlex.quote(value)}; " for name, value in self.variables.items())
        return f"{sets}cd {shlex.quote(self.folder)}; {command}"

    def start(self, command, **options):
        """What the command prints goes to stderr: stdout has the root alone."""
        return subprocess.Popen(["sh", TOOLS / "bare_debian.sh", self.suite, self.root, self.line(command)],
                                stdout=sys.stderr, **options)

    def run(self, command):
        return self.start(command).wait()

    def program(self, words, **options):
        """Starts a program as the user of the stage, without a shell, which a stage from scratch lacks. The
        process is the program's own."""
        mounts = 'for folder in proc dev sys; do mount --rbind "/$folder" "$0/$folder"; done; '
        sets = [f"{name}={value}" for name, value in self.variables.items()]
        return subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-euc", mounts + 'exec "$@"', self.root,
             "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *sets, "chroot", f"--userspec={self.user}", self.root,
             *words],
            stdout=sys.stderr, **options)

    def path(self, inside):
        return self.root / pathlib.PurePosixPath(self.folder, inside).as_posix().lstrip("/")


def copy_sources(target):
    """What git knows of the working tree, and no more, as .dockerignore would leave it."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, capture_output=True, check=True).stdout
    subprocess.run(["cp", "-a", "--parents", "-t", target, *names.decode().rstrip("\0").split("\0")], cwd=SOURCE,
                   check=True)


def copy(stage, stages, rest, deb):
    words = rest.split()
    target = stage.path(words[-1])
    if words[0].startswith("--from="):
        name = words[0].removeprefix("--from=")
        if name in stages:
            source = stages[name].root / words[1].lstrip("/")
        else:  # the first stage, which --deb leaves out
            source = deb if words[1].endswith(".deb") else SOURCE / pathlib.PurePosixPath(words[1]).relative_to("/src")
        if source.is_dir():
            subprocess.run(["cp", "-a", f"{source}/.", target], check=True)
        else:
            shutil.copy(source, target)
    else:
        target.mkdir(parents=True, exist_ok=True)
        copy_sources(target)


def apply(stage, word, rest):
    """An instruction that changes settings; True where it was one."""
    if word == "WORKDIR":
        stage.folder = rest
        stage.path(".").mkdir(parents=True, exist_ok=True)
    elif word == "ENV":
        name, _, value = rest.partition("=")
        stage.variables[name] = value
    elif word == "USER":
        stage.user = rest
    elif word == "ENTRYPOINT":
        stage.entry = json.loads(rest)
    elif word == "CMD":
        stage.command = json.loads(rest)
    elif word == "HEALTHCHECK":
        stage.health = json.loads(rest.partition("CMD ")[2])
    else:
        return word in ("ARG", "EXPOSE", "STOPSIGNAL")
    return True


def build(options):
    stages, stage, skipped = {}, None, False
    for word, rest in instructions(SOURCE / "Dockerfile"):
        if word == "FROM":
            name = rest.split()[-1]
            skipped = name == "build" and options.deb is not None
            if not skipped:
                suite = None if rest.split()[0] == "scratch" else options.suite
                stage = stages[name] = Stage(suite, options.work, f"{options.suite}-{name}")
        elif skipped or (stage and apply(stage, word, rest)) or word == "ARG":
            continue
        elif word == "COPY":
            copy(stage, stages, rest, options.deb)
        elif word == "RUN":
            print(f"RUN {rest}", file=sys.stderr, flush=True)
            if stage.run(rest) != 0:
                sys.exit(f"run_dockerfile.py: the step failed: RUN {rest}")
        else:
            sys.exit(f"run_dockerfile.py: knows no {word}")
    return stages


def bytes_of(root):
    return sum(path.lstat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink())


def serve(stage, data, seconds):
    """Starts the command, waits for its health, stops it; the problem, or nothing."""
    target = stage.path(".")
    subprocess.run(["cp", "-aL", f"{data}/.", target], check=True)
    process = stage.program(stage.entry + stage.command)
    end = time.monotonic() + seconds
    healthy = False
    while not healthy and time.monotonic() < end and process.poll() is None:
        time.sleep(1)
        healthy = stage.program(stage.health, stderr=subprocess.DEVNULL).wait() == 0
    if process.poll() is not None:
        return f"the command ended with {process.returncode}"
    process.terminate()
    status = process.wait(60)
    if not healthy:
        return f"no health within {seconds} s: {shlex.join(stage.health)}"
    return f"SIGTERM ended it with {status}" if status != 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--suite", default="bookworm")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where systems lie")
    parser.add_argument("--data", type=pathlib.Path, help="what is served; without it nothing is started")
    parser.add_argument("--deb", type=pathlib.Path, help="this package instead of building one")
    options = parser.parse_args()
    options.work = options.work.resolve()
    *_, installed, server = build(options).values()
    size = bytes_of(server.root)
    print(f"the server's files: {size / 1e6:.0f} MB", file=sys.stderr)
    if size > MOST_BYTES:
        sys.exit(f"run_dockerfile.py: that is more than {MOST_BYTES / 1e6:.0f} MB")
    problem = serve(server, options.data, 120) if options.data else None
    if problem:
        sys.exit(f"run_dockerfile.py: {problem}")
    print(installed.root)


if __name__ == "__main__":
    main()
