// Text without marks to a document.
#pragma once

#include <string_view>

#include "documents/document.h"

namespace tandem::documents {

inline constexpr size_t kMostTitleBytes = 100;

// The title is the first line where it stands alone, before a blank line with more after it, has at
// most kMostTitleBytes bytes and ends in none of . : ; , ! ?; it is no part of the text. Lines end
// at \n, \r\n or \r. `text` is valid UTF-8.
Document ReadPlainText(std::string_view text);

}  // namespace tandem::documents
