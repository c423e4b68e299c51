// Texts over all of Unicode, the same that tools/golden/generated_texts.py makes: the golden hashes
// are of these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace tandem::text {

// SplitMix64 (Steele et al. 2014).
class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}
  uint64_t Below(uint64_t bound) { return Next() % bound; }

 private:
  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

inline bool IsSurrogate(char32_t c) { return c >= 0xD800 && c < 0xE000; }

inline char32_t DrawCharacter(SplitMix* random) {
  using Ranges = std::vector<std::pair<char32_t, char32_t>>;
  static const std::vector<Ranges> kinds = {
      {{0x0, 0x10FFFF}},
      {{0x20, 0x7E}},
      {{0x0, 0xA0}, {0x2000, 0x206F}, {0xFFF0, 0xFFFF}, {0xFE00, 0xFE0F}, {0xE000, 0xE010}},
      {{0x300, 0x36F}, {0x1AB0, 0x1AFF}, {0x20D0, 0x20FF}},
      {{0x590, 0x8FF}, {0x900, 0xDFF}},
      {{0x302A, 0x302F}, {0x1D150, 0x1D1FF}, {0x16FF0, 0x16FF1}, {0x1E000, 0x1E2FF}},
      {{0xAC00, 0xD7A3}, {0x1100, 0x11FF}, {0xA960, 0xA97F}, {0xD7B0, 0xD7FF}},
      {{0xC0, 0x24F}, {0x370, 0x52F}, {0x1E00, 0x1FFF}, {0xA640, 0xA7FF}, {0x10400, 0x104FF}},
      {{0x3000, 0x30FF}, {0x4E00, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x2FA1F}},
      {{0x344, 0x344},
       {0x34F, 0x34F},
       {0x130, 0x131},
       {0x3A3, 0x3C3},
       {0x1E9E, 0x1E9E},
       {0x302E, 0x302F},
       {0x1D165, 0x1D172},
       {0x200B, 0x200F},
       {0xFFFD, 0xFFFD},
       {0x180E, 0x180E},
       {0x1F1E6, 0x1F64F},
       {0x2028, 0x202F},
       {0xFEFF, 0xFEFF},
       {0x85, 0x85}},
  };
  for (;;) {
    const Ranges& ranges = kinds[random->Below(kinds.size())];
    const auto [low, high] = ranges[random->Below(ranges.size())];
    const auto c = static_cast<char32_t>(low + random->Below(high - low + 1));
    if (!IsSurrogate(c)) return c;
  }
}

// 1 to 40 characters.
inline std::string RandomText(uint64_t number) {
  SplitMix random(number);
  const uint64_t length = 1 + random.Below(40);
  std::string text;
  for (uint64_t i = 0; i < length; ++i) AppendUtf8(DrawCharacter(&random), &text);
  return text;
}

