"""Texts over all of Unicode that Python and C++ (tests/text/generated_texts.h) make alike.

Both sides draw from SplitMix64 (Steele et al. 2014), seeded by the number of the text.
"""

MASK = (1 << 64) - 1

# Kinds of characters as ranges of code points. A kind is drawn before a character, so that
# characters of rare kinds are drawn often.
KINDS = [
    [(0x0, 0x10FFFF)],
    [(0x20, 0x7E)],
    [(0x0, 0xA0), (0x2000, 0x206F), (0xFFF0, 0xFFFF), (0xFE00, 0xFE0F), (0xE000, 0xE010)],
    [(0x300, 0x36F), (0x1AB0, 0x1AFF), (0x20D0, 0x20FF)],
    [(0x590, 0x8FF), (0x900, 0xDFF)],
    [(0x302A, 0x302F), (0x1D150, 0x1D1FF), (0x16FF0, 0x16FF1), (0x1E000, 0x1E2FF)],
    [(0xAC00, 0xD7A3), (0x1100, 0x11FF), (0xA960, 0xA97F), (0xD7B0, 0xD7FF)],
    [(0xC0, 0x24F), (0x370, 0x52F), (0x1E00, 0x1FFF), (0xA640, 0xA7FF), (0x10400, 0x104FF)],
    [(0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F)],
    [(0x344, 0x344), (0x34F, 0x34F), (0x130, 0x131), (0x3A3, 0x3C3), (0x1E9E, 0x1E9E),
     (0x302E, 0x302F), (0x1D165, 0x1D172), (0x200B, 0x200F), (0xFFFD, 0xFFFD), (0x180E, 0x180E),
     (0x1F1E6, 0x1F64F), (0x2028, 0x202F), (0xFEFF, 0xFEFF), (0x85, 0x85)],
]


class Random:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, bound):
        return self.next() % bound


def draw_character(random):
    while True:
        ranges = KINDS[random.below(len(KINDS))]
        low, high = ranges[random.below(len(ranges))]
        c = low + random.below(high - low + 1)
        if not 0xD800 <= c < 0xE000:
            return chr(c)


def random_text(number):
    """1 to 40 characters, a run of one kind as likely as a mixture."""
    random = Random(number)
    return "".join(draw_character(random) for _ in range(1 + random.below(40)))


def random_texts(count, first=0):
    return [random_text(first + i) for i in range(count)]


def every_character():
    """Every code point between letters, 64 in a text."""
    texts = []
    for start in range(0, 0x110000, 64):
        if not 0xD800 <= start < 0xE000:
            texts.append("".join("a" + chr(start + i) + "B" for i in range(64)))
    return texts


# Parts of texts in which added tokens are looked for (tests/text/golden/added_*.json).
SNIPPETS = ["[CLS]", "[MASK]", "[SEP]", "<x>", "<xy>", "<xyz>", "<left>", "<right>", "<both>",
            "<word>", "<Norm>", "<norm>", "<n\u00f6rm>", "new york", "New  York", " ", "  ", "\t",
            "\n", "\u00a0", "\u3000", "a", "b", "A", "\u00e9", "e\u0301", "_", "-", "9", ".", "\u4e2d",
            "[", "<", "hello", "world", "Word", "\u200d", "\u0301"]


def snippet_text(number):
    random = Random(number)
    return "".join(SNIPPETS[random.below(len(SNIPPETS))] for _ in range(random.below(13)))


# Parts of texts in which grapheme clusters, compositions and character maps are looked for.
CLUSTER_PARTS = ["a", "Z", " ", "  ", "\r", "\n", "\t", "\0", "\x1b", "\u00e9", "\u00e5", "\u00a9",
                 "\u00b2", "\u00bd", "\u2122", "\u2126", "\u2460", "\ufb01", "\ufdfa", "\uff76",
                 "\uff9e", "\u3000", "\u00a0", "\u200b", "\u200c", "\u200d", "\u0301", "\u0308",
                 "\u0323", "\u0327", "\u0338", "\u0344", "\u034f", "\ufe0f", "\u0600", "\U000110bd",
                 "\u0915", "\u093c", "\u094d", "\u0903", "\u09c7", "\u09be", "\u0e33", "\u0f73",
                 "\u1100", "\u1161", "\u11a8", "\uac00", "\uac01", "\u2764", "\u2581", "``", "\'\'",
                 "\U0001f1e6", "\U0001f3fb", "\U0001f600", "\U0001d165", "\U0001d15e", "<unk>"]


def cluster_text(number):
    random = Random(number)
    return "".join(CLUSTER_PARTS[random.below(len(CLUSTER_PARTS))] for _ in range(random.below(13)))


def random_bytes(number):
    """Letters, spaces, bytes of long characters and any others, up to 30."""
    random = Random(number)
    kinds = [b"ab ", bytes(range(0xC0, 0xF8)), bytes(range(0x80, 0xC0)), bytes(range(256))]
    drawn = []
    for _ in range(random.below(31)):
        kind = kinds[random.below(len(kinds))]
        drawn.append(kind[random.below(len(kind))])
    return bytes(drawn)


def added_text(number, own):
    """Half of it from `own`, the contents of a tokenizer's added tokens."""
    random = Random(number)
    parts = []
    for _ in range(random.below(13)):
        source = own if own and random.below(2) else SNIPPETS
        parts.append(source[random.below(len(source))])
    return "".join(parts)


# What regular expressions that cut words tell apart: white space, contractions, letters, marks,
# numbers, characters that are new in Unicode 15 and 16.
WORD_PARTS = [" ", " ", "  ", "\t", "\n", "\r", "\r\n", "\u00a0", "\u3000", "\u0085", "\u180e",
              "\u2581", "'s", "'S", "'\u017f", "'ll", "'Re", "'", "don't", "a", "B", "word", "Nation",
              "1", "123", "4567", "\u00bd", "\u0663", "\u2167", ".", "!!", "-", "_", "$", "\u00e9",
              "e\u0301", "\u0301", "\u4e2d", "\u6587\u5b57", "\u3042", "\u0e01\u0e33", "\u0434\u043d",
              "\u1f469", "\U0001f469\u200d\U0001f52c", "\U00031350", "\u1c89", "\U0001171e", "\u200b",
              "\u2028", "\x1c", "\x00", "<0x0A>", "\ufffd"]


def word_text(number):
    random = Random(number)
    return "".join(WORD_PARTS[random.below(len(WORD_PARTS))] for _ in range(random.below(20)))


def broken_text(number):
    """Bytes that are mostly no UTF-8."""
    random = Random(number)
    count = random.below(40)
    return bytes(97 + random.below(26) if random.below(3) == 0 else random.below(256)
                 for _ in range(count))
