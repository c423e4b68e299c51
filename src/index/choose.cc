#include "index/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "base/byte_size.h"
#include "base/error.h"

namespace tandem::index {
namespace {

// The rates, in bytes a second, at which one thread that does little else reads from memory, and at
// which a disk of today serves scattered reads.
constexpr double kMemoryRate = 10e9;
constexpr double kDiskRate = 200e6;

// Among kinds that are quicker than this the first is taken: exact, and with no files of its own.
constexpr double kNobodyWaits = 1e-3;

constexpr double kLeastShown = 0.5e-4;  // seconds; less would be shown as 0.0 ms

struct Candidate {
  const IndexKindInfo* kind = nullptr;
  config::Params params;
  KindCost cost;
  double seconds = 0;  // a query
};

std::string Bytes(double bytes) { return FormatByteSize(static_cast<uint64_t>(bytes)); }

// "1.2 s", "35 ms", "0.4 ms"
std::string Seconds(double seconds) {
  if (seconds >= 1) return fmt::format("{:.1f} s", seconds);
  if (seconds < kLeastShown) return "less than 0.1 ms";
  return seconds >= 0.01 ? fmt::format("{:.0f} ms", 1e3 * seconds)
                         : fmt::format("{:.1f} ms", 1e3 * seconds);
}

double QuerySeconds(const IndexKindInfo& kind, const KindCost& cost, double memory) {
  if (kind.exact) return cost.resident_bytes / kMemoryRate;
  // The pages of files that memory has no room for come from the disk.
  const double paged = cost.disk_bytes;
  const double missing = paged > memory ? 1 - memory / paged : 0;
  return cost.query_seconds + missing * cost.query_bytes / kDiskRate;
}

Candidate MakeCandidate(const IndexKindInfo& kind, const ChoiceRequest& request) {
  Candidate candidate{.kind = &kind, .params = config::Params(kind.params)};
  if (kind.suited) candidate.params = kind.suited(request.rows, request.width, request.recall);
  // Out of the parameter's range, the recall is out of the kind's reach.
  if (candidate.params.Knows("recall")) candidate.params.Set("recall", request.recall);
  candidate.cost = kind.cost(request.rows, request.width, candidate.params);
  candidate.seconds = QuerySeconds(kind, candidate.cost, static_cast<double>(request.memory));
  return candidate;
}

bool Fits(const Candidate& candidate, const ChoiceRequest& request) {
  return candidate.cost.resident_bytes <= static_cast<double>(request.memory);
}

bool Reaches(const Candidate& candidate, const ChoiceRequest& request) {
  return candidate.cost.best_recall >= request.recall;
}

// "ivf_pq (lists=4000, code_bytes=48)"
std::string Named(const Candidate& candidate) {
  std::string parameters;
  const auto infos = candidate.params.infos();
  for (size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].name == "recall") continue;
    parameters += fmt::format("{}{}={}", parameters.empty() ? "" : ", ", infos[i].name,
                              config::FormatValue(candidate.params.value(i)));
  }
  return std::string(candidate.kind->name) +
         (parameters.empty() ? "" : fmt::format(" ({})", parameters));
}

// Why the kinds that would be quicker, or find more, were not taken.
std::string Because(const Candidate& chosen, std::span<const Candidate> all,
                    const ChoiceRequest& request) {
  std::string reasons;
  const auto add = [&](const std::string& reason) {
    reasons += (reasons.empty() ? "" : ", ") + reason;
  };
  for (const Candidate& other : all) {
    if (&other == &chosen) continue;
    if (!Fits(other, request)) {
      if (other.seconds < chosen.seconds || other.kind->exact) {
        add(fmt::format("{} takes {}", other.kind->name, Bytes(other.cost.resident_bytes)));
      }
    } else if (!Reaches(other, request)) {
      add(fmt::format("{} finds {:.3f} at most", other.kind->name, other.cost.best_recall));
    } else if (other.kind->exact && !chosen.kind->exact) {
      add(fmt::format("{} would read {} of vectors for each query ({})", other.kind->name,
                      Bytes(other.cost.resident_bytes), Seconds(other.seconds)));
    }
  }
  return reasons;
}

std::string Sentence(const Candidate& chosen, std::span<const Candidate> all,
                     const ChoiceRequest& request) {
  std::string sentence = fmt::format(
      "{} is the kind of index for {} documents: a search holds {} in memory (--memory allows {}) "
      "and takes {}{} a query on one thread",
      Named(chosen), request.rows, Bytes(chosen.cost.resident_bytes),
      FormatByteSize(request.memory), chosen.seconds < kLeastShown ? "" : "about ",
      Seconds(chosen.seconds));
  if (!chosen.kind->exact) {
    sentence += fmt::format(", {} on disk, with the effort that recall {} is measured to take",
                            Bytes(chosen.cost.disk_bytes), request.recall);
  }
  const std::string because = Because(chosen, all, request);
  return because.empty() ? sentence : sentence + "; " + because;
}

[[noreturn]] void ThrowNoneFits(std::span<const Candidate> all, const ChoiceRequest& request) {
  std::string can;
  for (const Candidate& candidate : all) {
    can +=
        fmt::format("{}{} {} in {}", can.empty() ? "" : ", ", candidate.kind->name,
                    candidate.kind->exact ? "finds all"
                                          : fmt::format("up to {:.3f}", candidate.cost.best_recall),
                    Bytes(candidate.cost.resident_bytes));
  }
  throw UsageError(fmt::format(
      "no kind of index finds {} of the best 10 of {} documents with {} numbers each in {} of "
      "memory; what can be had: {}",
      request.recall, request.rows, request.width, FormatByteSize(request.memory), can));
}

}  // namespace

Choice Choose(const ChoiceRequest& request, std::span<const IndexKindInfo* const> kinds) {
  std::vector<Candidate> all;
  for (const IndexKindInfo* kind : kinds) all.push_back(MakeCandidate(*kind, request));
  const Candidate* best = nullptr;
  // 0: exact and fast enough, by the memory that it takes; 1: approximate, by time; 2: exact.
  const auto rank = [&](const Candidate& candidate) {
    if (!candidate.kind->exact) return 1;
    return 1e3 * candidate.seconds <= request.query_ms ? 0 : 2;
  };
  for (const Candidate& candidate : all) {
    if (!Fits(candidate, request) || !Reaches(candidate, request)) continue;
    if (!best || rank(candidate) < rank(*best) ||
        (rank(candidate) == rank(*best) && candidate.seconds < best->seconds &&
         best->seconds > kNobodyWaits)) {
      best = &candidate;
    }
  }
  if (!best) ThrowNoneFits(all, request);
  return {.kind = best->kind, .params = best->params, .sentence = Sentence(*best, all, request)};
}

}  // namespace tandem::index
