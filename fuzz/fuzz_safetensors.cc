// The reader of safetensors either rejects the bytes, or its tensors lie inside the data and fit
// their shapes. Works best with -dict=fuzz/safetensors.dict.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "weights/safetensors/safetensors.h"

namespace {

void Check(bool condition) {
  if (!condition) std::abort();
}

// The fuzzer rarely guesses a length: this one ends the header at the first NUL byte.
std::string WithLength(std::string_view input) {
  const uint64_t length =
      input.find('\0') == std::string_view::npos ? input.size() : input.find('\0');
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  return bytes.append(input);
}

void Parse(std::string_view bytes) {
  using namespace tandem;
  try {
    const weights::SafetensorsHeader header = weights::ParseSafetensors(bytes, "fuzz");
    uint64_t covered = 0;
    for (const weights::TensorEntry& tensor : header.tensors) {
      Check(tensor.begin == covered && tensor.end >= tensor.begin);
      uint64_t bits = weights::DtypeBits(tensor.dtype);
      for (const int64_t size : tensor.shape) bits *= static_cast<uint64_t>(size);
      Check(bits == 8 * (tensor.end - tensor.begin));
      covered = tensor.end;
    }
    Check(header.data_offset + covered == bytes.size());
  } catch (const ModelError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  Parse(input);
  Parse(WithLength(input));
  return 0;
}
