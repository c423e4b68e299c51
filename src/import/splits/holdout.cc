#include "import/splits/holdout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "base/hashes/text_hash.h"
#include "base/random.h"
#include "data/lines/line_rules.h"
#include "import/splits/near_copies.h"

namespace tandem::import_data {
namespace {

constexpr size_t kTextsBetweenLooks = 1024;  // at the signal

// Sets of queries that were joined, each known by one of its queries.
class Families {
 public:
  explicit Families(size_t queries) : parents_(queries) {
    std::iota(parents_.begin(), parents_.end(), uint32_t{0});
  }
  uint32_t Find(uint32_t query) {
    while (parents_[query] != query) {
      parents_[query] = parents_[parents_[query]];
      query = parents_[query];
    }
    return query;
  }
  // False where they were one already.
  bool Join(uint32_t a, uint32_t b) {
    a = Find(a);
    b = Find(b);
    if (a == b) return false;
    parents_[std::max(a, b)] = std::min(a, b);
    return true;
  }

 private:
  std::vector<uint32_t> parents_;
};

struct Family {
  uint32_t root = 0;
  size_t queries = 0;  // with a positive
  uint64_t key = ~uint64_t{0};
  double place = 0;  // random
};

// Joins queries for which a pair gives the same key.
template <typename Key>
void JoinByKey(std::span<const std::pair<uint32_t, Key>> pairs, Families& families) {
  std::unordered_map<Key, uint32_t> first;
  for (const auto& [query, key] : pairs) {
    const auto [place, is_new] = first.try_emplace(key, query);
    if (!is_new) families.Join(place->second, query);
  }
}

std::vector<Family> FamiliesOf(const HoldoutInput& input, const HoldoutOptions& options,
                               Families& families) {
  const size_t count = input.queries.size();
  std::vector<bool> has_positive(count);
  for (const auto& [query, document] : input.positives) has_positive[query] = true;
  std::unordered_map<uint32_t, size_t> places;
  std::vector<Family> all;
  for (uint32_t query = 0; query < count; ++query) {
    const auto [place, is_new] = places.try_emplace(families.Find(query), all.size());
    if (is_new) all.push_back({.root = place->first});
    Family& family = all[place->second];
    family.queries += has_positive[query] ? 1 : 0;
    family.key = std::min(family.key, TextHash(input.queries.text(query)));
  }
  for (Family& family : all) {
    family.place =
        RandomStream({.seed = options.seed, .purpose = "holdout", .epoch = family.key}).Uniform();
  }
  std::sort(all.begin(), all.end(), [](const Family& a, const Family& b) {
    return a.place != b.place ? a.place < b.place : a.key < b.key;
  });
  return all;
}

[[noreturn]] void ThrowTooLarge(const Holdout& holdout, const HoldoutOptions& options,
                                size_t wanted) {
  const size_t all = holdout.test + holdout.dev + holdout.train;
  throw UsageError(fmt::format(
      "of {} queries only {} can be held out, {} are asked for: {} of them hang together by {}"
      "near-copies and groups, and stay in one split; {}--holdout with a smaller share, or "
      "--holdout 0",
      all, holdout.test + holdout.dev, wanted, holdout.largest_family,
      options.by_documents ? "the documents that they share, " : "",
      options.by_documents ? "--split-by queries lets a document be the answer to queries of "
                             "several splits (the test then measures new queries on documents "
                             "that training has seen); else "
                           : ""));
}

}  // namespace

std::string_view SplitName(Split split) {
  switch (split) {
    case Split::kDev:
      return "dev";
    case Split::kTest:
      return "test";
    case Split::kTrain:
      break;
  }
  return "train";
}

Holdout HoldOut(const HoldoutInput& input, const HoldoutOptions& options) {
  const size_t count = input.queries.size();
  Families families(count);
  Holdout holdout;
  size_t asked = 0;
  JoinNearCopies(
      count,
      [&](size_t i) {
        if (asked++ % kTextsBetweenLooks == 0) {
          if (const int signal = StopSignal(options.stop)) {
            throw Interrupted(signal, "stopped while splits were made; nothing was written");
          }
        }
        return input.queries.text(i);
      },
      [&](size_t a, size_t b) {
        if (families.Join(static_cast<uint32_t>(a), static_cast<uint32_t>(b))) {
          ++holdout.joined_near_copies;
        }
      });
  JoinByKey(input.groups, families);
  if (options.by_documents) JoinByKey(input.positives, families);
  const std::vector<Family> all = FamiliesOf(input, options, families);

  size_t queries = 0;
  for (const Family& family : all) {
    queries += family.queries;
    if (family.queries > 0) ++holdout.families;
    holdout.largest_family = std::max(holdout.largest_family, family.queries);
  }
  constexpr size_t kFewest = 4;
  if (queries < kFewest) {
    throw UsageError(
        fmt::format("{} queries with a positive are too few to hold some out; "
                    "--holdout 0 puts all into train",
                    queries));
  }
  const auto half = static_cast<size_t>(
      std::max(1.0, std::round(options.share * static_cast<double>(queries) / 2)));
  std::unordered_map<uint32_t, Split> of_family;
  for (const Family& family : all) {
    Split split = Split::kTrain;
    if (family.queries > 0 && holdout.test + family.queries <= half) {
      split = Split::kTest;
      holdout.test += family.queries;
    } else if (family.queries > 0 && holdout.dev + family.queries <= half) {
      split = Split::kDev;
      holdout.dev += family.queries;
    } else {
      holdout.train += family.queries;
    }
    of_family[family.root] = split;
  }
  if (holdout.test < (half + 1) / 2 || holdout.dev < (half + 1) / 2) {
    ThrowTooLarge(holdout, options, 2 * half);
  }
  for (uint32_t query = 0; query < count; ++query) {
    holdout.of_query.push_back(of_family.at(families.Find(query)));
  }
  return holdout;
}

double ParseShare(std::string_view text, std::string_view flag, double most) {
  std::string_view number = text;
  const bool is_percent = number.ends_with('%');
  if (is_percent) number.remove_suffix(1);
  std::optional<double> share = data::NumberOfText(number);
  if (share && is_percent) *share /= 100;
  if (share && *share >= 0 && *share <= most) return *share;
  throw UsageError(fmt::format("{} is \"{}\"; expected a share from 0 to {:g}%, as 15% or 0.15",
                               flag, text, most * 100));
}

}  // namespace tandem::import_data
