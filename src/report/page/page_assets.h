// The style and the script of the page, as they stand in page.css and page.js; CMake puts them
// here.
#pragma once

#include <string_view>

namespace tandem::report {

struct PageAsset {
  std::string_view text;
  std::string_view sha256;  // of the text, in hexadecimal digits
};

extern const PageAsset kPageStyle;
extern const PageAsset kPageScript;

}  // namespace tandem::report
