// Texts without any word.
#pragma once

#include <string_view>

namespace tandem::data {

// Says whether a text has nothing but blanks. Such texts are kept everywhere, and counted.
inline bool IsEmptyText(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

}  // namespace tandem::data
