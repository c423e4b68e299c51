#include "data/studies/label_study.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/random.h"

namespace tandem::data {
namespace {

// Random documents that are tried for one query; a corpus may hold hardly any that is not judged.
constexpr int kTries = 100;

// Calls `body` for the judged documents of the examples, positives first.
template <typename Body>
void ForEachJudged(TrainingSet& set, std::span<const uint32_t> which, const Body& body) {
  for (const uint32_t e : which) {
    for (auto* list : {&set.examples[e].positives, &set.examples[e].others}) {
      for (Judgement& judgement : *list) {
        if (judgement.grade >= 0) body(judgement);
      }
    }
  }
}

// Says of each judged document, in the order of ForEachJudged, whether it stays.
std::vector<bool> Staying(TrainingSet& set, std::span<const uint32_t> which, double minimum_grade,
                          CutOff cut_off, uint64_t seed) {
  std::vector<bool> staying;
  ForEachJudged(set, which, [&](const Judgement& judgement) {
    staying.push_back(judgement.grade >= minimum_grade);
  });
  if (cut_off == CutOff::kBest) return staying;
  std::vector<uint8_t> shuffled(staying.begin(), staying.end());
  RandomStream({seed, "minimum grade"}).Shuffle(std::span(shuffled));
  return {shuffled.begin(), shuffled.end()};
}

// Moves the judgements of `list` that do not stay to `unused`. `next` is the index in `staying` of
// the list's first judgement; the call advances it past the list's last one.
void Cut(std::vector<Judgement>& list, const std::vector<bool>& staying, size_t& next,
         std::vector<Judgement>& unused) {
  std::vector<Judgement> kept;
  for (const Judgement& judgement : list) {
    const bool stays = judgement.grade < 0 || staying[next++];
    (stays ? kept : unused).push_back(judgement);
  }
  list = std::move(kept);
}

// Returns the places in `others` of the judged negatives.
std::vector<size_t> NegativesOf(const TrainingQuery& example) {
  std::vector<size_t> places;
  for (size_t i = 0; i < example.others.size(); ++i) {
    if (example.others[i].grade == 0) places.push_back(i);
  }
  return places;
}

// Draws a document that nobody judged for the query of `example` and that is no copy of one;
// nothing where none is found.
std::optional<uint32_t> RandomDocument(const TrainingSet& set, const TrainingQuery& example,
                                       RandomStream& stream) {
  std::unordered_set<uint64_t> known;
  for (const auto* list : {&example.positives, &example.others, &example.unused}) {
    for (const Judgement& judgement : *list) known.insert(set.document_hashes[judgement.document]);
  }
  for (int i = 0; i < kTries; ++i) {
    const auto document = static_cast<uint32_t>(stream.Below(set.documents.size()));
    if (!known.contains(set.document_hashes[document])) return document;
  }
  return std::nullopt;
}

}  // namespace

std::vector<uint32_t> CutGrades(TrainingSet& set, std::span<const uint32_t> which,
                                double minimum_grade, CutOff cut_off, uint64_t seed) {
  const std::vector<bool> staying = Staying(set, which, minimum_grade, cut_off, seed);
  size_t next = 0;
  std::vector<uint32_t> left;
  for (const uint32_t e : which) {
    TrainingQuery& example = set.examples[e];
    Cut(example.positives, staying, next, example.unused);
    Cut(example.others, staying, next, example.unused);
    if (HasPairedDocument(example, set.own)) left.push_back(e);
  }
  return left;
}

void Binarize(TrainingSet& set) {
  for (TrainingQuery& query : set.examples) {
    for (auto* list : {&query.positives, &query.others, &query.unused}) {
      for (Judgement& judgement : *list) {
        if (judgement.grade >= 0) judgement.grade = judgement.grade >= set.positive_grade ? 1 : 0;
      }
    }
  }
  set.positive_grade = 1;
}

SwappedLabels SwapLabels(TrainingSet& set, std::span<const uint32_t> which, double probability,
                         uint64_t seed) {
  RandomStream coins({seed, "swap labels"});
  RandomStream negatives({seed, "swap labels, negatives"});
  SwappedLabels result;
  for (const uint32_t e : which) {
    TrainingQuery& example = set.examples[e];
    std::vector<size_t> left = NegativesOf(example);
    result.pairs += example.positives.size();
    result.without_negatives += left.empty();
    result.with_both += !left.empty() && !example.positives.empty();
    const bool has_negative = !left.empty();
    for (Judgement& positive : example.positives) {
      if (coins.Uniform() >= probability) continue;
      if (left.empty()) {
        result.none_left += has_negative ? 1 : 0;
        continue;
      }
      std::swap(left[negatives.Below(left.size())], left.back());
      std::swap(positive.grade, example.others[left.back()].grade);
      left.pop_back();
      ++result.swapped;
    }
    SplitAgain(example, set.positive_grade);
  }
  return result;
}

FlippedLabels FlipLabels(TrainingSet& set, std::span<const uint32_t> which, double probability,
                         uint64_t seed) {
  RandomStream coins({seed, "flip labels"});
  RandomStream documents({seed, "flip labels, documents"});
  FlippedLabels result;
  for (const uint32_t e : which) {
    TrainingQuery& example = set.examples[e];
    std::vector<double> lost;
    ForEachJudged(set, {&e, 1}, [&](Judgement& judgement) {
      ++result.labels;
      if (coins.Uniform() >= probability) return;
      ++result.flipped;
      const double before = judgement.grade;
      judgement.grade = 1 - before;
      const bool positive = before >= set.positive_grade;
      if (positive && judgement.grade < set.positive_grade) lost.push_back(before);
    });
    for (const double grade : lost) {
      const auto document = RandomDocument(set, example, documents);
      if (document) example.others.push_back({.document = *document, .grade = grade});
    }
    SplitAgain(example, set.positive_grade);
  }
  return result;
}

}  // namespace tandem::data
