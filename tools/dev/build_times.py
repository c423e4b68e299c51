#!/usr/bin/env python3
"""Prints the seconds that a build took, room by room, out of Ninja's log.

    python3 tools/dev/build_times.py build/release/.ninja_log [OTHER_LOG ...]

A column for each log, with the sum over the files of a room and their number; the seconds are those of a
compiler that ran beside others, one for each processor. Of a file that was built more than once the last
time counts, and one that is not there any more does not: for a build from nothing, remove the folder first.
"""

import collections
import pathlib
import sys


def seconds_of_rooms(log):
    """Returns {room: (seconds, files)} of one log."""
    last = {}
    for line in pathlib.Path(log).read_text().splitlines():
        if line.startswith("#"):
            continue
        start, end, _, output, _ = line.split("\t")
        last[output] = (int(end) - int(start)) / 1000
    rooms = collections.defaultdict(lambda: (0.0, 0))
    for output, seconds in last.items():
        if not (pathlib.Path(log).parent / output).exists():
            continue
        folders = output.split("/")
        if output.endswith(".gch"):
            room = "precompiled headers"
        elif not output.endswith(".o"):
            room = "archives, programs, generated files"
        elif folders[0] in ("src", "tests"):
            room = "/".join(folders[:2])
        else:
            room = folders[0]
        total, files = rooms[room]
        rooms[room] = (total + seconds, files + 1)
    return rooms


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    columns = [seconds_of_rooms(log) for log in sys.argv[1:]]
    names = sorted({name for rooms in columns for name in rooms}, key=lambda name: -columns[0].get(name, (0, 0))[0])
    heads = "".join(f" s {i} | files {i} |" for i in range(1, len(columns) + 1))
    print(f"| room |{heads}\n|---|" + "---:|---:|" * len(columns))
    for name in names:
        cells = (rooms.get(name, (0.0, 0)) for rooms in columns)
        print(f"| {name} |" + "".join(f" {seconds:.1f} | {files} |" for seconds, files in cells))
    sums = ((sum(s for s, _ in rooms.values()), sum(n for _, n in rooms.values())) for rooms in columns)
    print("| all |" + "".join(f" {seconds:.1f} | {files} |" for seconds, files in sums))


if __name__ == "__main__":
    main()
