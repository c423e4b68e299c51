"""What tools/studies/sampling_study.py writes besides tables: figures as TSV and a picture."""

import os
import re
import subprocess

from study import number

HERE = os.path.dirname(os.path.abspath(__file__))
TSV = ["part", "sampler", "steps", "runs", "ndcg@10", "deviation", "recall@20", "deviation",
       "seconds", "deviation"]


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
