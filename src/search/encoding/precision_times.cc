#include "search/encoding/precision_times.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"

namespace tandem::search {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kCountedTexts = 256;
// Encoding is measured on so many tokens a thread where the texts have many: a forward pass is then
// as efficient as those of the whole work but for a few percent, and takes some 0.1 s.
constexpr size_t kMeasuredTokens = 1536;
constexpr size_t kMeasuredShare = 200;
// What a thread multiplies and adds in a second at least: processors without AVX2 do, so that a
// guess with it is too long on others, which measure once too often.
constexpr double kLeastRate = 10e9;

// Texts that are spread evenly over all.
class Sample {
 public:
  Sample(const EncodingAhead& ahead, size_t count)
      : ahead_(ahead), count_(std::min(count, ahead.texts)) {}

  size_t size() const { return count_; }
  size_t place(size_t i) const { return i * ahead_.texts / count_; }
  std::string_view text(size_t i) const { return ahead_.text(place(i)); }
  std::string_view prompt(size_t i) const {
    return ahead_.options.prompt ? ahead_.options.prompt(place(i))
                                 : std::string_view(ahead_.model.prompt(ahead_.kind));
  }

  // [size()]: tokens of each text, with its prompt.
  std::vector<size_t> Tokens() const {
    std::vector<std::string> texts;
    for (size_t i = 0; i < count_; ++i) {
      texts.push_back(std::string(prompt(i)).append(text(i)));
    }
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const text::EncodedTexts encoded =
        ahead_.model.tokenizer(ahead_.kind)
            .EncodeAll(views, ahead_.model.max_tokens(ahead_.kind), ahead_.options.threads);
    std::vector<size_t> tokens;
    for (size_t i = 0; i < count_; ++i) tokens.push_back(encoded[i].size());
    return tokens;
  }

 private:
  const EncodingAhead& ahead_;
  size_t count_;
};

// Numbers in matrices that every token is multiplied with. A table of embeddings has many more rows
// than columns, and a token looks at one of them.
double WeightsPerToken(model::DualEncoder& model) {
  constexpr int64_t kRowsOfTable = 8;
  double weights = 0;
  for (const auto& parameter : model.Parameters()) {
    const tensor::Tensor& value = parameter.value;
    if (value.dim() != 2 || value.size(0) > kRowsOfTable * value.size(1)) continue;
    weights += static_cast<double>(value.numel());
  }
  // Two towers have as many again, of which a text meets half.
  return model.shared() ? weights : weights / 2;
}

// The seconds that the sample's texts take in a precision.
double Measure(const EncodingAhead& ahead, const Sample& sample, tensor::Precision precision) {
  EncodeOptions options = ahead.options;
  options.precision = precision;
  options.label.clear();
  options.before = nullptr;
  options.prompt = [&](size_t i) { return sample.prompt(i); };
  const auto encode = [&](size_t count) {
    EncodeTexts(
        ahead.model, ahead.kind, count, [&](size_t i) { return sample.text(i); }, options,
        [](size_t /*first*/, const tensor::Tensor& /*rows*/) {});
  };
  encode(1);  // packs the weights
  const auto start = Clock::now();
  encode(sample.size());
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

std::optional<std::vector<PrecisionTime>> EstimateTimes(const EncodingAhead& ahead,
                                                        double least_seconds) {
  if (ahead.texts == 0 || ahead.count == 0) return std::nullopt;
  size_t counted = 0;
  const std::vector<size_t> lengths = Sample(ahead, kCountedTexts).Tokens();
  for (const size_t length : lengths) counted += length;
  if (counted == 0) return std::nullopt;
  const double per_text = static_cast<double>(counted) / static_cast<double>(lengths.size());
  const double tokens = per_text * static_cast<double>(ahead.count);
  const auto threads = static_cast<double>(std::max(1, tensor::ThreadCount()));
  if (tokens * 2 * WeightsPerToken(ahead.model) < least_seconds * threads * kLeastRate) {
    return std::nullopt;
  }
  const double measured_tokens =
      std::min(static_cast<double>(kMeasuredTokens) * threads, tokens / kMeasuredShare);
  const Sample sample(ahead, std::max<size_t>(1, static_cast<size_t>(measured_tokens / per_text)));
  double tokens_of_sample = 0;
  for (const size_t length : sample.Tokens()) tokens_of_sample += static_cast<double>(length);
  if (tokens_of_sample == 0) return std::nullopt;

  std::vector<PrecisionTime> times;
  const auto measure = [&](tensor::Precision precision) {
    times.push_back({precision, Measure(ahead, sample, precision) * tokens / tokens_of_sample});
  };
  measure(ahead.options.precision);
  if (times.front().seconds < least_seconds) return std::nullopt;
  const tensor::Precision fastest = tensor::ResolvePrecision("auto");
  for (const tensor::Precision other : {tensor::Precision::kBf16, tensor::Precision::kInt8}) {
    const bool is_fast = other == tensor::Precision::kInt8 || other == fastest;
    if (is_fast && other != ahead.options.precision) measure(other);
  }
  ahead.model.Prepare(ahead.kind, ahead.options.precision, tensor::Passes::kForward);
  return times;
}

}  // namespace tandem::search
