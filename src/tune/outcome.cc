#include "tune/outcome.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/files/files.h"
#include "report/tables/table.h"
#include "tune/choice/selection.h"
#include "tune/choice/soup.h"

namespace tandem::tune {
namespace {

std::optional<double> NumberIn(const Json& row, std::string_view key) {
  const Json* const found = row.Find(key);
  return found == nullptr ? std::nullopt : std::optional<double>(found->get<double>());
}

std::string ConfigurationText(const SearchPlan& plan, const Json& arm) {
  const std::string trials = SoupText(arm);
  const double weight = arm.at("weight").get<double>();
  std::string text = AssignmentText(plan.configurations[arm.at("trial").get<size_t>() - 1]);
  if (!trials.empty()) {
    text = fmt::format("the mean of the weights of {}; the best of them: {}", trials, text);
  }
  return weight < 1
             ? fmt::format("{} of these weights and {:.4g} of the base's: {}", weight, 1 - weight, text)
             : text;
}

// Configurations and uncorrected p are too wide for the text of a terminal.
report::Table ArmTable(const SearchContext& search, const SearchPlan& plan, const Json& choice) {
  const bool wide = search.options.format != "text";
  const bool keeps = !search.tune.tune.keep.empty();
  std::vector<report::Column> columns = {{.name = "model"}, {.name = search.measure()}};
  columns.push_back({.name = "gain"});
  if (wide) columns.push_back({.name = "p"});
  columns.push_back({.name = "Holm p", .show = [](double p) { return report::PValue(p); }});
  if (keeps) columns.insert(columns.end(), {{.name = "loss"}, {.name = "border"}});
  if (wide) columns.push_back({.name = "configuration"});
  report::Table table(std::move(columns));
  std::vector<report::Cell> base = {"base", choice.at("base").get<double>()};
  table.Add(std::move(base));
  for (const Json& arm : choice.at("arms")) {
    const double gain = arm.at("gain").get<double>();
    const double half = arm.at("half_width").get<double>();
    std::vector<report::Cell> row = {arm.at("name").text(), arm.at("value").get<double>(),
                                     report::Interval{gain, gain - half, gain + half}};
    if (wide) row.emplace_back(arm.at("p").get<double>());
    row.emplace_back(arm.at("holm_p").get<double>());
    if (keeps) {
      row.emplace_back(NumberIn(arm, "loss"));
      row.emplace_back(arm.at("on_border").get<bool>() ? "yes" : "");
    }
    if (wide) row.emplace_back(ConfigurationText(plan, arm));
    table.Add(std::move(row));
  }
  return table;
}

std::string JsonOutcome(const Journal& journal) {
  Json outcome = Json::object();
  Json rows = Json::array();
  for (const Json& row : journal.rows()) {
    const std::string& event = row.at("event").text();
    if (event == "choice" || event == "test") outcome[event] = row;
    if (event != "plan" && event != "choice" && event != "test") rows.push_back(row);
  }
  outcome["rows"] = std::move(rows);
  return report::JsonText(outcome);
}

const Json* ChosenArm(const Journal& journal) {
  const Json* const choice = journal.Find("choice");
  if (choice == nullptr || !choice->contains("chosen")) return nullptr;
  return &choice->at("arms").at(choice->at("chosen").get<size_t>());
}

}  // namespace

std::string TestText(const Journal& journal, const std::string& measure) {
  const Json* const test = journal.Find("test");
  if (test == nullptr) return "";
  return fmt::format(
      "test, looked at once: {} {:.4f}, the base {:.4f} ({:+.4f} +- {:.4f}, {}, "
      "{} queries)",
      measure, test->at("value").get<double>(), test->at("base").get<double>(),
      test->at("gain").get<double>(), test->at("half_width").get<double>(),
      ProbabilityText(test->at("p").get<double>()), test->at("queries").get<int64_t>());
}

std::string OutcomeText(const SearchContext& search, const SearchPlan& plan) {
  if (search.options.format == "json") return JsonOutcome(search.journal);
  const Json& choice = *search.journal.Find("choice");
  std::string text =
      ArmTable(search, plan, choice).Format(search.options.format, search.options.style);
  if (search.options.format == "tsv") return text;
  text += fmt::format("\n{}\n", choice.at("verdict").text());
  if (const std::string test = TestText(search.journal, search.measure()); !test.empty()) {
    text += test + "\n";
  }
  if (const Json* const arm = ChosenArm(search.journal)) {
    const Json* const again = search.journal.Find("retrained");
    text += fmt::format(
        "configuration: {}\nmodel: {}\nrecipe: {}\n", ConfigurationText(plan, *arm),
        (search.folder.path() / (again != nullptr ? *again : *arm).at("model").text()).native(),
        search.folder.recipe().native());
  }
  return text;
}

void WriteChosenRecipe(const SearchContext& search) {
  const Json* const arm = ChosenArm(search.journal);
  if (arm == nullptr) return;
  const auto trial = arm->at("trial").get<int64_t>();
  const double weight = arm->at("weight").get<double>();
  const std::string trials = SoupText(*arm);
  const bool averaged = weight < 1;
  std::string head =
      fmt::format("# The choice of a search by tandem tune: {}", arm->at("name").text());
  if (trials.empty() && !averaged) head += ".\n";
  if (!trials.empty()) {
    head += fmt::format(
        ",\n# which is no model of one recipe: its weights are the mean of those of {}.\n"
        "# Below is the recipe of the best of them; the others are trials/NNN/recipe.toml.\n",
        trials);
    if (averaged) head += fmt::format("# Of that mean it has {}, of the base the rest.\n", weight);
  } else if (averaged) {
    head += fmt::format(
        ",\n# which is no model of this recipe but an average of the base and that: "
        "tandem average BASE MODEL --weight {}\n",
        weight);
  }
  WriteFileAtomically(search.folder.recipe(), head + ReadFile(search.folder.TrialRecipe(trial)));
}

}  // namespace tandem::tune
