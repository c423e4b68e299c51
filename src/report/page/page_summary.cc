// The page's beginning: what came out, in a few numbers and sentences.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "report/page/page_parts.h"
#include "report/records/same_data.h"
#include "report/tables/numbers.h"
#include "report/verdict/paired_change.h"

namespace tandem::report {
namespace {

// How a value differs from the first evaluation's. Better and worse, in colour, is only what a test
// has told from chance.
enum class Turn { kNone, kBetter, kWorse, kSame, kUnseen, kUntested };

struct Tile {
  std::string label;
  std::string value;
  std::string note;
  Turn turn = Turn::kNone;
};

constexpr int kDecimals = 3;

// The class of a tile, and the word and sign of its note: a colour alone tells nothing to who does
// not see it.
struct TurnWords {
  const char* kind;
  const char* word;
};
TurnWords WordsOf(Turn turn) {
  switch (turn) {
    case Turn::kBetter:
      return {"better", "▲ better: "};
    case Turn::kWorse:
      return {"worse", "▼ worse: "};
    case Turn::kSame:
      return {"same", "unchanged: "};
    case Turn::kUnseen:
      return {"same", "no difference seen: "};
    case Turn::kUntested:
      return {"same", ""};
    case Turn::kNone:
      break;
  }
  return {"alone", ""};
}

const MeasureResult* FindMeasure(const EvaluationRecord& record, std::string_view name) {
  const auto found =
      std::find_if(record.measures.begin(), record.measures.end(),
                   [&](const MeasureResult& measure) { return measure.name == name; });
  return found == record.measures.end() || !found->mean ? nullptr : &*found;
}

// A tile of a value, beside what it was in the first evaluation. `change` is what the test says of
// the difference; none: no test of it was made.
Tile TileOf(std::string label, std::optional<double> first, double last,
            const std::optional<PairedChange>& change = std::nullopt) {
  Tile tile{.label = std::move(label), .value = Fixed(last, kDecimals)};
  if (!first) return tile;
  tile.turn = Turn::kUntested;
  if (change) {
    const Turn seen = last > *first ? Turn::kBetter : Turn::kWorse;
    tile.turn = change->seen() ? seen : Turn::kUnseen;
  }
  if (Fixed(*first, kDecimals) == Fixed(last, kDecimals)) tile.turn = Turn::kSame;
  tile.note = fmt::format("{} from {}", Signed(last - *first, kDecimals), Fixed(*first, kDecimals));
  return tile;
}

// None where the first evaluation is the last one.
template <typename T>
std::optional<T> IfOther(const EvaluationGroup& group, std::optional<T> first) {
  return group.evaluations.size() < 2 ? std::nullopt : first;
}

void AddMeasureTile(const EvaluationGroup& group, uint64_t seed, std::vector<Tile>& tiles) {
  const EvaluationRecord& last = group.evaluations.back()->record;
  if (last.measures.empty() || !last.measures.front().mean) return;
  const std::string& name = last.measures.front().name;
  const EvaluationRecord& first = group.evaluations.front()->record;
  const MeasureResult* before = FindMeasure(first, name);
  const std::optional<PairedChange> change =
      group.evaluations.size() < 2 ? std::nullopt : ChangeOf(first, last, name, seed);
  Tile tile = TileOf(name, IfOther(group, before != nullptr ? before->mean : std::nullopt),
                     *last.measures.front().mean, change);
  // Whether that is more than chance stands where the number does.
  if (change && !tile.note.empty()) tile.note += "; queries: " + QueriesText(*change);
  tiles.push_back(std::move(tile));
}

void AddRocTile(const EvaluationGroup& group, std::vector<Tile>& tiles) {
  const std::optional<RocFacts>& last = group.evaluations.back()->record.roc;
  const std::optional<RocFacts>& first = group.evaluations.front()->record.roc;
  if (!last) return;
  const std::optional<double> before = first ? std::optional(first->auc) : std::nullopt;
  tiles.push_back(TileOf("pooled AUC", IfOther(group, before), last->auc));
}

// The errors of the calibration that the model has, at the smallest depth; null where it has none:
// what one might have is in the page's section on calibration. Over all results, nearly all of
// which are no positives and have a probability near 0, the error is 0.000 whatever the first
// results of queries are worth.
const CalibrationAtDepth* FirstDepth(const EvaluationRecord& record) {
  const auto kept = std::find_if(record.calibration.begin(), record.calibration.end(), IsKept);
  if (kept == record.calibration.end()) return nullptr;
  const std::vector<CalibrationAtDepth>& depths = kept->at_depths;
  const auto least = std::min_element(
      depths.begin(), depths.end(), [](const auto& a, const auto& b) { return a.depth < b.depth; });
  return least == depths.end() ? nullptr : &*least;
}

void AddCalibrationTile(const EvaluationGroup& group, std::vector<Tile>& tiles) {
  const CalibrationAtDepth* const last = FirstDepth(group.evaluations.back()->record);
  if (last == nullptr) return;
  const CalibrationAtDepth* const first = FirstDepth(group.evaluations.front()->record);
  std::optional<double> before;
  if (first != nullptr && first->depth == last->depth) before = first->expected_calibration_error;
  const std::string of =
      last->depth == 1 ? "of first results" : fmt::format("of the first {} results", last->depth);
  tiles.push_back(
      TileOf("calibration error " + of, IfOther(group, before), last->expected_calibration_error));
}

// A run whose models nobody measured for the report has its validation to show.
void AddValidationTile(const RunRecord& run, std::vector<Tile>& tiles) {
  const ValidationRow* best = run.log.BestValidation();
  if (best == nullptr || best->measures.empty()) return;
  const NamedNumber& measure = best->measures.front();
  const double value = measure.AsDouble();
  const ValidationRow& first = run.log.validations.front();
  const bool has_before = first.step == 0 && !first.measures.empty();
  Tile tile =
      TileOf("validation " + measure.name,
             has_before ? std::optional(first.measures.front().AsDouble()) : std::nullopt, value);
  if (has_before) tile.note += " before training; ";
  tile.note += "these queries chose the step";
  tiles.push_back(std::move(tile));
}

void AddRunTile(const RunRecord& run, std::vector<Tile>& tiles) {
  const ValidationRow* best = run.log.BestValidation();
  if (best == nullptr) return;
  tiles.push_back({"best step", GroupedCount(best->step),
                   run.seconds_to_best ? "after " + DurationText(*run.seconds_to_best) : ""});
}

// The first threshold that somebody can act on, in words; why there is none.
std::string ThresholdSentence(const LabelledEvaluation& one) {
  if (IsByDocument(one.record.dataset)) {
    return fmt::format("No threshold stands here: {}.", kNoThresholdByDocument);
  }
  if (!one.record.roc) {
    return "No threshold stands here: that needs scores of positives and of other documents.";
  }
  if (one.record.roc->thresholds.empty()) {
    return "No threshold stands here: this evaluation kept none; tandem report RUN --dataset "
           "FOLDER measures anew and keeps them.";
  }
  for (const ThresholdRow& row : one.record.roc->thresholds) {
    if (!row.score || !row.precision || !row.recall) continue;
    // Where there are grades, a reader of this sentence alone should know what "right" leaves out.
    const std::string right =
        one.record.dataset.relevance_level == 1
            ? "right"
            : fmt::format("right (of grade {:g} or more)", one.record.dataset.relevance_level);
    return fmt::format(
        "With the threshold {} ({}: {}), chosen on these same queries, {} of the results are {} "
        "and {} of the right documents are found; of other queries that promises nothing "
        "(tandem calibrate --guarantee does).",
        Fixed(row.score, 3), one.label, row.target, Percent(row.precision, 0), right,
        Percent(row.recall, 0));
  }
  return fmt::format("No threshold stands here: {} meets none of the targets below.", one.label);
}

void AddTiles(const std::vector<Tile>& tiles, Html& html) {
  if (tiles.empty()) return;
  html.In("dl", {{"class", "tiles"}}, [&] {
    for (const Tile& tile : tiles) {
      const TurnWords words = WordsOf(tile.turn);
      html.In("div", {{"class", words.kind}}, [&] {
        html.Element("dt", tile.label);
        html.In("dd", [&] {
          html.Element("strong", tile.value);
          if (!tile.note.empty()) html.Element("small", WithPOnOneLine(words.word + tile.note));
        });
      });
    }
  });
}

// The page's first sentence: which model to serve.
void AddAdvice(const ReportInput& input, const std::vector<EvaluationGroup>& groups, Html& html) {
  if (groups.empty()) return;
  const std::optional<Recommendation> found = RecommendationOf(input);
  html.In("p", {{"class", "advice"}}, [&] {
    if (found) {
      html.Element("strong", found->action + ":");
      html.Text(WithPOnOneLine(" " + found->reason));
    } else if (groups.front().evaluations.size() < 2) {
      html.Text("Which model to serve this page cannot say: one alone was measured on this data.");
    } else {
      html.Text(
          "Which model to serve this page cannot say: the values of single queries were not kept, "
          "without which no difference can be told from chance.");
    }
  });
  if (found && !found->commands.empty()) html.Element("pre", found->commands);
  html.Break();
}

}  // namespace

std::string WithPOnOneLine(std::string sentence) {
  constexpr std::string_view kNoBreak = "\u00a0";
  for (const std::string_view relation : {" p = ", " p < ", "(p = ", "(p < "}) {
    for (size_t at = 0; (at = sentence.find(relation, at)) != std::string::npos;) {
      sentence.replace(at + 4, 1, kNoBreak);
      sentence.replace(at + 2, 1, kNoBreak);
      at += relation.size();
    }
  }
  return sentence;
}

std::string DurationText(double seconds) {
  if (seconds < 60) return Seconds(seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

void AddSummary(const ReportInput& input, Page& page) {
  std::vector<Tile> tiles;
  std::string sentence;
  const std::vector<EvaluationGroup> groups = GroupsOf(input);
  if (!groups.empty()) {
    AddMeasureTile(groups.front(), input.seed, tiles);
    AddRocTile(groups.front(), tiles);
    AddCalibrationTile(groups.front(), tiles);
    sentence = ThresholdSentence(*groups.front().evaluations.back());
  }
  if (input.runs.size() == 1) {
    if (groups.empty()) AddValidationTile(input.runs.front(), tiles);
    AddRunTile(input.runs.front(), tiles);
  }
  Html& html = page.html();
  AddAdvice(input, groups, html);
  AddTiles(tiles, html);
  if (!groups.empty()) {
    const DatasetFacts& dataset = groups.front().evaluations.back()->record.dataset;
    html.In("p", {{"class", "lead"}}, [&] {
      html.Text(fmt::format("Measured on {} queries and {} documents of ",
                            GroupedCount(dataset.queries), GroupedCount(dataset.documents)));
      html.Foreign(DataName(dataset));
      html.Text(". " + sentence);
    });
  }
  html.Break();
}

}  // namespace tandem::report
