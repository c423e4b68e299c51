// Texts (text/tokenizer.h): any bytes, against tokenizers of each kind, with and without added
// tokens. The first byte is the length limit.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"
#include "text/load/tokenizer_json.h"
#include "text/pipeline_tokenizer.h"

namespace {

using tandem::text::PipelineTokenizer;

PipelineTokenizer Load(const std::string& name) {
  const std::string file = TANDEM_SOURCE_DIR "/tests/text/golden/" + name;
  return PipelineTokenizer(tandem::text::ReadTokenizerJson(tandem::ReadFile(file), file));
}

void Check(const PipelineTokenizer& tokenizer, std::string_view text, size_t max_length) {
  std::vector<int32_t> whole;
  std::vector<int32_t> some;
  if (tokenizer.Encode(text, 0, &whole)) std::abort();
  const bool cut = tokenizer.Encode(text, max_length, &some);
  if (max_length == 0) max_length = whole.size();
  if (cut != (whole.size() > max_length)) std::abort();
  if (some.size() != std::min(max_length, whole.size())) std::abort();
  for (const int32_t id : whole) {
    if (id < 0 || static_cast<size_t>(id) >= tokenizer.vocabulary_size()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const PipelineTokenizer uncased = Load("added_uncased.json");
  static const PipelineTokenizer cased = Load("added_cased.json");
  static const PipelineTokenizer bare = Load("added_bare.json");
  static const PipelineTokenizer unigram = Load("unigram_added.json");
  static const PipelineTokenizer bytes_model = Load("unigram_bytes.json");
  static const PipelineTokenizer gpt2 = Load("bpe_gpt2.json");
  static const PipelineTokenizer roberta = Load("bpe_roberta.json");
  static const PipelineTokenizer qwen2 = Load("bpe_qwen2.json");
  static const PipelineTokenizer clip = Load("bpe_clip.json");
  static const PipelineTokenizer llama2 = Load("bpe_llama2.json");
  static const PipelineTokenizer plain = Load("bpe_plain.json");
  if (size == 0) return 0;
  const size_t max_length = bytes[0];
  // A copy of exactly this size, so that AddressSanitizer sees a read past its end.
  const std::vector<char> text(bytes + 1, bytes + size);
  for (const PipelineTokenizer* tokenizer : {&uncased, &cased, &bare, &unigram, &bytes_model, &gpt2,
                                             &roberta, &qwen2, &clip, &llama2, &plain}) {
    Check(*tokenizer, {text.data(), text.size()}, max_length);
  }
  return 0;
}
