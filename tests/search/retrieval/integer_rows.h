// Texts and embeddings for tests of searches.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include "data/texts/texts.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::search {

// "d0", "d1", ..., without a text.
inline data::Texts NamedTexts(size_t count) {
  data::Texts texts;
  for (size_t i = 0; i < count; ++i) texts.Add("d" + std::to_string(i), "");
  return texts;
}

// float32 [rows, width] of whole numbers from -2 to 2, whose products are exact in any order.
inline tensor::Tensor IntegerRows(int64_t rows, int64_t width, uint64_t seed) {
  RandomStream stream({.seed = seed, .purpose = "integer rows"});
  tensor::Tensor values = tensor::Empty({rows, width}, tensor::kFloat);
  for (int64_t i = 0; i < values.numel(); ++i) {
    values.data_ptr<float>()[i] = static_cast<float>(stream.Below(5)) - 2;
  }
  return values;
}

}  // namespace tandem::search
