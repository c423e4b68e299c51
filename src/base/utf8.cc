#include "base/utf8.h"

#include <simdjson.h>

namespace tandem {

bool IsUtf8(std::string_view bytes) {
  return bytes.empty() || simdjson::validate_utf8(bytes.data(), bytes.size());
}

}  // namespace tandem
