#include "weights/safetensors/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/half.h"

namespace tandem::weights {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors bytes are used in place");

// A weights file that is missing is a mistake in the model (exit 4), not in the data.
MappedFile MapWeights(const std::filesystem::path& path) {
  try {
    return MappedFile(path);
  } catch (const DataError& error) {
    throw Error(ExitCode::kModel, error.what());
  }
}

uint16_t Bits16(const char* bytes) {
  uint16_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

}  // namespace

std::string ShapeText(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

size_t TensorView::elements() const { return bytes.size() * 8 / DtypeBits(dtype); }

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : path_(path), file_(MapWeights(path)) {
  SafetensorsHeader header = ParseSafetensors(file_.bytes(), path.native());
  const std::string_view data = file_.bytes().substr(header.data_offset);
  metadata_ = std::move(header.metadata);
  tensors_.reserve(header.tensors.size());
  for (TensorEntry& entry : header.tensors) {
    index_.emplace(entry.name, tensors_.size());
    tensors_.push_back({.name = std::move(entry.name),
                        .dtype = entry.dtype,
                        .shape = std::move(entry.shape),
                        .bytes = data.substr(entry.begin, entry.end - entry.begin)});
  }
}

const TensorView* SafetensorsFile::Find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

std::vector<float> ToFloat32(const TensorView& tensor) {
  std::vector<float> values(tensor.elements());
  CopyAsFloat32(tensor, values);
  return values;
}

void CopyAsFloat32(const TensorView& tensor, std::span<float> out) {
  if (!IsComputable(tensor.dtype)) {
    throw ModelError(
        "weights", tensor.name,
        fmt::format("has type {}; F32, F16 or BF16 expected", DtypeName(tensor.dtype)));
  }
  if (out.size() != tensor.elements()) {
    throw std::invalid_argument("CopyAsFloat32: `out` has not one place per element");
  }
  const char* bytes = tensor.bytes.data();
  if (tensor.dtype == Dtype::kF32) {
    if (!out.empty()) std::memcpy(out.data(), bytes, tensor.bytes.size());
  } else if (tensor.dtype == Dtype::kF16) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = FloatFromHalf(Bits16(bytes + 2 * i));
  } else {
    for (size_t i = 0; i < out.size(); ++i) out[i] = FloatFromBfloat16(Bits16(bytes + 2 * i));
  }
}

}  // namespace tandem::weights
