// Safetensors files as bytes, right and wrong, made by hand.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tandem::weights {

// Length, header as given, data.
inline std::string SafetensorsBytes(std::string_view header, std::string_view data) {
  const uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes.append(header).append(data);
}

}  // namespace tandem::weights
