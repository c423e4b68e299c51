// `tandem list [CATALOGUE]`: lists the names that recipes and flags take.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/output_style.h"
#include "commands/catalogues.h"
#include "config/recipe/recipe_text.h"
#include "report/tables/table.h"

namespace tandem::app {
namespace {

struct ListOptions {
  std::string catalogue;
  std::string format = "text";
};

struct Row {
  std::string name;
  std::string summary;
};

std::vector<Row> RecipeKeyRows() {
  std::vector<Row> rows;
  for (const config::RecipeKey& key : config::DocumentedKeys()) {
    rows.push_back({key.path(), std::string(key.info.doc)});
  }
  return rows;
}

// Returns the rows of the catalogue `wanted`; for "" a row for each catalogue.
std::vector<Row> Rows(const std::string& wanted) {
  std::vector<Row> overview;
  std::vector<std::string_view> names;
  for (const config::Catalogue& catalogue : AllCatalogues()) {
    std::vector<Row> rows;
    for (const config::EntryInfo* entry : catalogue.entries) {
      rows.push_back({std::string(entry->name), std::string(entry->summary)});
    }
    if (catalogue.name == wanted) return rows;
    overview.push_back({std::string(catalogue.name), std::string(catalogue.summary)});
    names.push_back(catalogue.name);
  }
  if (wanted == "keys") return RecipeKeyRows();
  overview.push_back({"keys", "every key of a recipe"});
  names.push_back("keys");
  if (wanted.empty()) return overview;
  throw UsageError("catalogue " + config::UnknownName(wanted, names));
}

void PrintList(const std::vector<Row>& rows, const std::string& format) {
  report::Table table({{.name = "name", .when_long = report::LongText::kKeep},
                       {.name = "summary", .when_long = report::LongText::kWrap}},
                      {.heading = false});
  for (const Row& row : rows) table.Add({row.name, row.summary});
  fmt::print("{}", table.Format(format, OutputStyle()));
}

CommandBody ConfigureList(Flags& flags) {
  const auto options = std::make_shared<ListOptions>();
  std::string names;
  for (const config::Catalogue& catalogue : AllCatalogues()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", catalogue.name);
  }
  flags
      .Add("catalogue", options->catalogue,
           fmt::format("{} or keys; without it, the catalogues themselves", names))
      .Takes("CATALOGUE");
  flags.Add("--format", options->format, "text, tsv or json")
      .OneOf({"text", "tsv", "json"})
      .ShowDefault();
  return [options](const Globals&) { PrintList(Rows(options->catalogue), options->format); };
}

constexpr Example kListExamples[] = {
    {"tandem list objectives", "Name all objectives"},
    {"tandem list keys --format tsv", "Name all keys of recipes, for programs"},
};

}  // namespace

extern const Command kListCommand{
    {.name = "list", .summary = "List objectives, measures, recipe keys and other names"},
    ConfigureList,
    kListExamples};

}  // namespace tandem::app
