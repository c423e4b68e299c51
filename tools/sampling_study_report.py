"""What tools/sampling_study.py writes: figures as TSV, a picture, tables in a page."""

import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TSV = ["part", "sampler", "steps", "runs", "ndcg@10", "deviation", "recall@20", "deviation",
       "seconds", "deviation"]


def spread(values):
    return statistics.stdev(values) if len(values) > 1 else None


def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def cell(mean, deviation, digits=3):
    text = number(mean, digits)
    return text if deviation is None else f"{text} ± {number(deviation, digits)}"


def write_tsv(path, lines):
    with open(path + ".partial", "w", encoding="utf-8") as file:
        file.write("\t".join(TSV) + "\n")
        for line in lines:
            values = [number(value, 1 if i > 3 else 4) for i, value in enumerate(line[4:])]
            file.write("\t".join([*map(str, line[:4]), *values]) + "\n")
    os.rename(path + ".partial", path)


def draw(tsv, svg):
    """Removes what gnuplot repeats in its SVG."""
    subprocess.run(["gnuplot", "-e", f"tsv='{tsv}'; svg='{svg}'",
                    os.path.join(HERE, "sampling_study.gp")], check=True)
    with open(svg, encoding="utf-8") as file:
        text = file.read()
    for pattern, by in ((r"<defs>.*?</defs>", ""), (r"<use [^>]*/>", ""), ("\t", ""),
                        (r"<g [^>]*>\s*</g>", ""), (r"<title>gnuplot_plot_\w+</title>", ""),
                        (r' color="\w+" stroke="currentColor"', ""), (r" +", " "), (r"\n+", "\n"),
                        (r' stroke-linecap="butt" stroke-linejoin="miter"', "")):
        text = re.sub(pattern, by, text, flags=re.S)
    with open(svg, "w", encoding="utf-8") as file:
        file.write(text)


def update(path, text):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    if "<!-- study -->" not in page:
        sys.exit(f"sampling_study.py: {path} has no line `<!-- study -->`")
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"(<!-- study -->\n).*?(<!-- end -->)",
                          lambda match: match[1] + text + match[2], page, flags=re.S))
