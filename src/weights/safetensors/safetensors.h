// Reading safetensors files.
//
// The file: 8 bytes little-endian N, N bytes of JSON {"name": {"dtype", "shape", "data_offsets":
// [begin, end)}, ..., "__metadata__": {"key": "value"}}, then the tensors' bytes. It is mapped, and
// every number in it is checked before it is used: the header fits the file and is at most
// kMaxHeaderBytes; names, keys and metadata keys occur once; the type is known; shape products do
// not overflow; end - begin is shape times type; the tensors cover the data without hole or overlap
// (the format demands that). Nothing in the JSON makes the reader take more than a small multiple
// of its length in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/files/files.h"
#include "weights/safetensors/dtype.h"

namespace tandem::weights {

// The reference reader's limit.
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;

using Shape = std::vector<int64_t>;

// "[384, 1536]"; "[]" for a scalar.
std::string ShapeText(std::span<const int64_t> shape);

// One tensor inside a mapped file; valid as long as the file object.
struct TensorView {
  std::string name;
  Dtype dtype = Dtype::kF32;
  Shape shape;             // empty: a scalar, one element
  std::string_view bytes;  // row-major, little-endian; not aligned to its type

  size_t elements() const;
};

// The entry of a header about a tensor, checked against a data section of known length.
struct TensorEntry {
  std::string name;
  Dtype dtype = Dtype::kF32;
  Shape shape;
  uint64_t begin = 0;  // bytes from the start of the data
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;             // ascending by `begin`
  std::map<std::string, std::string> metadata;  // "__metadata__"; usually {"format": "pt"}
  uint64_t data_offset = 0;                     // where the tensors' bytes start in the file
};

// Reads and checks the header of a whole file's bytes; `file` names it in errors. Throws
// ModelError.
SafetensorsHeader ParseSafetensors(std::string_view bytes, std::string_view file);

// An open file. Movable; views stay valid.
class SafetensorsFile {
 public:
  // Throws ModelError: missing, not safetensors, broken.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  // The tensors in the order in which their bytes lie in the file.
  std::span<const TensorView> tensors() const { return tensors_; }
  // Returns null when there is none of that name.
  const TensorView* Find(std::string_view name) const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // Gives the file's pages back (MappedFile::ReleasePages); to be called after the tensors were
  // copied.
  void ReleasePages() const { file_.ReleasePages(); }

 private:
  std::filesystem::path path_;
  MappedFile file_;
  std::vector<TensorView> tensors_;
  std::unordered_map<std::string, size_t> index_;
  std::map<std::string, std::string> metadata_;
};

// The elements of an F32, F16 or BF16 tensor, exactly. Throws ModelError for another type.
std::vector<float> ToFloat32(const TensorView& tensor);
// Copies into `out`, which must hold tensor.elements() values.
void CopyAsFloat32(const TensorView& tensor, std::span<float> out);

}  // namespace tandem::weights
