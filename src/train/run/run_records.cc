#include "train/run/run_records.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "config/recipe/recipe_text.h"

namespace tandem::train {
namespace {

// Replaces line ends by spaces, because a line end would also end the comment that contains the
// text.
std::string OnOneLine(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

}  // namespace

std::string PortablePath(const std::string& path) {
  if (path.empty()) return path;
  const std::filesystem::path normal = std::filesystem::absolute(path).lexically_normal();
  return normal.has_filename() ? normal.filename().native()
                               : normal.parent_path().filename().native();
}

config::Recipe PortableRecipe(config::Recipe recipe) {
  recipe.output.clear();
  recipe.model.base = PortablePath(recipe.model.base);
  if (recipe.model.document_base) {
    recipe.model.document_base = PortablePath(*recipe.model.document_base);
  }
  if (recipe.model.adapter) recipe.model.adapter = PortablePath(*recipe.model.adapter);
  recipe.data.train = PortablePath(recipe.data.train);
  for (config::SourceRecipe& source : recipe.data.sources) source.path = PortablePath(source.path);
  for (config::ValidationSourceRecipe& source : recipe.validation.sources) {
    source.path = PortablePath(source.path);
  }
  if (recipe.validation.data) recipe.validation.data = PortablePath(*recipe.validation.data);
  return recipe;
}

std::string ResolvedRecipeText(const config::LoadedRecipe& loaded, const ResolvedRecord& record) {
  std::string text = fmt::format(
      "# A record of this run's recipe with every value resolved; computed by tandem {} on {}.\n"
      "# Paths are cut to their last part: to run it again, give yours.\n",
      record.version, record.isa);
  if (!record.learning_rate_note.empty()) {
    text += fmt::format("# In it {}.\n", record.learning_rate_note);
  }
  return text +
         config::FormatRecipe(PortableRecipe(loaded.recipe), loaded.recipe, loaded.catalogues);
}

std::string GivenRecipeText(const config::LoadedRecipe& loaded, std::string_view version,
                            const std::vector<std::string>& flags) {
  std::string text = fmt::format("# {} as it was given to tandem {}.\n", loaded.file, version);
  if (loaded.sets.empty() && flags.empty()) {
    text += "# Nothing was given on the command line over it.\n";
  } else {
    text += "# On the command line, over it:\n";
    for (const std::string& set : loaded.sets)
      text += fmt::format("#   --set {}\n", OnOneLine(set));
    for (const std::string& flag : flags) text += fmt::format("#   {}\n", OnOneLine(flag));
  }
  return text + "\n" + loaded.text;
}

}  // namespace tandem::train
