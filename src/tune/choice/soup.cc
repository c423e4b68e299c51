#include "tune/choice/soup.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "base/error.h"
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

std::vector<int64_t> NumbersOf(const Json& trials) {
  std::vector<int64_t> numbers;
  for (const Json& trial : trials) numbers.push_back(trial.get<int64_t>());
  return numbers;
}

ArmPlace TrialPlace(const SearchContext& search, int64_t trial) {
  ArmPlace place;
  place.trials = {trial};
  place.model = search.folder.TrialRun(trial) / "model";
  return place;
}

// The soup with one trial more, where its parts are.
ArmPlace With(const SearchContext& search, const ArmPlace& soup, const ArmPlace& next) {
  const fs::path folder = search.folder.Soup(next.trials.front());
  ArmPlace joined{
      .name = "", .trials = soup.trials, .model = folder / "model", .values = folder / "dev.jsonl"};
  joined.trials.push_back(next.trials.front());
  joined.name = fmt::format("soup of {} trials", joined.trials.size());
  return joined;
}

// Makes the mean of a soup and one trial more; everything but its weights is the soup's.
std::string MakeMean(const SearchContext& search, const fs::path& soup, const fs::path& next,
                     const ArmPlace& joined) {
  const auto members = static_cast<double>(joined.trials.size());
  return MakeAverage(search, {.base = next,
                              .tuned = soup,
                              .weight = (members - 1) / members,
                              .output = joined.model,
                              .of = TrialNames(joined.trials)});
}

const Json& AddSoupRow(const SearchContext& search, const ArmPlace& soup, const ArmPlace& next,
                       const ArmPlace& joined) {
  Json row = {{"event", "soup"}, {"trial", next.trials.front()}};
  const std::string why = MakeMean(search, soup.model, next.model, joined);
  if (!why.empty()) {
    row["why"] = why.substr(0, why.find("; "));  // then comes advice to who names the two himself
    return search.journal.Append([&] { return row; });
  }
  const train::Validated found =
      search.measurer.Measure(joined.model, train::SettingsOf::kFolder, search.options.stop);
  return search.journal.Append([&] {
    WriteQueryValues(joined.values, found.queries);
    row["value"] = found.value;
    row["joins"] = found.value >= MeanOf(ReadQueryValues(soup.values));
    return row;
  });
}

void TellOf(const SearchContext& search, const ArmPlace& next, const Json& row) {
  if (row.contains("why")) {
    Warn(fmt::format("{} is not in the soup, since its weights and the soup's have no mean: {}",
                     next.name, row.at("why").text()));
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

// Makes a soup again where somebody removed it, as it was made.
void RestoreModel(const SearchContext& search, const ArmPlace& soup) {
  if (soup.trials.size() == 1) return;
  const bool there = search.leads() && fs::exists(soup.model);
  if (!search.group().BroadcastBytes(there ? "there" : "").empty()) return;
  ArmPlace made = TrialPlace(search, soup.trials.front());
  for (size_t i = 1; i < soup.trials.size(); ++i) {
    const ArmPlace next = TrialPlace(search, soup.trials[i]);
    const ArmPlace joined = With(search, made, next);
    const std::string why = MakeMean(search, made.model, next.model, joined);
    if (!why.empty()) throw ModelError(joined.model.native(), "", why);
    if (i > 1) RemoveModel(search, made.model);
    made = joined;
  }
}

}  // namespace

void AddSoup(const SearchContext& search, std::vector<ArmPlace>* arms) {
  if (!MakesSoup(search.tune.tune) || arms->size() < 2) return;
  ArmPlace soup = arms->front();
  for (size_t i = 1; i < arms->size(); ++i) {
    const ArmPlace& next = (*arms)[i];
    const ArmPlace joined = With(search, soup, next);
    const Json* row = FindSoup(search.journal, next.trials.front());
    if (row == nullptr) {
      RestoreModel(search, soup);
      row = &AddSoupRow(search, soup, next, joined);
      TellOf(search, next, *row);
    }
    if (row->contains("why")) continue;
    const bool joins = row->at("joins").get<bool>();
    if (!joins || soup.trials.size() > 1) RemoveModel(search, joins ? soup.model : joined.model);
    if (joins) soup = joined;
  }
  if (soup.trials.size() == 1) return;
  RestoreModel(search, soup);
  arms->push_back(soup);
}

void RestoreSoup(const SearchContext& search, const Json& arm) {
  const Json* const trials = arm.Find("trials");
  if (trials == nullptr || arm.at("weight").get<double>() != 1) return;
  ArmPlace soup;
  soup.trials = NumbersOf(*trials);
  soup.model = search.folder.Soup(soup.trials.back()) / "model";
  RestoreModel(search, soup);
}

std::string SoupText(const Json& arm) {
  const Json* const trials = arm.Find("trials");
  return trials == nullptr ? "" : TrialNames(NumbersOf(*trials));
}

}  // namespace tandem::tune
