// Texts that are hard to measure: wide characters, marks, emoji, flags, control characters, bytes
// that are no UTF-8.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

namespace tandem {

inline rc::Gen<std::string> HardText() {
  const auto part = rc::gen::elementOf(std::vector<std::string>{"a",
                                                                "word",
                                                                " ",
                                                                "\n",
                                                                "\t",
                                                                "\x1b[31m",
                                                                "\x7f",
                                                                "\u00e9",
                                                                "e\u0301",
                                                                "\u65e5\u672c",
                                                                "\ud55c",
                                                                "\u1112\u1161\u11ab",
                                                                "\U0001f469\u200d\U0001f52c",
                                                                "\U0001f44d\U0001f3fd",
                                                                "\U0001f1e9\U0001f1ea",
                                                                "\u2764\ufe0f",
                                                                "\u0915\u094d\u0937\u0940",
                                                                "\u05d0",
                                                                "\u200b",
                                                                "\u2028",
                                                                "\xff",
                                                                "\xe2\x82",
                                                                "\xf0\x9f",
                                                                "\u0301"});
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(part),
                      [](const std::vector<std::string>& parts) {
                        std::string text;
                        for (const std::string& one : parts) text += one;
                        return text;
                      });
}

}  // namespace tandem
