// Says how many columns of a terminal a text takes, and texts that are cut to fit.
//
// Texts here are UTF-8. What is no UTF-8 counts and is printed as U+FFFD, one for each maximal
// invalid subpart (base/utf8.h), as terminals show it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem::text {

// Columns that `text` takes. A grapheme cluster (what readers see as one character, UAX 29, a flag
// of two letters among them) takes the columns of its characters together: 2 for each wide one of
// East Asia and each emoji, none for combining marks and what joins (text/width/width_table.h),
// 1 for every other, also for control characters, which Printable replaces. Two at most for a
// cluster that starts with a pictograph, whose joined pictographs are one picture, and two for one
// that U+FE0F makes a picture. Terminals that draw each part of such a picture by itself take more.
size_t DisplayWidth(std::string_view text);

// `text` as valid UTF-8 in which nothing moves the cursor: "\n" and "\t" as a backslash and a
// letter, every other control character and U+2028, U+2029 as "?".
std::string Printable(std::string_view text);

// The longest start of `text`, which is valid UTF-8, that consists of whole clusters and takes at
// most `columns` columns.
std::string_view HeadOfWidth(std::string_view text, size_t columns);

// Printable text of at most `columns` columns; what is longer ends in "…" after a whole cluster.
// "" for 0 columns.
std::string CutToWidth(std::string_view text, size_t columns);

}  // namespace tandem::text
