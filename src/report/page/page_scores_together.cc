// What several models' scores look like beside each other: whose ROC curve lies higher, and all
// histograms in one figure.
#include <fmt/format.h>

#include <algorithm>

#include "report/page/page_parts.h"
#include "report/verdict/roc_dominance.h"

namespace tandem::report {
namespace {

// Of more models the first is compared with each of the others, and of the others those that come
// first, up to so many in all, with each other: all pairs would be too many to read.
constexpr size_t kMostInPairs = 5;
constexpr size_t kMostHistograms = 6;  // as many models have colours of their own

std::vector<const LabelledEvaluation*> WithRoc(const EvaluationGroup& group) {
  std::vector<const LabelledEvaluation*> with;
  for (const LabelledEvaluation* one : group.evaluations) {
    if (one->record.roc && !one->record.roc->points.empty()) with.push_back(one);
  }
  return with;
}

// The later one is told beside the earlier one, which is what it is compared with.
std::vector<std::string> DominanceSentences(const std::vector<const LabelledEvaluation*>& models) {
  std::vector<std::string> sentences;
  for (size_t i = 0; i < std::min(models.size(), kMostInPairs); ++i) {
    for (size_t j = i + 1; j < (i == 0 ? models.size() : std::min(models.size(), kMostInPairs));
         ++j) {
      const std::optional<std::string> sentence = RocSentence(
          models[j]->label, *models[j]->record.roc, models[i]->label, *models[i]->record.roc);
      if (sentence) sentences.push_back(*sentence);
    }
  }
  return sentences;
}

// Which pairs DominanceSentences leaves out; "" where it has all.
std::string PairsLeftOut(const std::vector<const LabelledEvaluation*>& models) {
  if (models.size() <= kMostInPairs) return "";
  std::string names;
  for (size_t i = kMostInPairs; i < models.size(); ++i) {
    names += (names.empty() ? "" : ", ") + models[i]->label;
  }
  return fmt::format("Compared with {} alone, since all pairs would be too many to read: {}.",
                     models.front()->label, names);
}

// How finely the curves were compared: "201 to 203".
std::string PointsWords(const std::vector<const LabelledEvaluation*>& models) {
  size_t least = models.front()->record.roc->points.size(), most = least;
  for (const LabelledEvaluation* one : models) {
    least = std::min(least, one->record.roc->points.size());
    most = std::max(most, one->record.roc->points.size());
  }
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

double WidthOf(const Histogram& histogram) {
  return (histogram.to - histogram.from) / static_cast<double>(histogram.counts.size());
}

// The outline with shares of bins as wide as `width`: models have bins of their own.
std::vector<Point> OutlineIn(const Histogram& histogram, double width) {
  std::vector<Point> points = HistogramOutline(histogram);
  for (Point& point : points) point[1] *= width / WidthOf(histogram);
  return points;
}

}  // namespace

void AddRocDominance(const EvaluationGroup& group, Page& page) {
  const std::vector<const LabelledEvaluation*> models = WithRoc(group);
  if (models.size() < 2) return;
  page.html().In("ul", [&] {
    for (const std::string& sentence : DominanceSentences(models)) {
      page.html().In("li", [&] { page.html().Foreign(sentence); });
    }
  });
  const std::string left_out = PairsLeftOut(models);
  if (!left_out.empty()) page.html().In("p", [&] { page.html().Foreign(left_out); });
  page.html().Element(
      "p", {{"class", "note"}},
      fmt::format(
          "Exact for the {} points that are kept of each curve, with straight lines between "
          "them. Rates below that of a single non-positive are not compared.",
          PointsWords(models)));
}

std::optional<Figure> ScoresTogether(const EvaluationGroup& group) {
  double width = 0;
  for (const LabelledEvaluation* one : group.evaluations) {
    if (one->record.scores) width = std::max(width, WidthOf(one->record.scores->positives));
  }
  Figure figure = HistogramFigure(
      "scores-together", "Scores of all models",
      "Each query's positives (lines) and highest non-positives (dashed), as shares of each "
      "model's "
      "own: what counts is how far a model's two lines overlap, not where they lie.",
      "score");
  size_t left_out = 0;
  for (size_t i = 0; i < group.evaluations.size(); ++i) {
    const LabelledEvaluation& one = *group.evaluations[i];
    if (!one.record.scores) continue;
    if (figure.series.size() >= 2 * kMostHistograms) {
      ++left_out;
      continue;
    }
    const auto add = [&](const char* what, const Histogram& histogram, bool dashed) {
      figure.series.push_back({.name = fmt::format("{}, {}", one.label, what),
                               .mark = Mark::kSteps,
                               .points = OutlineIn(histogram, width),
                               .dashed = dashed,
                               .colour = group.colours[i],
                               .legend = dashed ? "" : one.label,
                               .thin = true});
    };
    add("positives", one.record.scores->positives, false);
    add("highest non-positives", one.record.scores->hard_negatives, true);
  }
  if (figure.series.size() < 4) return std::nullopt;
  figure.note = fmt::format("Shares are of bins {:.2g} wide.", width);
  if (left_out > 0) figure.note += fmt::format(" {} further models are not here.", left_out);
  return figure;
}

}  // namespace tandem::report
