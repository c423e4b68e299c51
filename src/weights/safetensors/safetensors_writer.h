// Writing safetensors files, byte for byte as the reference writer does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "weights/safetensors/dtype.h"
#include "weights/safetensors/safetensors.h"

namespace tandem::weights {

struct TensorToWrite {
  std::string name;
  Dtype dtype = Dtype::kF32;
  Shape shape;
  std::string_view bytes;  // row-major, little-endian; exactly shape times dtype
  // Where it is set, makes the bytes when they are written, so that only one such tensor is in
  // memory at a time.
  std::function<std::string()> make;
};

// The view's bytes, to be written unchanged.
TensorToWrite Unchanged(const TensorView& tensor);
// float32 values; `values` must stay alive until the file is written.
TensorToWrite Float32Tensor(std::string name, Shape shape, std::span<const float> values);

// Writes atomically. The order of `tensors` does not matter: they are put in the order of
// Hugging Face's writer, wider types first (Dtype's order from the end), then by name in bytes, so
// that every tensor is aligned; the header is padded with spaces to a multiple of 8 bytes and
// metadata keys are sorted. Reading a file and writing it again gives the same bytes.
// Throws ModelError for a name used twice, a name that is not UTF-8, or bytes that do not fit the
// shape; OutputError.
void WriteSafetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                      const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace tandem::weights
