// tokenizer.json (text/load/tokenizer_json.h): whatever is accepted must also encode. Seeds:
// tests/text/golden/*.json.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/load/tokenizer_json.h"
#include "text/pipeline_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace tandem::text;
  try {
    const PipelineTokenizer tokenizer(
        ReadTokenizerJson({reinterpret_cast<const char*>(bytes), size}, "f"));
    std::vector<int32_t> ids;
    for (const std::string_view text :
         {"", "hello world<x> New York", "\xFF[MASK] caf\xC3\xA9 \xE4\xB8\xAD##a-9"}) {
      tokenizer.Encode(text, 0, &ids);
      tokenizer.Encode(text, 3, &ids);
    }
    for (const int32_t id : ids) {
      if (id < 0 || static_cast<size_t>(id) >= tokenizer.vocabulary_size()) std::abort();
    }
  } catch (const tandem::ModelError&) {
  } catch (const tandem::DataError&) {  // a regular expression that takes too many steps
  }
  return 0;
}
