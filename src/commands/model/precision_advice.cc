#include "commands/model/precision_advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <cmath>
#include <optional>
#include <vector>

#include "base/log.h"
#include "dist/process_group.h"

namespace tandem::app {
namespace {

// A measurement of some 0.1 s says no more than this.
std::string AboutDuration(double seconds) {
  if (seconds < 10) return fmt::format("about {:.0f} s", std::max(1.0, seconds));
  if (seconds < 90) return fmt::format("about {:.0f} s", std::round(seconds / 5) * 5);
  if (seconds < 90 * 60) return fmt::format("about {:.0f} min", seconds / 60);
  return fmt::format("about {:.1f} h", seconds / 3600);
}

}  // namespace

std::string PrecisionSentence(std::span<const search::PrecisionTime> times, size_t texts,
                              model::TextKind kind) {
  constexpr double kWorthIt = 0.8;
  std::vector<std::string> others, changes;
  for (const search::PrecisionTime& time : times.subspan(1)) {
    if (time.seconds > kWorthIt * times.front().seconds) continue;
    const bool bf16 = time.precision == tensor::Precision::kBf16;
    others.push_back(fmt::format("--precision {} {}", tensor::PrecisionName(time.precision),
                                 AboutDuration(time.seconds)));
    changes.push_back(fmt::format("{}", bf16 ? kBf16NdcgWithin : kInt8NdcgWithin));
  }
  if (others.empty()) return "";
  if (changes.size() == 2 && changes[0] == changes[1]) changes.pop_back();
  return fmt::format(
      "encoding {} {} in fp32 takes {}; {} (all-MiniLM-L6-v2 on five sets: nDCG@10 within {} of "
      "fp32's, docs/performance.md); TANDEM_PRECISION sets it for all commands",
      texts, kind == model::TextKind::kQuery ? "queries" : "documents",
      AboutDuration(times.front().seconds), fmt::join(others, ", "), fmt::join(changes, " and "));
}

std::function<void(const search::EncodingAhead&)> PrecisionAdvice() {
  return [](const search::EncodingAhead& ahead) {
    static std::atomic<bool> said = false;
    if (said || dist::IsShared(ahead.options.group)) return;
    const auto times = search::EstimateTimes(ahead, kAdvisedSeconds);
    if (!times) return;
    const std::string sentence = PrecisionSentence(*times, ahead.count, ahead.kind);
    said = true;
    if (!sentence.empty()) Note(sentence);
  };
}

}  // namespace tandem::app
