// Numbers of 16 bits as floats.
#pragma once

#include <cstdint>

namespace tandem {

// One IEEE half-precision (bfloat16) number as float; exact, NaN payloads kept.
float FloatFromHalf(uint16_t bits);
float FloatFromBfloat16(uint16_t bits);

}  // namespace tandem
