// JSON lines of documents and queries (data/texts/texts_file.h).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "data/texts/texts_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace tandem::data;
  if (size == 0) return 0;
  Warnings warnings;
  const auto role = bytes[0] % 2 == 0 ? TextRole::kDocument : TextRole::kQuery;
  LineReader reader("f", {reinterpret_cast<const char*>(bytes) + 1, size - 1}, warnings);
  try {
    const Texts texts = ReadTexts(reader, role);
    for (size_t i = 0; i < texts.size(); ++i) {
      if (texts.Find(texts.id(i)) != i) std::abort();
    }
  } catch (const tandem::Error&) {
  }
  return 0;
}
