#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "data/lines/key_roles.h"
#include "import/columns/column_choice.h"

namespace tandem::import_data {
namespace {

std::string Quoted(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) {
    all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", name);
  }
  return all;
}

std::string FlagOf(std::string_view role) {
  std::string flag = fmt::format("--{}", role);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

class ColumnFinder {
 public:
  ColumnFinder(const SourceSample& sample, const Columns& chosen, std::string_view file)
      : sample_(sample), chosen_(chosen), file_(file) {}

  Understood Find() {
    TakeChosen();
    CheckNames();
    TakeNegatives();
    TakeNamed("query", chosen_.query, found_.columns.query);
    TakeNamed("document", chosen_.document, found_.columns.document);
    TakeNamed("title", chosen_.title, found_.columns.title);
    TakeNamed("clicks", chosen_.clicks, found_.columns.clicks);
    if (found_.columns.has_clicks()) {
      TakeNamed("impressions", chosen_.impressions, found_.columns.impressions);
      TakeNamed("position", chosen_.position, found_.columns.position);
      CheckClicks();
    } else {
      TakeNamed("label", chosen_.label, found_.columns.label);
    }
    TakeNamed("id", chosen_.id, found_.columns.id);
    TakeNamed("query_id", chosen_.query_id, found_.columns.query_id);
    TakeTitleForDocument();
    TakeByContents();
    CheckFound();
    CheckNoGradesAreLeft();
    SayUnused();
    return std::move(found_);
  }

 private:
  static constexpr std::string_view kClicks = "clicks";
  static constexpr std::string_view kFeedback = "feedback on the document";

  std::vector<std::string> NamesOfAll() const {
    std::vector<std::string> names;
    for (const ColumnSample& column : sample_.columns) names.push_back(column.name);
    return names;
  }
  bool Has(std::string_view name) const {
    return std::any_of(sample_.columns.begin(), sample_.columns.end(),
                       [&](const ColumnSample& column) { return column.name == name; });
  }
  bool IsTaken(const std::string& name) const {
    return std::find(taken_.begin(), taken_.end(), name) != taken_.end();
  }

  void Take(std::string_view role, const std::string& name, std::string_view why) {
    taken_.push_back(name);
    found_.reasons.push_back(
        fmt::format("{}: \"{}\"{}{}", role, name, why.empty() ? "" : " ", why));
  }

  void TakeChosenOne(std::string_view role, const std::string& name, std::string& to) {
    if (name.empty() || name == kNoColumn) return;
    if (!Has(name)) {
      const std::vector<std::string> all = NamesOfAll();
      const std::vector<std::string_view> views(all.begin(), all.end());
      throw UsageError(fmt::format("{}: has no column \"{}\" ({}){}; it has {}", file_, name,
                                   FlagOf(role), DidYouMean(name, views), Quoted(all)));
    }
    if (IsTaken(name)) {
      throw UsageError(
          fmt::format("{}: the column \"{}\" is given two meanings by flags", file_, name));
    }
    to = name;
    Take(role, name, "");
  }

  void TakeChosen() {
    Columns& columns = found_.columns;
    TakeChosenOne("query", chosen_.query, columns.query);
    TakeChosenOne("document", chosen_.document, columns.document);
    for (const std::string& name : chosen_.negatives) {
      if (name != kNoColumn) TakeChosenOne("negative", name, columns.negatives.emplace_back());
    }
    TakeChosenOne("label", chosen_.label, columns.label);
    TakeChosenOne("title", chosen_.title, columns.title);
    TakeChosenOne("id", chosen_.id, columns.id);
    TakeChosenOne("query_id", chosen_.query_id, columns.query_id);
    TakeChosenOne("clicks", chosen_.clicks, columns.clicks);
    TakeChosenOne("impressions", chosen_.impressions, columns.impressions);
    TakeChosenOne("position", chosen_.position, columns.position);
    if (!chosen_.group.empty()) {
      if (!Has(chosen_.group)) {
        throw UsageError(fmt::format("{}: has no column \"{}\" (--group); it has {}", file_,
                                     chosen_.group, Quoted(NamesOfAll())));
      }
      columns.group = chosen_.group;  // it may have another meaning as well
      found_.reasons.push_back(fmt::format("group: \"{}\"", chosen_.group));
    }
  }

  // What a column seems to say about the document; "" where it is nothing that grades it. Texts are
  // none of these: what somebody wrote about the document.
  static std::string FeedbackIn(const ColumnSample& column) {
    constexpr uint64_t kLongLabel = 12;  // bytes, on average
    if (column.bytes > kLongLabel * column.rows) return "";
    const std::optional<data::KeyLook> look = data::LookOfKey(column.name, true);
    if (look && !look->describes) {
      if (look->role == data::KeyRole::kClicks) return std::string(kClicks);
      if (look->role == data::KeyRole::kFeedback) return std::string(kFeedback);
    }
    const bool are_thumbs = column.ups > 0 && column.downs > 0;
    if (!are_thumbs || column.ups + column.downs < column.rows) return "";
    return column.example.empty() ? std::string(kFeedback)
                                  : fmt::format("{} (\"{}\")", kFeedback, column.example);
  }

  // Without labels and clicks every row is a positive; a column that might say otherwise is not
  // passed over in silence.
  void CheckNoGradesAreLeft() const {
    if (!found_.columns.label.empty() || found_.columns.has_clicks()) return;
    for (const ColumnSample& column : sample_.columns) {
      if (IsTaken(column.name) || column.name == found_.columns.group) continue;
      const std::string seems = FeedbackIn(column);
      if (seems.empty()) continue;
      const bool is_clicks = seems == kClicks;
      const std::string_view flag = is_clicks ? "--clicks" : "--label";
      if ((is_clicks ? chosen_.clicks : chosen_.label) == kNoColumn) continue;
      throw UsageError(fmt::format(
          "{}: the column \"{}\" looks like {}, and without it every row is a positive: {} \"{}\" "
          "reads it, {} - leaves it out",
          file_, column.name, seems, flag, column.name, flag));
    }
  }

  void SayUnused() {
    std::vector<std::string> unused;
    for (const ColumnSample& column : sample_.columns) {
      if (!IsTaken(column.name) && column.name != found_.columns.group)
        unused.push_back(column.name);
    }
    if (!unused.empty()) found_.reasons.push_back(fmt::format("not used: {}", Quoted(unused)));
  }

  // The first line may be a title or a row, and the names may stand on the second.
  void CheckNames() const {
    const auto names_in = [](const auto& texts) {
      return std::count_if(texts.begin(), texts.end(), [](const std::string& text) {
        bool exact = false;
        return text.size() < 30 && !RoleOfName(text, &exact).empty();
      });
    };
    const std::vector<std::string> names = NamesOfAll();
    const auto of_names = names_in(names);
    if (names_in(sample_.first_row) >= 2 && of_names < 2 && taken_.empty()) {
      throw UsageError(fmt::format(
          "{}:{}: this line names columns ({}), and the first one does not ({}); say "
          "on which line the names stand: --header-line {}",
          file_, sample_.first_line, Quoted(sample_.first_row), Quoted(names), sample_.first_line));
    }
    // The same line again is a row that repeats the names, which is left out for that.
    const auto is_name = [](const std::string& text) {
      const bool one_word = text.find_first_of(" 0123456789") == std::string::npos;
      return one_word && !RoleOfName(text).empty();
    };
    const bool all_names = std::all_of(sample_.first_row.begin(), sample_.first_row.end(), is_name);
    if (of_names >= 2 && sample_.first_row.size() >= 2 && all_names && sample_.first_row != names) {
      throw UsageError(fmt::format(
          "{}:{}: this line names columns ({}), as the line before it does ({}); remove "
          "one of both, or take these: --header-line {}",
          file_, sample_.first_line, Quoted(sample_.first_row), Quoted(names), sample_.first_line));
    }
    constexpr size_t kLongName = 60;
    const bool is_text = std::any_of(names.begin(), names.end(), [](const std::string& name) {
      return name.size() > kLongName || name.ends_with('?');
    });
    if (is_text && of_names == 0 && taken_.empty()) {
      throw UsageError(
          fmt::format("{}: the first line seems to be a row, not the names of columns: {}; add a "
                      "line of names (question,answer), or give --header-line 0 and the columns by "
                      "number (--query 1 --document 2)",
                      file_, Quoted(names)));
    }
  }

  void TakeNegatives() {
    if (!chosen_.negatives.empty()) return;
    for (const ColumnSample& column : sample_.columns) {
      if (IsTaken(column.name) || RoleOfName(column.name) != "negative") continue;
      found_.columns.negatives.push_back(column.name);
      Take("negative", column.name, "(by its name)");
    }
  }

  void TakeNamed(std::string_view role, std::string_view chosen, std::string& to) {
    if (!to.empty() || chosen == kNoColumn) return;
    std::vector<std::string> exact_names, other_names;
    for (const ColumnSample& column : sample_.columns) {
      bool exact = false;
      if (IsTaken(column.name) || RoleOfName(column.name, &exact) != role) continue;
      (exact ? exact_names : other_names).push_back(column.name);
    }
    const std::vector<std::string>& names = exact_names.empty() ? other_names : exact_names;
    if (names.empty()) return;
    if (names.size() > 1) {
      const bool is_needed = role == "query" || role == "document" || role == "label";
      if (!is_needed && exact_names.empty()) return;  // neither; the user can say
      throw UsageError(fmt::format("{}: the columns {} could all be the {}; say which: {} \"{}\"",
                                   file_, Quoted(names), role, FlagOf(role), names.front()));
    }
    to = names.front();
    Take(role, to, "(by its name)");
  }

  void CheckClicks() const {
    if (!found_.columns.impressions.empty()) return;
    const auto clicks = std::find_if(
        sample_.columns.begin(), sample_.columns.end(),
        [&](const ColumnSample& column) { return column.name == found_.columns.clicks; });
    // A row for each impression: clicked or not.
    if (clicks->distinct <= 2 && found_.columns.clicks != "clicks") return;
    throw UsageError(
        fmt::format("{}: has clicks (\"{}\") and no column of impressions: how often a document "
                    "was clicked says little without how often it was shown; name that column with "
                    "--impressions, or take the numbers as grades with --label \"{}\"",
                    file_, found_.columns.clicks, found_.columns.clicks));
  }

  // "query, product_title, label": the title is all that there is of a document.
  void TakeTitleForDocument() {
    Columns& columns = found_.columns;
    if (!columns.document.empty() || columns.title.empty() || !chosen_.title.empty()) return;
    if (CandidateTexts().size() > (columns.query.empty() ? 1U : 0U)) return;
    columns.document = std::exchange(columns.title, "");
    std::erase(found_.reasons, fmt::format("title: \"{}\" (by its name)", columns.document));
    found_.reasons.push_back(
        fmt::format("document: \"{}\" (there is no other text of it)", columns.document));
  }

  // Columns of texts that have no meaning yet, the shortest texts first.
  std::vector<const ColumnSample*> CandidateTexts() const {
    std::vector<const ColumnSample*> texts;
    for (const ColumnSample& column : sample_.columns) {
      if (IsTaken(column.name) || column.others > 0 || column.rows * 2 < sample_.rows) continue;
      if (column.rows == 0 || column.numbers * 10 > column.rows) continue;
      constexpr uint64_t kShortest = 3;  // bytes, on average: shorter ones are codes
      if (column.bytes < kShortest * column.rows) continue;
      // Few different values in many rows are a category.
      if (column.rows >= 20 && column.distinct * 10 < column.rows) continue;
      texts.push_back(&column);
    }
    std::sort(texts.begin(), texts.end(), [](const ColumnSample* a, const ColumnSample* b) {
      return a->bytes * b->rows < b->bytes * a->rows;
    });
    return texts;
  }

  void TakeByContents() {
    Columns& columns = found_.columns;
    const std::vector<const ColumnSample*> texts = CandidateTexts();
    const size_t missing = (columns.query.empty() ? 1U : 0U) + (columns.document.empty() ? 1U : 0U);
    if (missing == 0 || texts.size() != missing) return;
    const char* const only = "(the only column of texts that is left)";
    if (missing == 2) {
      columns.query = texts[0]->name;
      columns.document = texts[1]->name;
      Take("query", columns.query, "(by its contents: the shorter ones of two columns of texts)");
      Take("document", columns.document, "(by its contents: the longer ones)");
    } else if (columns.query.empty()) {
      columns.query = texts[0]->name;
      Take("query", columns.query, only);
    } else {
      columns.document = texts[0]->name;
      Take("document", columns.document, only);
    }
  }

  void CheckFound() const {
    const Columns& columns = found_.columns;
    if (!columns.query.empty() && !columns.document.empty()) return;
    if (sample_.rows == 0 && !sample_.first_problem.empty()) {
      throw UsageError(
          fmt::format("{}:{}; none of the first rows can be used, and the names of the "
                      "columns ({}) do not say which is the {}",
                      file_, sample_.first_problem, Quoted(NamesOfAll()),
                      columns.query.empty() ? "query" : "document"));
    }
    std::string shown;
    for (const ColumnSample& column : sample_.columns) {
      shown += fmt::format("\n  {} \"{}\"", column.name, column.example);
    }
    const bool both = columns.query.empty() && columns.document.empty();
    throw UsageError(fmt::format(
        "{}: no column is clearly the {}; say which with {}. Its columns, with a value of each:{}",
        file_,
        both                    ? "query and none the document"
        : columns.query.empty() ? "query"
                                : "document",
        both                    ? "--query NAME --document NAME"
        : columns.query.empty() ? "--query NAME"
                                : "--document NAME",
        shown.empty() ? " none" : shown));
  }

  const SourceSample& sample_;
  const Columns& chosen_;
  std::string_view file_;
  Understood found_;
  std::vector<std::string> taken_;
};

}  // namespace

Understood FindColumns(const SourceSample& sample, const Columns& chosen, std::string_view file) {
  return ColumnFinder(sample, chosen, file).Find();
}

}  // namespace tandem::import_data
