#include "weights/safetensors/safetensors_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json.h"

namespace tandem::weights {
namespace {

using Ordered = std::vector<const TensorToWrite*>;

Ordered InFileOrder(std::span<const TensorToWrite> tensors, std::string_view file) {
  Ordered ordered;
  for (const TensorToWrite& tensor : tensors) ordered.push_back(&tensor);
  std::sort(ordered.begin(), ordered.end(), [](const TensorToWrite* a, const TensorToWrite* b) {
    return a->dtype != b->dtype ? a->dtype > b->dtype : a->name < b->name;
  });
  std::vector<std::string_view> names;
  for (const TensorToWrite* tensor : ordered) names.push_back(tensor->name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw ModelError(file, *twice, "would be written twice");
  return ordered;
}

// Returns the bytes of the shape; none if they are not a whole number, or too many to count.
std::optional<uint64_t> BytesOf(const TensorToWrite& tensor) {
  uint64_t bits = DtypeBits(tensor.dtype);
  bool overflow = false;
  for (const int64_t size : tensor.shape) {
    overflow |= size < 0 || __builtin_mul_overflow(bits, static_cast<uint64_t>(size), &bits);
  }
  if (overflow || bits % 8 != 0) return std::nullopt;
  return bits / 8;
}

void CheckBytes(const TensorToWrite& tensor, std::string_view bytes, std::string_view file) {
  if (BytesOf(tensor) != bytes.size()) {
    throw ModelError(file, tensor.name,
                     fmt::format("would be written as {} of shape {} with {} bytes",
                                 DtypeName(tensor.dtype), ShapeText(tensor.shape), bytes.size()));
  }
}

std::string Header(const Ordered& tensors, const std::map<std::string, std::string>& metadata,
                   std::string_view file) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t begin = 0;
  for (const TensorToWrite* tensor : tensors) {
    const uint64_t end = begin + BytesOf(*tensor).value();
    header.Append(tensor->name, {{"dtype", DtypeName(tensor->dtype)},
                                 {"shape", tensor->shape},
                                 {"data_offsets", {begin, end}}});
    begin = end;
  }
  try {
    std::string text = header.Dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return text;
  } catch (const JsonError&) {
    throw ModelError(file, "", "a tensor's name or the metadata is not UTF-8");
  }
}

}  // namespace

TensorToWrite Unchanged(const TensorView& tensor) {
  return {.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape, .bytes = tensor.bytes};
}

TensorToWrite Float32Tensor(std::string name, Shape shape, std::span<const float> values) {
  return {.name = std::move(name),
          .dtype = Dtype::kF32,
          .shape = std::move(shape),
          .bytes = {reinterpret_cast<const char*>(values.data()), values.size_bytes()}};
}

void WriteSafetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                      const std::map<std::string, std::string>& metadata) {
  const std::string& file = path.native();
  for (const TensorToWrite& tensor : tensors) {
    if (!tensor.make || !BytesOf(tensor)) CheckBytes(tensor, tensor.bytes, file);
  }
  const Ordered ordered = InFileOrder(tensors, file);
  const std::string header = Header(ordered, metadata, file);
  const uint64_t length = header.size();
  AtomicFile out(path);
  out.Write({reinterpret_cast<const char*>(&length), sizeof length});
  out.Write(header);
  for (const TensorToWrite* tensor : ordered) {
    if (!tensor->make) {
      out.Write(tensor->bytes);
      continue;
    }
    const std::string made = tensor->make();
    CheckBytes(*tensor, made, file);
    out.Write(made);
  }
  out.Commit();
}

}  // namespace tandem::weights
