#include "tune/choice/soup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/log.h"
#include "tune/choice/averages.h"
#include "tune/query_values.h"

namespace tandem::tune {
namespace {

namespace fs = std::filesystem;

bool MakesSoup(const config::TuneRecipe& tune) { return tune.soup.value_or(!tune.retrain); }

const Json* FindSoup(const Journal& journal, int64_t trial) {
  for (const Json* row : journal.All("soup")) {
    if (row->at("trial").get<int64_t>() == trial) return row;
  }
  return nullptr;
}

// A soup so far, and its value.
struct Soup {
  ArmPlace arm;
  double value = 0;
};

// The soup with one trial more, where its parts are.
ArmPlace With(const SearchContext& search, const ArmPlace& soup, const ArmPlace& next) {
  const fs::path folder = search.folder.Soup(next.trials.front());
  ArmPlace joined{
      .name = "", .trials = soup.trials, .model = folder / "model", .values = folder / "dev.jsonl"};
  joined.trials.push_back(next.trials.front());
  joined.name = fmt::format("soup of {} trials", joined.trials.size());
  return joined;
}

const Json& AddSoupRow(const SearchContext& search, const Soup& soup, const ArmPlace& next,
                       const ArmPlace& joined) {
  Json row = {{"event", "soup"}, {"trial", next.trials.front()}};
  const auto members = static_cast<double>(soup.arm.trials.size());
  const std::string why = MakeAverage(search, {.base = next.model,
                                               .tuned = soup.arm.model,
                                               .weight = members / (members + 1),
                                               .output = joined.model});
  if (!why.empty()) {
    row["why"] = why;
    return search.journal.Append([&] { return row; });
  }
  const train::Validated found =
      search.measurer.Measure(joined.model, train::SettingsOf::kFolder, search.options.stop);
  return search.journal.Append([&] {
    WriteQueryValues(joined.values, found.queries);
    row["value"] = found.value;
    row["joins"] = found.value >= soup.value;
    return row;
  });
}

void TellOf(const SearchContext& search, const ArmPlace& next, const Json& row) {
  if (row.contains("why")) {
    Warn(fmt::format("{} is not tried in a soup: {}", next.name, row.at("why").text()));
    return;
  }
  Note(fmt::format("the soup with {}: {} {:.4f}, which {}", next.name, search.measure(),
                   row.at("value").get<double>(),
                   row.at("joins").get<bool>() ? "stays" : "does not stay"));
}

// A mean that did not stay, or one that a larger took the place of.
void RemoveModel(const SearchContext& search, const fs::path& model) {
  if (!search.leads()) return;
  std::error_code error;  // what cannot be removed only takes room
  fs::remove_all(model, error);
}

}  // namespace

void AddSoup(const SearchContext& search, std::vector<ArmPlace>* arms) {
  if (!MakesSoup(search.tune.tune) || arms->size() < 2) return;
  Soup soup{.arm = arms->front(), .value = MeanOf(ReadQueryValues(arms->front().values))};
  for (size_t i = 1; i < arms->size(); ++i) {
    const ArmPlace& next = (*arms)[i];
    const ArmPlace joined = With(search, soup.arm, next);
    const Json* row = FindSoup(search.journal, next.trials.front());
    if (row == nullptr) {
      row = &AddSoupRow(search, soup, next, joined);
      TellOf(search, next, *row);
    }
    if (row->contains("why")) continue;
    const bool joins = row->at("joins").get<bool>();
    if (!joins || soup.arm.trials.size() > 1) {
      RemoveModel(search, joins ? soup.arm.model : joined.model);
    }
    if (joins) soup = {joined, row->at("value").get<double>()};
  }
  if (soup.arm.trials.size() > 1) arms->push_back(soup.arm);
}

size_t CountRejectedSoups(const Journal& journal, const std::vector<ArmPlace>& arms) {
  size_t measured = 0;
  for (const Json* row : journal.All("soup")) measured += row->contains("value") ? 1 : 0;
  const bool has_soup = std::any_of(arms.begin(), arms.end(), [](const ArmPlace& arm) {
    return arm.trials.size() > 1 && arm.weight == 1;
  });
  return measured - (has_soup ? 1 : 0);
}

std::string SoupText(const Json& arm) {
  const Json* const trials = arm.Find("trials");
  if (trials == nullptr) return "";
  std::string text;
  for (const Json& trial : *trials) {
    text += fmt::format("{}{}", text.empty() ? "trials " : ", ", trial.get<int64_t>());
  }
  return text;
}

}  // namespace tandem::tune
