#include "report/verdict/roc_dominance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tandem::report {
namespace {

// Differences of rates below this are rounding of the numbers in files.
constexpr double kRounding = 1e-12;

// The height of a curve at x, coming from the left or going on to the right of it: where the curve
// stands upright these are the lower and the upper end.
struct Heights {
  double left = 0;
  double right = 0;
};

Heights HeightsAt(std::span<const Point> curve, double x) {
  const auto before = [](const Point& point, double at) { return point[0] < at; };
  const auto begin = std::lower_bound(curve.begin(), curve.end(), x, before);
  const auto end = std::find_if(begin, curve.end(), [x](const Point& p) { return p[0] > x; });
  if (begin != end) return {(*begin)[1], (*std::prev(end))[1]};
  // Curves begin at (0, 0) and end at (1, 1).
  const Point low = begin == curve.begin() ? Point{0, 0} : *std::prev(begin);
  const Point high = begin == curve.end() ? Point{1, 1} : *begin;
  const double share = high[0] > low[0] ? (x - low[0]) / (high[0] - low[0]) : 0;
  const double y = low[1] + share * (high[1] - low[1]);
  return {y, y};
}

Higher HigherOf(double difference) {
  if (std::abs(difference) <= kRounding) return Higher::kNeither;
  return difference > 0 ? Higher::kFirst : Higher::kSecond;
}

class Parts {
 public:
  void Add(double from, double to, Higher higher) {
    if (to <= from) return;
    if (!parts_.empty() && parts_.back().higher == higher) {
      parts_.back().to = to;
    } else {
      parts_.push_back({from, to, higher});
    }
  }
  // The difference goes from `left` to `right` in a straight line.
  void AddLine(double from, double to, double left, double right) {
    const Higher begin = HigherOf(left), end = HigherOf(right);
    if (begin == end || end == Higher::kNeither) {
      Add(from, to, begin);
    } else if (begin == Higher::kNeither) {
      Add(from, to, end);
    } else {
      const double crossing = from + (to - from) * left / (left - right);
      Add(from, crossing, begin);
      Add(crossing, to, end);
    }
  }
  std::vector<RocPart> Take() { return std::move(parts_); }

 private:
  std::vector<RocPart> parts_;
};

// Two digits of the rate; of one just below 1 two of what it lacks, since 0.99975 is not 1.
std::string RateText(double rate) {
  std::string text = fmt::format("{:.2g}", rate);
  if (text != "1" || rate >= 1) return text;
  return fmt::format("{:.{}f}", rate, static_cast<int>(std::ceil(-std::log10(1 - rate))) + 1);
}

std::string VerbOf(Higher higher) {
  switch (higher) {
    case Higher::kFirst:
      return "above";
    case Higher::kSecond:
      return "below";
    case Higher::kNeither:
      return "level";
  }
  return "";
}

// "above", "below", or "level with": what stands before the second name.
std::string BesideName(Higher higher, const std::string& name) {
  return VerbOf(higher) + (higher == Higher::kNeither ? " with " : " ") + name;
}

// Takes off a level end where both curves have found all positives, which says nothing of them, and
// returns where it begins.
std::optional<double> TakeOffTheTop(std::span<const Point> first, std::vector<RocPart>& parts) {
  if (parts.size() < 2 || parts.back().higher != Higher::kNeither) return std::nullopt;
  const double from = parts.back().from;
  if (HeightsAt(first, from).right < 1 - kRounding) return std::nullopt;
  parts.pop_back();
  return from;
}

// How a sentence ends that has said from where on something is so.
std::string EndText(const std::optional<double>& top) {
  return top ? fmt::format("to {}, where both have found all positives.", RateText(*top)) : "on.";
}

std::string Whole(const std::string& first, const std::string& second, const RocPart& part,
                  const std::optional<double>& top) {
  const Higher higher = part.higher;
  if (higher == Higher::kNeither) {
    return fmt::format("{} and {} have the same curve from a false-positive rate of {} {}", first,
                       second, RateText(part.from), EndText(top));
  }
  const bool is_first = higher == Higher::kFirst;
  return fmt::format("{} lies above {} everywhere from a false-positive rate of {} {}",
                     is_first ? first : second, is_first ? second : first, RateText(part.from),
                     EndText(top));
}

// The parts one after the other; of many the first two and the last one.
std::string Crossing(const std::string& first, const std::string& second,
                     const std::vector<RocPart>& parts, const std::optional<double>& top) {
  constexpr size_t kMostTold = 4;
  std::string text = fmt::format("{} lies {} up to a false-positive rate of {}", first,
                                 BesideName(parts[0].higher, second), RateText(parts[0].to));
  const bool many = parts.size() > kMostTold;
  for (size_t i = 1; i + 1 < parts.size(); ++i) {
    if (many && i > 1) continue;
    text += fmt::format(", {} up to {}", VerbOf(parts[i].higher), RateText(parts[i].to));
  }
  if (many) text += fmt::format(", then changes {} more times", parts.size() - 3);
  const RocPart& last = parts.back();
  return text + fmt::format(", and {} from {} {}", VerbOf(last.higher),
                            many ? RateText(last.from) : "there", EndText(top));
}

}  // namespace

std::vector<RocPart> CompareRoc(std::span<const Point> first, std::span<const Point> second,
                                double from) {
  if (first.empty() || second.empty()) return {};
  std::set<double> rates = {from, 1.0};
  for (const std::span<const Point> curve : {first, second}) {
    for (const Point& point : curve) {
      if (point[0] > from && point[0] < 1) rates.insert(point[0]);
    }
  }
  Parts parts;
  for (auto rate = rates.begin(); std::next(rate) != rates.end(); ++rate) {
    const double next = *std::next(rate);
    parts.AddLine(*rate, next, HeightsAt(first, *rate).right - HeightsAt(second, *rate).right,
                  HeightsAt(first, next).left - HeightsAt(second, next).left);
  }
  return parts.Take();
}

double LowestRate(const RocFacts& first, const RocFacts& second) {
  const auto step = [](const RocFacts& roc) {
    return roc.negatives > 0 ? 1 / static_cast<double>(roc.negatives) : 1.0;
  };
  return std::max(step(first), step(second));
}

std::optional<std::string> RocSentence(const std::string& first_name, const RocFacts& first,
                                       const std::string& second_name, const RocFacts& second) {
  const double from = LowestRate(first, second);
  std::vector<RocPart> parts = CompareRoc(first.points, second.points, from);
  if (parts.empty()) return std::nullopt;
  const std::optional<double> top = TakeOffTheTop(first.points, parts);
  return parts.size() == 1 ? Whole(first_name, second_name, parts[0], top)
                           : Crossing(first_name, second_name, parts, top);
}

}  // namespace tandem::report
