#include "train/validation/encoding_time.h"

#include <algorithm>
#include <chrono>

#include "tensor/core/parallel.h"
#include "train/seconds_since.h"

namespace tandem::train {
namespace {

constexpr size_t kMostTexts = 256;
// Texts of a thread in a round: of short ones a pass or two, of long ones several.
constexpr size_t kTextsOfThread = 16;

}  // namespace

double EstimateEncoding(model::DualEncoder& model, model::TextKind kind, size_t count,
                        const search::TextSource& text, const search::EncodeOptions& options) {
  if (count == 0) return 0;
  const size_t sample = std::min(count, kMostTexts);
  const size_t wanted = kTextsOfThread * static_cast<size_t>(tensor::ThreadCount());
  const size_t rounds = std::max<size_t>(1, sample / std::min(sample, wanted));
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  size_t done = 0;
  for (size_t round = 0; round < rounds; ++round) {
    // Texts `round`, `round` + `rounds`, ... of the sample, so that each round is spread over all.
    const size_t texts = (sample - round + rounds - 1) / rounds;
    const auto index = [&](size_t i) { return (round + i * rounds) * count / sample; };
    search::EncodeOptions some = options;
    if (options.prompt) some.prompt = [&](size_t i) { return options.prompt(index(i)); };
    search::EncodeTexts(
        model, kind, texts, [&](size_t i) { return text(index(i)); }, some,
        [](size_t, const tensor::Tensor&) {});
    done += texts;
    if (SecondsSince(start) >= kEstimateSeconds) break;
  }
  return SecondsSince(start) * static_cast<double>(count) / static_cast<double>(done);
}

}  // namespace tandem::train
