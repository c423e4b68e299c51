// Says whether bytes are text.
#pragma once

#include <string_view>

namespace tandem {

// Says whether the bytes are UTF-8; no bytes are.
bool IsUtf8(std::string_view bytes);

}  // namespace tandem
