#include "model/encoders/encoder_cases.h"

#include <algorithm>
#include <span>

#include "base/files/files.h"
#include "base/json/json_reader.h"
#include "model/encoders/formula_weights.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
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

tensor::Tensor FormulaTensor(std::string_view name, const tensor::Shape& shape,
                             tensor::DType type) {
  std::vector<float> values = FormulaValues(name, weights::Shape(shape.begin(), shape.end()));
  return tensor::FromBlob(values.data(), shape, tensor::kFloat).clone().to(type);
}

std::unique_ptr<Encoder> EncoderOf(const EncoderCase& one, tensor::DType type,
                                   const std::optional<double>& dropout) {
  const weights::EncoderSpec spec = SpecOf(one);
  return MakeTransformer(spec, dropout, [&](std::string_view name) {
    const auto found = std::find_if(spec.tensors.begin(), spec.tensors.end(),
                                    [&](const auto& tensor) { return tensor.name == name; });
    return FormulaTensor(name, found->shape, type).set_requires_grad(true);
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

tensor::Tensor TokenRows(Encoder* encoder, const tensor::PackedTokens& tokens,
                         const ForwardOptions& options) {
  const bool forward_only = options.precision == tensor::Precision::kInt8;
  encoder->Prepare(options.precision,
                   forward_only ? tensor::Passes::kForward : tensor::Passes::kBoth);
  return encoder->Forward(tokens, options);
}

tensor::Tensor PooledRows(const tensor::Tensor& rows, const tensor::PackedTokens& tokens) {
  return tensor::Pool(rows, tokens, tensor::Pooling::kMean).to(tensor::kDouble);
}

}  // namespace tandem::model
