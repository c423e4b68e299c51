#include "commands/guarantees/guarantee_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "eval/guarantees/no_answer_guarantee.h"
#include "eval/guarantees/precision_guarantee.h"
#include "eval/guarantees/recall_guarantee.h"

namespace tandem::app {
namespace {

using eval::Promise;
using eval::PromiseKind;
using Rows = std::vector<eval::GuaranteeRow>;

std::string TooFew(const Promise& promise, size_t queries, std::string_view what) {
  return fmt::format("{} {} are too few for {}: at least {} are needed, and more where some fail",
                     queries, what, promise.Name(), eval::FewestQueries(promise));
}

// Says what would do where the lowest score of a positive misses too much already.
std::string WhyNoRecall(const weights::Guarantee& guarantee, const eval::RecallThreshold& chosen) {
  const Promise& promise = guarantee.promise;
  if (chosen.queries < eval::FewestQueries(promise)) {
    return TooFew(promise, chosen.queries, "queries with a positive");
  }
  const double risk = promise.risk();
  const std::string missed = fmt::format(
      "even the lowest threshold misses {:.2f} % of the positives, which {} lacks",
      100 * chosen.mean_loss,
      guarantee.depth == 0
          ? "the search or the corpus"
          : fmt::format("a list of {} (--depth), the search or the corpus", guarantee.depth));
  if (chosen.mean_loss >= risk) {
    return missed + "; no number of queries would do";
  }
  return fmt::format("{}; with as many missed, {:.0f} queries would do", missed,
                     std::ceil((1 - risk) / (risk - chosen.mean_loss)));
}

void StudyRecall(const Rows& rows, StudiedGuarantee* studied) {
  weights::Guarantee& guarantee = studied->guarantee;
  const eval::RecallThreshold chosen = eval::ChooseRecallThreshold(rows, guarantee.promise.risk());
  guarantee.queries = chosen.queries;
  guarantee.loss = chosen.mean_loss;
  if (!chosen.threshold) {
    studied->why = WhyNoRecall(guarantee, chosen);
    return;
  }
  studied->promised = true;
  guarantee.threshold = *chosen.threshold;
}

void StudyPrecision(const Rows& rows, const std::vector<double>& grid, StudiedGuarantee* studied) {
  weights::Guarantee& guarantee = studied->guarantee;
  const eval::PrecisionThreshold chosen = eval::ChoosePrecisionThreshold(
      rows, {guarantee.promise.risk(), guarantee.promise.confidence, guarantee.judged_only}, grid);
  guarantee.queries = chosen.queries;
  guarantee.loss = chosen.mean_loss;
  if (!chosen.threshold) {
    studied->why = chosen.queries < eval::FewestQueries(guarantee.promise)
                       ? TooFew(guarantee.promise, chosen.queries, "queries")
                       : "too much is wrong at the highest score already";
    return;
  }
  if (chosen.nothing == 1) {
    studied->why = "no threshold at which anything is shown keeps it";
    return;
  }
  studied->promised = true;
  guarantee.threshold = *chosen.threshold;
}

void StudyNoAnswer(const std::vector<double>& best, StudiedGuarantee* studied) {
  weights::Guarantee& guarantee = studied->guarantee;
  guarantee.queries = best.size();
  const auto threshold = eval::ChooseNoAnswerThreshold(best, guarantee.promise.risk());
  if (!threshold) {
    studied->why = TooFew(guarantee.promise, best.size(), "queries without an answer");
    return;
  }
  studied->promised = true;
  guarantee.threshold = *threshold;
  const auto answered =
      std::count_if(best.begin(), best.end(), [&](double score) { return score >= *threshold; });
  guarantee.loss = static_cast<double>(answered) / static_cast<double>(best.size());
}

// The share of the queries of which the threshold shows nothing.
double NothingAt(double threshold, const Rows& rows) {
  const auto nothing = std::count_if(rows.begin(), rows.end(), [&](const eval::GuaranteeRow& row) {
    return !eval::ShowsAny(row, threshold);
  });
  return rows.empty() ? 0 : static_cast<double>(nothing) / static_cast<double>(rows.size());
}

// The rows of each group, in the order of the groups' names.
std::map<std::string, Rows> Grouped(const GuaranteeStudyInputs& inputs, size_t* without) {
  std::map<std::string, Rows> groups;
  for (size_t i = 0; i < inputs.judged.rows.size(); ++i) {
    if (inputs.groups[i]) {
      groups[*inputs.groups[i]].push_back(inputs.judged.rows[i]);
    } else {
      ++*without;
    }
  }
  return groups;
}

StudiedGuarantee Studied(const GuaranteeStudyInputs& inputs, const Promise& promise,
                         const Rows& rows, const std::vector<double>& grid) {
  StudiedGuarantee studied{.guarantee = {.promise = promise, .depth = inputs.depth}};
  switch (promise.kind) {
    case PromiseKind::kRecall:
      StudyRecall(rows, &studied);
      break;
    case PromiseKind::kPrecision:
      studied.guarantee.judged_only = inputs.judged_only;
      StudyPrecision(rows, grid, &studied);
      break;
    case PromiseKind::kNoAnswer:
      studied.guarantee.unanswerable = inputs.unanswerable;
      StudyNoAnswer(inputs.best_of_unanswerable, &studied);
      break;
  }
  if (studied.promised) studied.guarantee.nothing = NothingAt(studied.guarantee.threshold, rows);
  return studied;
}

}  // namespace

GuaranteeStudy StudyGuarantees(const GuaranteeStudyInputs& inputs) {
  if (inputs.judged_only && inputs.judged.judged_negatives == 0) {
    throw UsageError(
        "--judged-only: no document that was found is judged to be no positive, so that everything "
        "judged would be right; leave it out, and what nobody judged counts as wrong");
  }
  GuaranteeStudy study{.queries = inputs.judged.rows.size(),
                       .documents = inputs.judged.documents,
                       .unjudged = inputs.judged.unjudged};
  study.without_positive = static_cast<size_t>(
      std::count_if(inputs.judged.rows.begin(), inputs.judged.rows.end(),
                    [](const eval::GuaranteeRow& row) { return row.positives == 0; }));
  const std::vector<double> grid = eval::PrecisionGrid(inputs.similarity);
  const auto groups =
      inputs.by.empty() ? std::map<std::string, Rows>() : Grouped(inputs, &study.without_group);
  study.groups = groups.size();
  for (const Promise& promise : inputs.promises) {
    if (inputs.by.empty() || promise.kind == PromiseKind::kNoAnswer) {
      study.guarantees.push_back(Studied(inputs, promise, inputs.judged.rows, grid));
      continue;
    }
    for (const auto& [group, rows] : groups) {
      StudiedGuarantee studied = Studied(inputs, promise, rows, grid);
      studied.guarantee.by = inputs.by;
      studied.guarantee.group = group;
      study.guarantees.push_back(std::move(studied));
    }
  }
  return study;
}

}  // namespace tandem::app
