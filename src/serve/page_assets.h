// The page at `/`, as CMake takes it from page/.
#pragma once

#include <string_view>

namespace tandem::serve {

struct PageAsset {
  std::string_view content_type;
  std::string_view content;
  std::string_view etag;  // of the content, in quotes
};

extern const PageAsset kPage;
extern const PageAsset kPageStyle;
extern const PageAsset kPageScript;

}  // namespace tandem::serve
