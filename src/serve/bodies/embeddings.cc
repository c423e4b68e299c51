#include "serve/bodies/embeddings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "serve/bodies/api_error.h"
#include "serve/bodies/json_request.h"
#include "serve/bodies/json_writer.h"

namespace tandem::serve {
namespace {

constexpr size_t kMaxDimensions = 65536;
// Rows of models that end in Normalize are this near to length 1 in bf16, too.
constexpr double kUnitLength = 0.01;
// An answer with embeddings takes about this: what stands around a row, and one number.
constexpr size_t kRowFrameBytes = 64;
constexpr size_t kBase64Bytes = 6;
constexpr size_t kNumberBytes = 14;  // "-0.0123456789,"

void CheckModel(const std::string& model, const std::string& served) {
  if (!model.empty() && model != served) {
    throw ApiError(
        404, "model_not_found",
        fmt::format("there is no model {}; this server has {}", model.substr(0, 100), served));
  }
}

}  // namespace

void EmbeddingsRequest::Parse(std::string* body, const Backend& backend,
                              const RequestLimits& limits, RequestTexts* texts) {
  std::vector<std::string> input;
  TextKind kind = TextKind::kDocument;
  std::string model;
  const auto texts_member = members_.openai ? OpenAiInputMember : TextsMember;
  ReadMembers(body,
              {texts_member(members_.texts, limits.texts, &input), KindMember("input_type", &kind),
               FormatMember("encoding_format", &base64_),
               IntegerMember("dimensions", {1, kMaxDimensions}, &dimensions_),
               StringMember("model", &model)},
              members_.openai ? OtherMembers::kPassedOver : OtherMembers::kRefused);
  if (input.empty()) throw MissingMember(fmt::format("`{}` is missing", members_.texts));
  CheckModel(model, backend.info().model);
  const size_t width = backend.info().width;
  if (dimensions_ > width) {
    throw ApiError(400, "out_of_range",
                   fmt::format("`dimensions` is {}, but embeddings have {}", dimensions_, width));
  }
  texts->Add(std::move(input), kind);
}

size_t EmbeddingsRequest::AnswerBytes(size_t texts, size_t width) const {
  const size_t numbers = dimensions_ > 0 ? std::min(dimensions_, width) : width;
  return texts * (kRowFrameBytes + numbers * (base64_ ? kBase64Bytes : kNumberBytes));
}

void EmbeddingsRequest::AppendEmbedding(std::string* out, std::span<const float> row) const {
  std::vector<float> cut;
  if (dimensions_ != 0 && dimensions_ < row.size()) {
    cut = CutRow(row, dimensions_);
    row = cut;
  }
  if (base64_) {
    AppendBase64Floats(out, row);
  } else {
    AppendJsonFloats(out, row);
  }
}

std::vector<float> CutRow(std::span<const float> row, size_t dimensions) {
  std::vector<float> cut(row.begin(), row.end());
  if (dimensions == 0 || dimensions >= row.size()) return cut;
  const bool unit = std::abs(Length(row) - 1) < kUnitLength;
  cut.resize(dimensions);
  const double length = Length(cut);
  if (unit && length > 0) {
    for (float& value : cut) value = static_cast<float>(value / length);
  }
  return cut;
}

}  // namespace tandem::serve
