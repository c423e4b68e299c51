// Precompiled character maps (text/normalizers/precompiled.h): any bytes as a map; one that is
// accepted is then applied to texts with clusters of all kinds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "text/normalizers/precompiled.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  // A copy of exactly this size, so that AddressSanitizer sees a read past its end.
  const std::vector<char> map(bytes, bytes + size);
  try {
    const tandem::text::Precompiled normalizer({map.data(), map.size()});
    for (const std::string_view text : {"", "a", "hello world", "e\u0301\u0323 \r\n\u2460\u0301",
                                        "\u0600\u1100\u1161\u200d\u2764"}) {
      std::string form;
      normalizer.Normalize(text, &form);
      if (!tandem::IsUtf8(form)) std::abort();
    }
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
