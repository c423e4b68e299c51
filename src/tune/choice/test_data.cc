#include "tune/choice/test_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "data/judgements/judged_data.h"

namespace tandem::tune {
namespace {

bool SamePath(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) && !error;
}

[[noreturn]] void RefuseTest(const config::LoadedTune& tune, const std::string& problem) {
  throw tune.recipe.ErrorAt(
      "tune.test",
      fmt::format("{}; give data that nothing is chosen by, or leave it out", problem));
}

void CheckPaths(const config::LoadedTune& tune) {
  const config::Recipe& recipe = tune.recipe.recipe;
  const std::string& test = *tune.tune.test;
  const std::string& split = tune.tune.test_split;
  if (recipe.validation.data && SamePath(*recipe.validation.data, test) &&
      recipe.validation.split == split) {
    RefuseTest(tune, fmt::format("is split {} of {}, by which the search chooses", split, test));
  }
  for (const std::string& folder : tune.tune.keep) {
    if (!SamePath(folder, test) || tune.tune.keep_split != split) continue;
    RefuseTest(tune, fmt::format("is split {} of {}, which tune.keep measures every model on",
                                 split, test));
  }
  if (recipe.data.sources.empty() && SamePath(recipe.data.train, test) &&
      recipe.data.split == split) {
    RefuseTest(tune, fmt::format("is split {} of {}, which is trained on", split, test));
  }
}

using TextSet = std::unordered_set<std::string>;

// In lower case (of ASCII), each run of white space as one blank: a copy that differs in these
// alone is the same query.
std::string Comparable(std::string_view text) {
  std::string same;
  for (const char c : text) {
    const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
    if (blank && (same.empty() || same.back() == ' ')) continue;
    same += blank ? ' ' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (same.ends_with(' ')) same.pop_back();
  return same;
}

// The texts of the judged queries among `queries`.
TextSet TextsOf(const data::Texts& queries, const std::vector<data::JudgedQuery>& judged) {
  TextSet texts;
  for (const data::JudgedQuery& query : judged) texts.insert(Comparable(queries.text(query.query)));
  return texts;
}

TextSet TrainingTexts(const train::RunData& data) {
  TextSet texts;
  for (const uint32_t example : data.training) {
    texts.insert(Comparable(data.set.queries.text(data.set.examples[example].query)));
  }
  return texts;
}

size_t CountShared(const TextSet& texts, const TextSet& seen) {
  return static_cast<size_t>(
      std::count_if(texts.begin(), texts.end(),
                    [&seen](const std::string& text) { return seen.contains(text); }));
}

void CheckTexts(const config::LoadedTune& tune, const TextSet& test, const TextSet& seen,
                const char* what) {
  const size_t shared = CountShared(test, seen);
  if (shared == 0) return;
  if (2 * shared >= test.size()) {
    RefuseTest(tune, fmt::format("has {} queries, of which {} are {} queries too", test.size(),
                                 shared, what));
  }
  Warn(
      fmt::format("{} of the {} queries of tune.test have the text of {} queries; the test is too "
                  "kind by these",
                  shared, test.size(), what));
}

// What is learned by heart is a gain on itself alone, which tests over its queries do not notice.
void RemarkOnValidation(const TextSet& validation, const TextSet& training) {
  const size_t shared = CountShared(validation, training);
  if (shared == 0) return;
  Warn(
      fmt::format("{} of the {} validation queries are training queries too: what the search "
                  "gains on these says nothing of other queries. Validate by queries that are not "
                  "trained on",
                  shared, validation.size()));
}

// Throws where a sentinel set has the queries of the test.
void CheckCopies(const config::LoadedTune& tune, const TextSet& test) {
  for (const std::string& folder : tune.tune.keep) {
    const data::JudgedData kept = data::LoadJudgedData(folder, tune.tune.keep_split);
    const size_t shared = CountShared(test, TextsOf(kept.dataset.queries, kept.dataset.judged));
    if (2 * shared < test.size()) continue;
    RefuseTest(tune, fmt::format("has {} queries, of which {} are in split {} of {} too, which "
                                 "tune.keep measures every model on",
                                 test.size(), shared, tune.tune.keep_split, folder));
  }
}

// Throws where a sentinel set is what the search chooses by or trains on.
void CheckSentinels(const config::LoadedTune& tune) {
  const config::Recipe& recipe = tune.recipe.recipe;
  const std::string& split = tune.tune.keep_split;
  const auto refuse = [&](const std::string& folder, const char* what) {
    throw tune.recipe.ErrorAt(
        "tune.keep", fmt::format("names split {} of {}, {}; name data of another kind, or another "
                                 "tune.keep_split",
                                 split, folder, what));
  };
  for (const std::string& folder : tune.tune.keep) {
    if (recipe.validation.data && SamePath(*recipe.validation.data, folder) &&
        recipe.validation.split == split) {
      refuse(folder, "by which the search chooses");
    }
    if (recipe.data.sources.empty() && SamePath(recipe.data.train, folder) &&
        recipe.data.split == split) {
      refuse(folder, "which is trained on");
    }
  }
}

}  // namespace

void CheckTestData(const config::LoadedTune& tune, const train::RunData& data) {
  CheckSentinels(tune);
  const train::JudgedCorpus corpus = data.ValidationCorpus();
  const TextSet validation = TextsOf(*corpus.queries, corpus.judged);
  const TextSet training = TrainingTexts(data);
  RemarkOnValidation(validation, training);
  if (!tune.tune.test) return;
  CheckPaths(tune);
  const data::JudgedData test = data::LoadJudgedData(*tune.tune.test, tune.tune.test_split);
  const TextSet tested = TextsOf(test.dataset.queries, test.dataset.judged);
  CheckTexts(tune, tested, validation, "validation");
  CheckTexts(tune, tested, training, "training");
  CheckCopies(tune, tested);
}

}  // namespace tandem::tune
