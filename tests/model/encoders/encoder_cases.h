// The small encoders of tests/model/golden/encoders.json, which tools/golden/make_encoder_golden.py
// made: their configurations, texts and what transformers computes for them.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "model/encoders/transformer.h"
#include "tensor/core/tensor.h"
#include "tensor/packed_tokens.h"

namespace tandem::model {

struct EncoderCase {
  std::string name;
  nlohmann::json golden;

  const nlohmann::json& config() const { return golden["config"]; }
  std::string model_type() const { return config()["model_type"]; }
};

// gtest prints a parameter by it.
inline void PrintTo(const EncoderCase& one, std::ostream* out) { *out << one.name; }

const std::vector<EncoderCase>& EncoderCases();

weights::EncoderSpec SpecOf(const EncoderCase& one);

// The values that the formula gives this name.
tensor::Tensor FormulaTensor(std::string_view name, const tensor::Shape& shape, tensor::DType type);

// The encoder with the formula's weights, leaves of this type. No dropout rate: the case's own.
std::unique_ptr<Encoder> EncoderOf(const EncoderCase& one, tensor::DType type,
                                   const std::optional<double>& dropout = {});

// The ids of its texts.
std::vector<std::vector<int32_t>> TextsOf(const EncoderCase& one);
tensor::PackedTokens PackTexts(const std::vector<std::vector<int32_t>>& texts);

// Token rows [T, H], packed for both passes.
tensor::Tensor TokenRows(Encoder* encoder, const tensor::PackedTokens& tokens,
                         const ForwardOptions& options = {});
// Their means [B, H] in double.
tensor::Tensor PooledRows(const tensor::Tensor& rows, const tensor::PackedTokens& tokens);

}  // namespace tandem::model
