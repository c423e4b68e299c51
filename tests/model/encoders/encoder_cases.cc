#include "model/encoders/encoder_cases.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/sin.h>

#include <algorithm>
#include <span>

#include "base/files/files.h"
#include "base/json/json_reader.h"
#include "model/encoders/formula_weights.h"
#include "tensor/ops.h"
#include "weights/architecture.h"
#include "weights/settings/settings_file.h"

namespace tandem::model {

const std::vector<EncoderCase>& EncoderCases() {
  static const std::vector<EncoderCase> cases = [] {
    const nlohmann::json read = nlohmann::json::parse(
        ReadFile(std::string(TANDEM_SOURCE_DIR) + "/tests/model/golden/encoders.json"));
    std::vector<EncoderCase> all;
    for (const nlohmann::json& one : read) all.push_back({one["name"], one});
    return all;
  }();
  return cases;
}

weights::EncoderSpec SpecOf(const EncoderCase& one) {
  weights::EncoderSpec spec =
      weights::FindArchitecture(one.model_type())
          ->read(weights::Settings("config.json", ParseJson(one.config().dump())));
  spec.model_type = one.model_type();
  return spec;
}

std::unique_ptr<Encoder> EncoderOf(const EncoderCase& one, at::ScalarType type,
                                   const std::optional<double>& dropout) {
  const weights::EncoderSpec spec = SpecOf(one);
  return MakeTransformer(spec, dropout, [&](std::string_view name) {
    const auto found = std::find_if(spec.tensors.begin(), spec.tensors.end(),
                                    [&](const auto& tensor) { return tensor.name == name; });
    std::vector<float> values = FormulaValues(name, found->shape);
    const std::vector<int64_t> shape(found->shape.begin(), found->shape.end());
    return at::from_blob(values.data(), shape, at::kFloat).clone().to(type).requires_grad_(true);
  });
}

std::vector<std::vector<int32_t>> TextsOf(const EncoderCase& one) {
  std::vector<std::vector<int32_t>> texts;
  for (const int64_t length : one.golden["lengths"]) {
    texts.push_back(FormulaIds(static_cast<int>(texts.size()), length, one.config()["vocab_size"]));
    if (!one.golden.contains("padding")) continue;
    for (size_t i = 1; i < texts.back().size(); i += 3) texts.back()[i] = one.golden["padding"];
  }
  return texts;
}

tensor::PackedTokens PackTexts(const std::vector<std::vector<int32_t>>& texts) {
  const std::vector<std::span<const int32_t>> spans(texts.begin(), texts.end());
  return tensor::Pack(spans);
}

at::Tensor TokenRows(Encoder* encoder, const tensor::PackedTokens& tokens,
                     const ForwardOptions& options) {
  const bool forward_only = options.precision == tensor::Precision::kInt8;
  encoder->Prepare(options.precision,
                   forward_only ? tensor::Passes::kForward : tensor::Passes::kBoth);
  return encoder->Forward(tokens, options);
}

at::Tensor PooledRows(const at::Tensor& rows, const tensor::PackedTokens& tokens) {
  return tensor::Pool(rows, tokens, tensor::Pooling::kMean).to(at::kDouble);
}

at::Tensor LossOf(const at::Tensor& pooled) {
  const at::Tensor weights = at::cos(at::arange(pooled.numel(), at::kDouble)).view(pooled.sizes());
  return (at::sin(pooled) * weights).sum();
}

}  // namespace tandem::model
