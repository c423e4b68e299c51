#include "commands/evaluate/guarantee_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "commands/guarantees/guarantee_basis.h"
#include "commands/guarantees/guarantee_study.h"
#include "commands/guarantees/judged_rows.h"
#include "commands/guarantees/query_groups.h"
#include "commands/guarantees/unanswerable.h"
#include "commands/model/load_model.h"
#include "report/tables/numbers.h"

namespace tandem::app {
namespace {

using eval::PromiseKind;

constexpr double kCheckConfidence = 0.95;
// A promise is called broken where so high a loss would be rarer than this.
constexpr double kRareLoss = 0.025;

// The queries without an answer that a guarantee is checked with: as the flag says, else held out
// as those that it was made with.
std::string UnanswerableOf(const weights::Guarantee& guarantee, const EvaluateOptions& options) {
  return options.unanswerable.empty() ? guarantee.unanswerable : options.unanswerable;
}

void CheckUnanswerable(const weights::Guarantee& guarantee, const EvaluateOptions& options) {
  if (guarantee.promise.kind != PromiseKind::kNoAnswer || !options.unanswerable.empty()) return;
  if (guarantee.unanswerable == kHeldOut) return;
  throw UsageError(fmt::format(
      "--guarantee {} was made with the queries of {}: give --unanswerable FILE with others that "
      "have no answer, or --unanswerable held-out",
      guarantee.Name(), guarantee.unanswerable));
}

bool IsOfGroup(const std::map<std::string, std::string>& groups, std::string_view query,
               const std::string& group) {
  const auto found = groups.find(std::string(query));
  return found != groups.end() && found->second == group;
}

void MeasureUnanswerable(const std::vector<double>& best, CheckedGuarantee* checked) {
  for (const double score : best) {
    checked->seen.Add(score >= checked->guarantee.threshold ? 1 : 0);
  }
}

void MeasureRows(const JudgedRows& judged, const std::map<std::string, std::string>& groups,
                 CheckedGuarantee* checked) {
  const weights::Guarantee& guarantee = checked->guarantee;
  const std::array<double, 1> threshold = {guarantee.threshold};
  size_t queries = 0, nothing = 0, unknown = 0;
  for (const eval::GuaranteeRow& row : judged.rows) {
    if (!guarantee.by.empty() && !IsOfGroup(groups, row.query, guarantee.group)) continue;
    ++queries;
    nothing += eval::ShowsAny(row, guarantee.threshold) ? 0 : 1;
    if (guarantee.promise.kind == PromiseKind::kPrecision) {
      unknown += guarantee.threshold <= row.known_above ? 1 : 0;
      checked->seen.Add(eval::WrongShares(row, threshold, guarantee.judged_only).front());
    } else if (guarantee.promise.kind == PromiseKind::kRecall && row.positives > 0) {
      checked->seen.Add(eval::MissedShare(row, guarantee.threshold));
    }
  }
  checked->nothing =
      static_cast<double>(nothing) / static_cast<double>(std::max<size_t>(1, queries));
  if (unknown > 0) {
    Warn(
        fmt::format("{}: {} queries have more documents above the threshold than were retrieved, "
                    "and count as wrong",
                    guarantee.Name(), unknown));
  }
}

std::string VerdictOf(const CheckedGuarantee& checked) {
  if (checked.seen.queries == 0) return "no such query";
  if (checked.broken()) return "broken";
  return checked.seen.mean() <= checked.guarantee.promise.risk() ? "kept" : "not excluded";
}

report::Table CheckTable(const GuaranteeCheck& check) {
  report::Table table({{.name = "promise", .when_long = report::LongText::kKeep},
                       {.name = "made with"},
                       {.name = "queries"},
                       {.name = "threshold"},
                       {.name = "loss promised", .key = "promised"},
                       {.name = "seen"},
                       {.name = "get nothing"},
                       {.name = "chance"},
                       {.name = "verdict"}});
  for (const CheckedGuarantee& one : check.guarantees) {
    table.Add({one.guarantee.Name(), one.guarantee.queries, one.seen.queries,
               one.guarantee.threshold, one.guarantee.promise.risk(),
               report::Interval{one.seen.mean(), one.interval.low, one.interval.high}, one.nothing,
               one.chance, VerdictOf(one)});
  }
  return table;
}

// One that is named twice, as by "all" too, is checked once.
void AddOnce(const weights::Guarantee& guarantee, GuaranteeCheck* check) {
  const bool known = std::any_of(
      check->guarantees.begin(), check->guarantees.end(),
      [&](const CheckedGuarantee& one) { return one.guarantee.Name() == guarantee.Name(); });
  if (!known) check->guarantees.push_back({.guarantee = guarantee});
}

}  // namespace

bool CheckedGuarantee::broken() const {
  return seen.mean() > guarantee.promise.risk() && chance < kRareLoss;
}

double GuaranteedLevel(const EvaluateOptions& options) {
  const std::string& folder = options.model.model;
  const double level = GuaranteesOf(folder).basis.relevance_level;
  if (options.asked_relevance_level && *options.asked_relevance_level != level) {
    throw UsageError(
        fmt::format("--relevance-level is {}, and the guarantees of {} were made with {}: leave it "
                    "out, or make them anew with tandem calibrate --relevance-level",
                    *options.asked_relevance_level, folder, level));
  }
  if (level != 1) Note(fmt::format("relevance level {}, as the guarantees were made with", level));
  return level;
}

GuaranteeCheck PlanGuaranteeCheck(model::DualEncoder& model, const EvaluatedSet& set,
                                  const data::JudgedData& judged, const EvaluateOptions& options) {
  const std::string& folder = options.model.model;
  const weights::Guarantees guarantees = GuaranteesOf(folder);
  GuaranteeCheck check{.made_on = guarantees.basis,
                       .measured_on = BasisOfModel(model, options.globals)};
  AddData(judged, set.folder, set.split, &check.measured_on);
  CheckBasis(check.made_on, check.measured_on, folder, {.documents = check.measured_on.documents});
  for (const std::string& name : options.guarantees) {
    for (const weights::Guarantee& one : guarantees.promises) {
      if (name == "all") AddOnce(one, &check);
    }
    if (name != "all") AddOnce(FindGuarantee(guarantees, name), &check);
  }
  for (const CheckedGuarantee& one : check.guarantees) CheckUnanswerable(one.guarantee, options);
  if (check.made_on.data_fingerprint == check.measured_on.data_fingerprint) {
    Warn(
        fmt::format("guarantees were made with {}, split {}, which they are measured on: what is "
                    "seen is too good",
                    check.made_on.data, check.made_on.split));
  }
  return check;
}

void MeasureGuarantees(const GuaranteeMeasurement& measured, GuaranteeCheck* check) {
  const EvaluateOptions& options = measured.options;
  for (CheckedGuarantee& one : check->guarantees) {
    const weights::Guarantee& guarantee = one.guarantee;
    const JudgedRows rows = MakeJudgedRows(measured.retrieved, measured.judged.qrels,
                                           {.relevance_level = options.relevance_level,
                                            .top_k = measured.top_k,
                                            .corpus = measured.judged.dataset.documents.size(),
                                            .depth = guarantee.depth});
    std::map<std::string, std::string> groups;
    if (!guarantee.by.empty()) groups = QueryGroups(measured.folder, guarantee.by);
    MeasureRows(rows, groups, &one);
    if (guarantee.promise.kind == PromiseKind::kNoAnswer) {
      const std::string which = UnanswerableOf(guarantee, options);
      MeasureUnanswerable(which == kHeldOut
                              ? rows.best_without_answer
                              : BestScoresOfFile(measured.model, measured.judged.dataset,
                                                 options.relevance_level, which,
                                                 {.encode = BulkOptions(options.globals),
                                                  .embeddings = options.embeddings,
                                                  .cache = CacheUnless(options.no_cache)}),
                          &one);
    }
    one.interval = eval::SeenInterval(one.seen, kCheckConfidence);
    one.chance = eval::ChanceIfKept(guarantee.promise, guarantee.queries, one.seen);
  }
}

namespace {

// How many promises there were to break, and what that makes of one that is called broken.
std::string ChecksText(const GuaranteeCheck& check) {
  const auto checked = static_cast<size_t>(
      std::count_if(check.guarantees.begin(), check.guarantees.end(),
                    [](const CheckedGuarantee& one) { return one.seen.queries > 0; }));
  return fmt::format(
      "promises checked: {}; if all are kept, one or more is called broken by chance in at most "
      "{:.4g} % of such checks\n",
      checked, std::min(100.0, 100 * kRareLoss * static_cast<double>(checked)));
}

}  // namespace

FurtherFigures GuaranteeFigures(const GuaranteeCheck& check, const report::TextStyle& style) {
  FurtherFigures figures;
  figures.text = fmt::format(
      "\nguarantees made with queries of {}, split {} ({}), measured on {}, split {}\n{}{}",
      check.made_on.data, check.made_on.split, check.made_on.date, check.measured_on.data,
      check.measured_on.split, CheckTable(check).Text(style), ChecksText(check));
  Json list = Json::array();
  for (const CheckedGuarantee& one : check.guarantees) {
    const auto line = [&](std::string_view name, double value) {
      figures.tsv += fmt::format("guarantee:{}:{}\tall\t{}\n", one.guarantee.Name(), name,
                                 report::Exact(value));
    };
    line("promised", one.guarantee.promise.risk());
    line("loss", one.seen.mean());
    line("loss:low", one.interval.low);
    line("loss:high", one.interval.high);
    line("nothing", one.nothing);
    line("chance", one.chance);
    list.push_back(
        {{"promise", one.guarantee.Name()},
         {"threshold", one.guarantee.threshold},
         {"queries", one.seen.queries},
         {"promised", one.guarantee.promise.risk()},
         {"loss",
          {{"value", one.seen.mean()}, {"low", one.interval.low}, {"high", one.interval.high}}},
         {"nothing", one.nothing},
         {"chance", one.chance},
         {"verdict", VerdictOf(one)}});
  }
  figures.json = {{"guarantees", std::move(list)}};
  return figures;
}

std::string BrokenGuarantee(const GuaranteeCheck& check) {
  for (const CheckedGuarantee& one : check.guarantees) {
    if (!one.broken()) continue;
    return fmt::format(
        "guarantee {} is broken on {}, split {}: the loss is {:.4f} over {} queries, and {:.4f} "
        "was promised; were it kept, so high a loss would have a chance of {:.2g}",
        one.guarantee.Name(), check.measured_on.data, check.measured_on.split, one.seen.mean(),
        one.seen.queries, one.guarantee.promise.risk(), one.chance);
  }
  return "";
}

}  // namespace tandem::app
