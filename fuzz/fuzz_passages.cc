// Passages of a text (index/query/passages.h): of any bytes they come in order, are not empty, and
// leave nothing out but blanks.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "index/query/passages.h"

namespace {

void Check(bool condition) {
  if (!condition) std::abort();
}

void CheckLeftOut(std::string_view bytes) {
  // No graphic character of ASCII is a blank, and no other blank begins with such a byte.
  for (const char c : bytes) Check(!(c > ' ' && c < 0x7F));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t target = data[0];
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const bool is_valid = tandem::IsUtf8(text);
  size_t end = 0;
  for (const tandem::index::Passage& passage : tandem::index::SplitPassages(text, target)) {
    Check(passage.begin >= end && passage.end > passage.begin && passage.end <= text.size());
    CheckLeftOut(text.substr(end, passage.begin - end));
    end = passage.end;
    const std::string_view bytes = text.substr(passage.begin, passage.end - passage.begin);
    Check(!is_valid || tandem::IsUtf8(bytes));
  }
  CheckLeftOut(text.substr(end));
  return 0;
}
