#include "commands/guarantees/guarantee_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "eval/guarantees/precision_guarantee.h"
#include "report/tables/numbers.h"

namespace tandem::app {
namespace {

using eval::PromiseKind;

std::optional<double> IfPromised(const StudiedGuarantee& one, double value) {
  return one.promised ? std::optional<double>(value) : std::nullopt;
}

report::Table GuaranteeTable(const GuaranteeStudy& study) {
  report::Table table({{.name = "promise"},
                       {.name = "for"},
                       {.name = "queries"},
                       {.name = "threshold"},
                       {.name = "loss"},
                       {.name = "get nothing"}});
  for (const StudiedGuarantee& one : study.guarantees) {
    const weights::Guarantee& guarantee = one.guarantee;
    table.Add({guarantee.promise.Name(),
               guarantee.by.empty() ? "all" : fmt::format("{}={}", guarantee.by, guarantee.group),
               guarantee.queries, IfPromised(one, guarantee.threshold),
               IfPromised(one, guarantee.loss), IfPromised(one, guarantee.nothing)});
  }
  return table;
}

// Of how many documents a promise speaks.
std::string AmongBest(const weights::Guarantee& guarantee) {
  return guarantee.depth == 0 ? "" : fmt::format(", of the best {} documents", guarantee.depth);
}

std::string PromisesText(const GuaranteeStudy& study) {
  std::string text;
  std::vector<std::string> said;  // groups share sentences
  for (const StudiedGuarantee& one : study.guarantees) {
    const std::string name = one.guarantee.promise.Name();
    if (!one.promised) {
      text += fmt::format("{}: not promised: {}\n", one.guarantee.Name(), one.why);
      continue;
    }
    if (std::find(said.begin(), said.end(), name) != said.end()) continue;
    said.push_back(name);
    text +=
        fmt::format("{}: {}{}{}\n", name, one.guarantee.promise.Sentence(),
                    AmongBest(one.guarantee), one.guarantee.by.empty() ? "" : ", in each group");
  }
  return text;
}

// What several promises of precision are worth together, and why the number of thresholds costs
// nothing.
std::string MultiplicityText(const GuaranteeStudy& study, const weights::GuaranteeBasis& basis) {
  double doubt = 0;
  size_t promises = 0;
  for (const StudiedGuarantee& one : study.guarantees) {
    if (!one.promised || one.guarantee.promise.kind != PromiseKind::kPrecision) continue;
    doubt += 1 - one.guarantee.promise.confidence;
    ++promises;
  }
  if (promises == 0) return "";
  std::string text = fmt::format(
      "precision: {} thresholds that no query has chosen were tested from the highest down to the "
      "first failure, which needs no correction for their number\n",
      eval::PrecisionGrid(basis.similarity).size());
  if (promises > 1) {
    text += fmt::format(
        "each of the {} promises of precision holds with its own confidence; all of them together "
        "with {:.4g} % or more\n",
        promises, std::max(0.0, 100 * (1 - doubt)));
  }
  return text;
}

std::string UnjudgedText(const GuaranteeStudy& study) {
  for (const StudiedGuarantee& one : study.guarantees) {
    if (one.guarantee.promise.kind != PromiseKind::kPrecision) continue;
    if (one.guarantee.judged_only) {
      return "precision is of judged documents alone: of what nobody judged nothing is promised\n";
    }
    return fmt::format(
        "documents that nobody judged count as wrong: {:.1f} % of those that were looked at\n",
        100.0 * static_cast<double>(study.unjudged) /
            static_cast<double>(std::max<size_t>(1, study.documents)));
  }
  return "";
}

std::string GuaranteesText(const GuaranteeStudy& study, const weights::GuaranteeBasis& basis,
                           const report::TextStyle& style) {
  return fmt::format(
      "{}\n{}{}{}"
      "assumption: later queries come as these did, which is all that is assumed: {} queries of "
      "{}, "
      "split {}, over its {} documents, with this model; nothing is promised of other queries, "
      "other documents or another model\n",
      GuaranteeTable(study).Text(style), PromisesText(study), MultiplicityText(study, basis),
      UnjudgedText(study), study.queries, basis.data, basis.split, basis.documents);
}

Json GuaranteesJson(const GuaranteeStudy& study, const weights::GuaranteeBasis& basis) {
  Json list = Json::array();
  for (const StudiedGuarantee& one : study.guarantees) {
    const weights::Guarantee& guarantee = one.guarantee;
    Json row = {{"promise", guarantee.promise.Name()}, {"promised", one.promised}};
    if (!guarantee.by.empty()) {
      row["by"] = guarantee.by;
      row["group"] = guarantee.group;
    }
    row["threshold"] = one.promised ? Json(guarantee.threshold) : Json();
    row["queries"] = guarantee.queries;
    row["fewest_queries"] = eval::FewestQueries(guarantee.promise);
    row["loss"] = one.promised ? Json(guarantee.loss) : Json();
    row["nothing"] = one.promised ? Json(guarantee.nothing) : Json();
    row["sentence"] = guarantee.promise.Sentence() + AmongBest(guarantee);
    if (!one.promised) row["why"] = one.why;
    list.push_back(std::move(row));
  }
  return {{"guarantees", std::move(list)},
          {"queries", study.queries},
          {"queries_without_positive", study.without_positive},
          {"queries_without_group", study.without_group},
          {"documents", study.documents},
          {"unjudged", study.unjudged},
          {"basis",
           {{"data", basis.data},
            {"split", basis.split},
            {"data_fingerprint", basis.data_fingerprint},
            {"date", basis.date},
            {"documents", basis.documents},
            {"model_fingerprint", basis.model_fingerprint}}}};
}

}  // namespace

std::string FormatGuarantees(const GuaranteeStudy& study, const weights::GuaranteeBasis& basis,
                             std::string_view format, const report::TextStyle& style) {
  if (format == "json") return report::JsonText(GuaranteesJson(study, basis));
  if (format == "tsv") return GuaranteeTable(study).Tsv();
  return GuaranteesText(study, basis, style);
}

}  // namespace tandem::app
