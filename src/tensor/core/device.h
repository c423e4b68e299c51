// Says where a tensor's memory is.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::tensor {

// The processor's memory, or that of a device which a back end drives
// (core/back_end/device_functions.h).
struct Device {
  enum class Kind : uint8_t { kCpu, kCuda };

  Kind kind = Kind::kCpu;
  int index = 0;

  bool is_cpu() const { return kind == Kind::kCpu; }
  bool is_cuda() const { return kind == Kind::kCuda; }
  // "cpu", "cuda:0".
  std::string str() const { return is_cpu() ? "cpu" : "cuda:" + std::to_string(index); }

  friend bool operator==(const Device&, const Device&) = default;
};

inline constexpr Device kCpuDevice = {};

}  // namespace tandem::tensor
