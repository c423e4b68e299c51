#include "report/verdict/recommendation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/tables/numbers.h"

namespace tandem::report {
namespace {

bool IsLower(const Contender& a, const Contender& b) { return a.value < b.value; }

bool SeenBetter(const Contender& one) { return one.seen && one.value > one.baseline; }

// "its ndcg@10 is 0.8400, that of old 0.7930, on 20 queries of data/mine, split test".
std::string ValuesText(const Contest& contest, double own, std::string_view other, double value,
                       size_t queries) {
  return fmt::format("its {} is {}, that of {} {}, on {} {} of {}", contest.measure, Fixed(own),
                     other, Fixed(value), queries, queries == 1 ? "query" : "queries",
                     contest.data);
}

// Two digits say as much as an estimate from few queries knows: 1,234 is 1,300.
size_t RoundedUp(size_t queries) {
  size_t unit = 1;
  while (queries / unit >= 100) unit *= 10;
  return (queries + unit - 1) / unit * unit;
}

std::string NeededText(const Contender& one) {
  if (!one.queries_needed) return "";
  return fmt::format("; about {} queries would probably show a difference of this size",
                     RoundedUp(std::max(*one.queries_needed, one.queries + 1)));
}

std::string Adjusted(const Contest& contest) {
  return contest.contenders.size() > 1 ? " after Holm's correction" : "";
}

// Says what is against the baseline where nobody is seen to be better.
std::string AgainstNone(const Contest& contest, const Contender& highest) {
  const std::string chance = PText(highest.p) + Adjusted(contest);
  if (highest.seen) {
    return fmt::format(", and such a difference is hardly chance ({})", chance);
  }
  if (highest.value == highest.baseline) {
    return ", so that nothing speaks for a change";
  }
  return fmt::format(", and such a difference may be chance ({}){}{}", chance,
                     highest.doubt.empty() ? "" : "; " + highest.doubt, NeededText(highest));
}

// Where the baseline is nearly as good as the measure can be, no gain can be seen.
std::string CeilingText(const Contest& contest) {
  if (!contest.room) return "";
  const std::string text = RoomText(*contest.room, contest.measure, contest.baseline,
                                    contest.level / static_cast<double>(contest.contenders.size()));
  return text.empty() ? "" : "; " + text;
}

std::string CautionText(const Contest& contest) {
  return contest.caution.empty() ? "" : "; " + contest.caution;
}

Recommendation RecommendationOf(std::string_view verb, const std::string& name,
                                const std::string& reason) {
  const std::string action = fmt::format("{} {}", verb, name);
  return {.use = name,
          .action = action,
          .reason = reason + ".",
          .sentence = fmt::format("{}: {}.", action, reason)};
}

Recommendation KeepBaseline(const Contest& contest) {
  const Contender& highest =
      *std::max_element(contest.contenders.begin(), contest.contenders.end(), IsLower);
  const bool one = contest.contenders.size() == 1;
  const std::string of_several =
      one ? ""
          : fmt::format("none of the {} others is seen to be better; ", contest.contenders.size());
  const std::string reason =
      of_several +
      ValuesText(contest, highest.baseline,
                 (one ? "" : "the highest, ") + highest.name + (one ? "" : ","), highest.value,
                 highest.queries) +
      AgainstNone(contest, highest) + (highest.seen ? "" : CeilingText(contest)) +
      CautionText(contest);
  Recommendation keep = RecommendationOf("Keep", contest.baseline, reason);
  keep.seen = highest.seen;
  if (!keep.seen) keep.queries_needed = highest.queries_needed;
  return keep;
}

}  // namespace

Room RoomAbove(std::span<const double> values) {
  const auto below =
      std::count_if(values.begin(), values.end(), [](double value) { return value < 1; });
  return {.queries = values.size(), .below = static_cast<size_t>(below)};
}

std::string RoomText(const Room& room, const std::string& measure, const std::string& baseline,
                     double level) {
  size_t needed = 1;
  while (std::ldexp(2.0, -static_cast<int>(needed)) >= level) ++needed;
  if (room.queries == 0) return "";  // a measure of all queries together
  if (room.below >= 2 * needed || 2 * room.below > room.queries) return "";
  const std::string full = fmt::format("{}{} is 1 for {} of {} queries", measure,
                                       baseline.empty() ? "" : " of " + baseline,
                                       room.queries - room.below, room.queries);
  if (room.below < needed) {
    return fmt::format(
        "{}, so that these queries cannot show a gain, whatever the model; harder "
        "questions, or more of them, can",
        full);
  }
  const std::string risen = needed == room.below ? fmt::format("all {}", needed)
                                                 : fmt::format("{} of the {}", needed, room.below);
  return fmt::format(
      "{}, so that a gain is seen only where {} others rise and none falls; harder questions, or "
      "more of them, show one sooner",
      full, risen);
}

std::string TooFewDiffer(size_t queries) {
  const std::string which = queries == 1 ? "the value of one query differs"
                                         : fmt::format("the values of {} queries differ", queries);
  return which + ", too few for anything to be seen";
}

std::string PText(double p) {
  const std::string text = PValue(p);
  return text.starts_with("<") ? "p " + text : "p = " + text;
}

Recommendation Recommend(const Contest& contest) {
  const Contender* best = nullptr;
  size_t better = 0;
  for (const Contender& one : contest.contenders) {
    if (!SeenBetter(one)) continue;
    ++better;
    if (best == nullptr || IsLower(*best, one)) best = &one;
  }
  if (best == nullptr) return KeepBaseline(contest);
  const std::string others =
      better == 1 ? ""
                  : fmt::format(
                        "; {} seen to be better than {} too, and no test says which of them "
                        "is best",
                        better == 2 ? "another one is" : fmt::format("{} others are", better - 1),
                        contest.baseline);
  Recommendation found = RecommendationOf(
      contest.models ? "Serve" : "Use", best->name,
      fmt::format("{}, and such a difference is hardly chance ({}{}){}{}",
                  ValuesText(contest, best->value, contest.baseline, best->baseline, best->queries),
                  PText(best->p), Adjusted(contest), others, CautionText(contest)));
  found.seen = true;
  found.contender = static_cast<size_t>(best - contest.contenders.data());
  return found;
}

Json RecommendationJson(const Contest& contest, const Recommendation& recommendation) {
  Json json = {{"use", recommendation.use},
               {"measure", contest.measure},
               {"seen", recommendation.seen},
               {"queries_needed", nullptr},
               {"sentence", recommendation.sentence}};
  if (recommendation.queries_needed) json["queries_needed"] = *recommendation.queries_needed;
  return json;
}

}  // namespace tandem::report
