#include "tensor/core/dtype.h"

namespace tandem::tensor {

size_t ElementSize(DType type) {
  return ForElement(type, [](auto zero) { return sizeof(zero); });
}

std::string_view Name(DType type) {
  switch (type) {
    case DType::kFloat:
      return "float32";
    case DType::kDouble:
      return "float64";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kHalf:
      return "float16";
    case DType::kLong:
      return "int64";
    case DType::kInt:
      return "int32";
    case DType::kByte:
      return "uint8";
    case DType::kBool:
      return "bool";
  }
  return "unknown";
}

bool IsFloating(DType type) { return type <= DType::kHalf; }

}  // namespace tandem::tensor
