// Element types of a safetensors file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tandem::weights {

// Every type of the format (safetensors 0.8), in the format's own order of alignment: the writer
// puts later types first. Tandem computes with F32, F16 and BF16 and carries the others unchanged.
enum class Dtype {
  kBool,
  kF4,
  kF6E2M3,
  kF6E3M2,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kF8E4M3Fnuz,
  kF8E5M2Fnuz,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64,
};

// Gives the name that a file uses: "F32", "BF16", ...
std::string_view DtypeName(Dtype dtype);
// Returns nothing for a name that the format does not have.
std::optional<Dtype> DtypeFromName(std::string_view name);
// Size of one element; a whole tensor always fills whole bytes.
size_t DtypeBits(Dtype dtype);
// Says whether Tandem computes with it: F32, F16 or BF16.
bool IsComputable(Dtype dtype);

}  // namespace tandem::weights
