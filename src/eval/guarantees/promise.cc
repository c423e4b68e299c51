#include "eval/guarantees/promise.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/error.h"

namespace tandem::eval {
namespace {

constexpr const char* kPromiseForms =
    "expected recall=SHARE, precision=SHARE, precision=SHARE@CONFIDENCE or no-answer=SHARE, such "
    "as "
    "recall=0.9";

[[noreturn]] void FailPromise(std::string_view text, std::string_view why) {
  throw UsageError(fmt::format("guarantee {}: {}", text, why));
}

double PromisedNumber(std::string_view text, std::string_view part, std::string_view what) {
  double number = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
  if (error != std::errc() || end != part.data() + part.size() || part.empty()) {
    FailPromise(text, fmt::format("{} is no number; {}", part.empty() ? "what follows =" : part,
                                  kPromiseForms));
  }
  if (!(number > 0 && number < 1)) {
    const bool everything = number == 1;
    FailPromise(text, everything ? fmt::format("{} of 1 (100 %) cannot be shown by any number of "
                                               "queries; expected a share below 1, such as 0.99",
                                               what)
                                 : fmt::format("{} is {}; expected a share above 0 and below 1",
                                               what, number));
  }
  if (number < kNearestShare || 1 - number < kNearestShare) {
    FailPromise(text, fmt::format("{} of {} is within {:.0e} of {}, where the rounding of sums "
                                  "decides; expected a share farther from it",
                                  what, part, kNearestShare, number < kNearestShare ? 0 : 1));
  }
  return number;
}

double PromisedConfidence(std::string_view text, std::string_view part) {
  const double confidence = PromisedNumber(text, part, "a confidence");
  if (confidence < kLeastConfidence) {
    FailPromise(text, fmt::format("a confidence of {} is of a promise that may be broken more "
                                  "often than it is kept; expected {} or more, such as {}",
                                  part, kLeastConfidence, kDefaultConfidence));
  }
  return confidence;
}

std::string Percent(double share) { return fmt::format("{:.6g} %", std::round(share * 1e8) / 1e6); }

}  // namespace

double Promise::risk() const {
  constexpr double kDigits = 1e12;
  return kind == PromiseKind::kNoAnswer ? level : std::round((1 - level) * kDigits) / kDigits;
}

std::string Promise::Name() const {
  switch (kind) {
    case PromiseKind::kRecall:
      return fmt::format("recall={}", level);
    case PromiseKind::kPrecision:
      return fmt::format("precision={}@{}", level, confidence);
    case PromiseKind::kNoAnswer:
      break;
  }
  return fmt::format("no-answer={}", level);
}

std::string Promise::Sentence() const {
  switch (kind) {
    case PromiseKind::kRecall:
      return fmt::format("answers keep at least {} of what is relevant, on average over queries",
                         Percent(level));
    case PromiseKind::kPrecision:
      return fmt::format(
          "at most {} of what a query is shown is wrong, on average over queries, with {} "
          "confidence",
          Percent(risk()), Percent(confidence));
    case PromiseKind::kNoAnswer:
      break;
  }
  return fmt::format("of queries that have no answer at most {} get one", Percent(level));
}

Promise ParsePromise(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) FailPromise(text, kPromiseForms);
  const std::string_view name = text.substr(0, equals);
  std::string_view value = text.substr(equals + 1);
  Promise promise;
  if (name == "precision") {
    promise.kind = PromiseKind::kPrecision;
    promise.confidence = kDefaultConfidence;
    if (const size_t at = value.find('@'); at != std::string_view::npos) {
      promise.confidence = PromisedConfidence(text, value.substr(at + 1));
      value = value.substr(0, at);
    }
  } else if (name == "no-answer") {
    promise.kind = PromiseKind::kNoAnswer;
  } else if (name != "recall") {
    FailPromise(text, fmt::format("there is no promise of {}; {}", name, kPromiseForms));
  }
  if (value.find('@') != std::string_view::npos) {
    FailPromise(text, "it holds on average and has no confidence; only precision has one");
  }
  promise.level = PromisedNumber(text, value, "a promise");
  return promise;
}

std::vector<Promise> ParsePromises(std::string_view text) {
  std::vector<Promise> promises;
  for (size_t comma = text.find(','); comma != std::string_view::npos; comma = text.find(',')) {
    promises.push_back(ParsePromise(text.substr(0, comma)));
    text.remove_prefix(comma + 1);
  }
  promises.push_back(ParsePromise(text));
  return promises;
}

size_t FewestQueries(const Promise& promise) {
  const double risk = promise.risk();
  // Rounding must not ask for one query more.
  constexpr double kRounding = 1e-9;
  const double fewest = promise.kind == PromiseKind::kPrecision
                            ? std::log(1 - promise.confidence) / std::log1p(-risk)
                            : 1 / risk - 1;
  return static_cast<size_t>(std::max(1.0, std::ceil(fewest - kRounding)));
}

}  // namespace tandem::eval