// Every code point between letters, 64 in a text.
inline std::vector<std::string> EveryCharacter() {
  std::vector<std::string> texts;
  for (char32_t start = 0; start <= kLastCodePoint; start += 64) {
    if (IsSurrogate(start)) continue;
    std::string text;
    for (char32_t i = 0; i < 64; ++i) {
      text += 'a';
      AppendUtf8(start + i, &text);
      text += 'B';
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

// Texts in which added tokens are looked for (golden/added_*.json).
inline const std::vector<std::string_view>& Snippets() {
  static const std::vector<std::string_view> snippets = {
      "[CLS]",  "[MASK]",  "[SEP]",  "<x>",    "<xy>",        "<xyz>",    "<left>",    "<right>",
      "<both>", "<word>",  "<Norm>", "<norm>", "<n\u00f6rm>", "new york", "New  York", " ",
      "  ",     "\t",      "\n",     "\u00a0", "\u3000",      "a",        "b",         "A",
      "\u00e9", "e\u0301", "_",      "-",      "9",           ".",        "\u4e2d",    "[",
      "<",      "hello",   "world",  "Word",   "\u200d",      "\u0301"};
  return snippets;
}

inline std::string SnippetText(uint64_t number) {
  SplitMix random(number);
  std::string text;
  for (uint64_t left = random.Below(13); left > 0; --left) {
    text += Snippets()[random.Below(Snippets().size())];
  }
  return text;
}

// Half of it from `own`, the contents of a tokenizer's added tokens.
inline std::string AddedText(uint64_t number, const std::vector<std::string>& own) {
  SplitMix random(number);
  std::string text;
  for (uint64_t left = random.Below(13); left > 0; --left) {
    if (!own.empty() && random.Below(2) == 1) {
      text += own[random.Below(own.size())];
    } else {
      text += Snippets()[random.Below(Snippets().size())];
    }
  }
  return text;
}

// What regular expressions that cut words tell apart.
inline std::string WordText(uint64_t number) {
  using namespace std::string_view_literals;
  static const std::vector<std::string_view> parts = {" ",
                                                      " ",
                                                      "  ",
                                                      "\t",
                                                      "\n",
                                                      "\r",
                                                      "\r\n",
                                                      "\u00a0",
                                                      "\u3000",
                                                      "\xC2\x85",
                                                      "\u180e",
                                                      "\u2581",
                                                      "'s",
                                                      "'S",
                                                      "'\u017f",
                                                      "'ll",
                                                      "'Re",
                                                      "'",
                                                      "don't",
                                                      "a",
                                                      "B",
                                                      "word",
                                                      "Nation",
                                                      "1",
                                                      "123",
                                                      "4567",
                                                      "\u00bd",
                                                      "\u0663",
                                                      "\u2167",
                                                      ".",
                                                      "!!",
                                                      "-",
                                                      "_",
                                                      "$",
                                                      "\u00e9",
                                                      "e\u0301",
                                                      "\u0301",
                                                      "\u4e2d",
                                                      "\u6587\u5b57",
                                                      "\u3042",
                                                      "\u0e01\u0e33",
                                                      "\u0434\u043d",
                                                      "\u1f469",
                                                      "\U0001f469\u200d\U0001f52c",
                                                      "\U00031350",
                                                      "\u1c89",
                                                      "\U0001171e",
                                                      "\u200b",
                                                      "\u2028",
                                                      "\x1c",
                                                      "\0"sv,
                                                      "<0x0A>",
                                                      "\ufffd"};
  SplitMix random(number);
  std::string text;
  for (uint64_t left = random.Below(20); left > 0; --left)
    text += parts[random.Below(parts.size())];
  return text;
}

// Bytes that are mostly no UTF-8.
inline std::string BrokenText(uint64_t number) {
  SplitMix random(number);
  std::string text;
  for (uint64_t left = random.Below(40); left > 0; --left) {
    const bool letter = random.Below(3) == 0;
    text.push_back(static_cast<char>(letter ? 97 + random.Below(26) : random.Below(256)));
  }
  return text;
}

// Texts with grapheme clusters, compositions and what character maps change.
inline std::string ClusterText(uint64_t number) {
  using namespace std::string_view_literals;
  static const std::vector<std::string_view> parts = {
      "a",          "Z",          " ",      "  ",     "\r",         "\n",         "\t",
      "\0"sv,       "\x1b",       "\u00e9", "\u00e5", "\u00a9",     "\u00b2",     "\u00bd",
      "\u2122",     "\u2126",     "\u2460", "\ufb01", "\ufdfa",     "\uff76",     "\uff9e",
      "\u3000",     "\u00a0",     "\u200b", "\u200c", "\u200d",     "\u0301",     "\u0308",
      "\u0323",     "\u0327",     "\u0338", "\u0344", "\u034f",     "\ufe0f",     "\u0600",
      "\U000110bd", "\u0915",     "\u093c", "\u094d", "\u0903",     "\u09c7",     "\u09be",
      "\u0e33",     "\u0f73",     "\u1100", "\u1161", "\u11a8",     "\uac00",     "\uac01",
      "\u2764",     "\u2581",     "``",     "''",     "\U0001f1e6", "\U0001f3fb", "\U0001f600",
      "\U0001d165", "\U0001d15e", "<unk>"};
  SplitMix random(number);
  std::string text;
  for (uint64_t left = random.Below(13); left > 0; --left)
    text += parts[random.Below(parts.size())];
  return text;
}

// Letters, spaces, bytes of long characters and any others, up to 30. Python decodes them with
// errors="replace".
inline std::string RandomBytes(uint64_t number) {
  constexpr std::string_view kLetters = "ab ";
  SplitMix random(number);
  std::string bytes;
  for (uint64_t left = random.Below(31); left > 0; --left) {
    const uint64_t kind = random.Below(4);
    if (kind == 0) {
      bytes += kLetters[random.Below(kLetters.size())];
    } else {
      const uint64_t first = kind == 1 ? 0xC0 : kind == 2 ? 0x80 : 0;
      const uint64_t count = kind == 1 ? 0x38 : kind == 2 ? 0x40 : 0x100;
      bytes += static_cast<char>(first + random.Below(count));
    }
  }
  return bytes;
}

}  // namespace tandem::text
