#include "config/suite.h"

#include <fmt/format.h>

#include "base/files/files.h"
#include "config/recipe/field_info.h"
#include "config/recipe/recipe_reader.h"

namespace tandem::config {
namespace {

constexpr double kMostDocuments = 4294967295;

void ReadModel(SuiteModel& model, std::string_view path, RecipeReader& reader) {
  reader.Table(path, "");
  reader.Field("path", model.path, {.doc = "model folder", .required = true});
  reader.Field("name", model.name, {});
  reader.Field("query_prompt", model.query_prompt, {});
}

void ReadSet(SuiteSet& set, std::string_view path, RecipeReader& reader) {
  reader.Table(path, "");
  reader.Field("path", set.path, {.doc = "BEIR folder", .required = true});
  reader.Field("name", set.name, {});
  reader.Field("split", set.split, {});
  reader.Field("candidates", set.candidates, {});
  reader.Field("pool", set.pool, {.unit = "documents", .range = {1, kMostDocuments}});
  reader.Field("query_prompt", set.query_prompt, {});
  reader.Field("document_prompt", set.document_prompt, {});
}

void CheckSets(const Suite& suite, RecipeReader& reader) {
  if (suite.sets.empty() && !reader.Find("set")) {
    reader.Complain("set", "is missing: write [[set]] and a path over each data set");
  }
  for (size_t i = 0; i < suite.sets.size(); ++i) {
    const std::string set = fmt::format("set.{}", i + 1);
    for (const char* key : {".pool", ".query_prompt", ".document_prompt"}) {
      reader.Exclude(set + ".candidates", set + key);
    }
  }
}

}  // namespace

RecipeError LoadedSuite::ErrorAt(std::string_view key, std::string_view problem) const {
  const std::string message = fmt::format("{} {}", key, problem);
  const auto found = positions.find(key);
  if (found == positions.end()) return RecipeError(file, 0, 0, key, message);
  return RecipeError(file, found->second.line, found->second.column, key, message);
}

LoadedSuite ParseSuite(std::string_view text, std::string_view name) {
  std::vector<TomlLayer> layers;
  layers.push_back(ParseFileLayer(text, name));  // a copy of a table would forget its positions
  LoadedSuite loaded{.file = std::string(name)};
  Suite& suite = loaded.suite;
  RecipeReader reader(layers, {});
  suite.models.resize(reader.LengthOf("model"));
  suite.sets.resize(reader.LengthOf("set"));
  reader.Table("", "");
  reader.Field("measures", suite.measures, {});
  reader.List("model", suite.models, [&reader](SuiteModel& model, std::string_view path) {
    ReadModel(model, path, reader);
  });
  reader.List("set", suite.sets,
              [&reader](SuiteSet& set, std::string_view path) { ReadSet(set, path, reader); });
  CheckSets(suite, reader);
  reader.CheckUnknownKeys();
  reader.ThrowFirstMistake();
  loaded.positions = reader.Positions();
  return loaded;
}

LoadedSuite LoadSuite(const std::filesystem::path& file) {
  std::string text;
  try {
    text = ReadFile(file);
  } catch (const DataError& error) {  // a wrong path to a suite is a usage error
    throw UsageError(error.what());
  }
  return ParseSuite(text, file.native());
}

}  // namespace tandem::config
