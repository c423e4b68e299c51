// Whether bytes are text.
#pragma once

#include <string_view>

namespace tandem {

// Whether the bytes are UTF-8; no bytes are.
bool IsUtf8(std::string_view bytes);

}  // namespace tandem
