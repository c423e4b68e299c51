"""Finds how the `tokenizers` package cuts texts into grapheme clusters, one class per code point.

`Precompiled` looks a cluster of up to five bytes up as a whole, and the characters of a longer one
each for itself. With a map of every character to "X", the number of X therefore tells what is joined:
each probe ends in a mark of two bytes, which makes a short cluster out of a character that stands
alone and a long one out of a character that is joined to three bytes or more before it. The classes
are those of Unicode's UAX 29; what no text can show (regional indicators in pairs) is no class.
"""

import pathlib
import sys

from tokenizers import normalizers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
from charsmap import make_charsmap  # noqa: E402

# Values of GraphemeClass in src/text/unicode/unicode_tables.h, in this order.
CLASSES = ["other", "control", "extend", "zwj", "prepend", "leading", "vowel", "trailing",
           "pictograph", "consonant", "linker", "indic_extend", "spacing", "lv", "lvt"]
MARK = "\u0301"
HEART, ZWJ, KA, VIRAMA = "\u2764", "\u200d", "\u0915", "\u094d"
JAMO = {"leading": "\u1100", "vowel": "\u1161", "trailing": "\u11a8"}
# What each Hangul class is joined to: before which and behind which jamo.
HANGUL = {(("leading", "vowel"), ("leading",)): "leading",
          (("vowel", "trailing"), ("leading", "vowel")): "vowel",
          (("trailing",), ("vowel", "trailing")): "trailing",
          (("vowel", "trailing"), ("leading",)): "lv",
          (("trailing",), ("leading",)): "lvt"}


def hangul_class(count, c):
    before = tuple(name for name, jamo in JAMO.items() if count(c + jamo + MARK) == 3)
    behind = tuple(name for name, jamo in JAMO.items() if count(jamo + c + MARK) == 3)
    return HANGUL[before, behind] if before or behind else None


def class_of(count, c):
    if c == ZWJ:
        return "zwj"
    size = len(c.encode())
    if count("a" + c) == 1:  # joined to what is before it
        if count(HEART + c + ZWJ + HEART + MARK) != 5:
            return "spacing"  # ends a sequence of pictographs
        if count(KA + c + KA + MARK) == 4:
            return "linker"
        return "indic_extend" if count(KA + c + VIRAMA + KA + MARK) == 5 else "extend"
    if count(c + MARK + MARK) == 2:
        return "control"
    if count(c + "a" + MARK) != 2:
        return "prepend"
    if count(c + ZWJ + HEART + MARK) == 4:
        return "pictograph"
    if count(c + VIRAMA + KA + MARK) == 4:
        return "consonant"
    return size == 3 and hangul_class(count, c) or "other"


def probe_graphemes(code_points):
    """Code point -> index into CLASSES, without those of "other" and the Hangul syllables, whose class
    (lv or lvt) follows from the number."""
    every = {chr(c): "X" for c in code_points if c != 0}
    normalizer = normalizers.Precompiled(make_charsmap(every))

    def count(text):
        got = normalizer.normalize_str(text)
        assert got == "X" * len(got), ascii(text)
        return len(got)

    classes = {}
    for c in code_points:
        if c == 0:  # ends every look-up; a control character in Unicode
            name = "control"
        else:
            name = class_of(count, chr(c))
        if 0xAC00 <= c < 0xAC00 + 11172:
            assert name == ("lvt" if (c - 0xAC00) % 28 else "lv"), hex(c)
        elif name != "other":
            classes[c] = CLASSES.index(name)
    # Rules that no class can show: CR and LF are one cluster, and nothing else joins controls.
    assert count("\r\n") == 1 and count("\n\r") == 2
    return classes
