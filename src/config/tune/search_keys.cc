#include "config/tune/search_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "base/suggest.h"
#include "config/recipe/recipe_reader.h"
#include "config/recipe/recipe_text.h"

namespace tandem::config {
namespace {

// Values of one key where [tune] gives them.
struct GivenKey {
  std::string path;
  const TomlLayer* layer = nullptr;
  const toml::node* node = nullptr;
};

[[noreturn]] void ComplainOfKey(const GivenKey& key, const toml::node& at, std::string problem) {
  const RecipePosition position = RecipeReader::PositionOf(*key.layer, at);
  const std::string path = key.path.empty() ? "tune" : "tune." + key.path;
  throw RecipeError(position.source, position.line, position.column, path,
                    fmt::format("{} {}", path, problem));
}

bool IsRangeTable(const toml::table& table) {
  return table.contains("from") || table.contains("to");
}

bool IsTuneKey(std::string_view name) {
  return std::find(std::begin(kTuneKeys), std::end(kTuneKeys), name) != std::end(kTuneKeys);
}

// Adds the keys below `table` to `given`; a later layer's takes the place of an earlier one's.
void CollectKeys(const TomlLayer& layer, const toml::table& table, const std::string& prefix,
                 std::map<std::string, GivenKey>* given) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (prefix.empty() && IsTuneKey(name)) continue;
    const std::string path = prefix.empty() ? name : prefix + "." + name;
    const toml::table* inner = node.as_table();
    if (inner != nullptr && !IsRangeTable(*inner)) {
      CollectKeys(layer, *inner, path, given);
    } else {
      (*given)[path] = {path, &layer, &node};
    }
  }
}

// Why a key that recipes have cannot be searched; "" where it can.
std::string WhyNotSearched(const RecipeKey& key) {
  const std::string path = key.path();
  constexpr std::string_view kMeaning[] = {
      "data.format",      "data.split",      "data.positive_grade", "data.binarize_at",
      "data.scores",      "data.labels",     "data.ignore_columns", "data.ids",
      "data.flip_labels", "data.swap_labels"};
  if (path == "seed") return "the seed: `tandem train --seeds` tells how much it changes";
  if (key.table == "validation") return "trials are compared by the same measure on the same data";
  if (path == "model.base" || path == "data.train" || path == "data.limit" || !key.list.empty()) {
    return "the base model and the data are the same for all trials";
  }
  if (std::find(std::begin(kMeaning), std::end(kMeaning), path) != std::end(kMeaning)) {
    return "it says what the data mean, which is the same for all trials";
  }
  const bool computing = path == "threads" || path == "device" || path == "precision" ||
                         path == "train.reduce" || key.table == "logging";
  if (computing || key.on_resume == OnResume::kMayChange) {
    return "it changes how a run is computed or kept, not what it learns";
  }
  return "";
}

// What is known of the keys of all recipes that the search may make.
class KnownKeys {
 public:
  KnownKeys(const Recipe& recipe, const std::map<std::string, GivenKey>& given,
            RecipeCatalogues catalogues) {
    std::vector<Recipe> variants = {recipe};
    for (const Catalogue& catalogue : catalogues) {
      const auto named = given.find(std::string(catalogue.table) + ".name");
      if (!catalogue.table.empty() && named != given.end()) {
        variants = WithEntries(variants, catalogue, named->second);
      }
    }
    for (const Recipe& variant : variants) AddKeysOf(variant);
    for (const auto& [path, keys] : keys_) {
      if (WhyNotSearched(keys.front()).empty()) names_.push_back(path);
    }
  }

  // The key in each recipe that has it; at least one. Throws for a key that cannot be searched.
  const std::vector<RecipeKey>& Find(const GivenKey& given) const {
    const auto found = keys_.find(given.path);
    if (found == keys_.end()) {
      ComplainOfTable(given);
      std::vector<std::string_view> names = names_;
      names.insert(names.end(), std::begin(kTuneKeys), std::end(kTuneKeys));
      ComplainOfKey(given, *given.node,
                    "is unknown: no recipe of this search has it" + DidYouMean(given.path, names));
    }
    if (std::string why = WhyNotSearched(found->second.front()); !why.empty()) {
      ComplainOfKey(given, *given.node, "cannot be searched: " + why);
    }
    return found->second;
  }

 private:
  // Throws where the key is a table of recipes, with a key to search in its place: its entry's
  // name, or the first that works without another key.
  void ComplainOfTable(const GivenKey& given) const {
    const std::string inside = given.path + ".";
    std::string_view inner;
    bool is_table = false;
    for (const auto& [path, keys] : keys_) {
      if (!path.starts_with(inside)) continue;
      is_table = true;
      if (!WhyNotSearched(keys.front()).empty()) continue;
      if (path == inside + "name") inner = path;
      if (inner.empty() && keys.front().condition.empty()) inner = path;
    }
    if (!is_table) return;
    ComplainOfKey(given, *given.node,
                  inner.empty() ? "is a table of recipes, in which no key can be searched"
                                : fmt::format("is a table of recipes; name one of its keys, like "
                                              "tune.{}",
                                              inner));
  }

  static std::vector<Recipe> WithEntries(const std::vector<Recipe>& recipes,
                                         const Catalogue& catalogue, const GivenKey& given) {
    const toml::array* names = given.node->as_array();
    if (names == nullptr || names->empty()) {
      ComplainOfKey(given, *given.node, "must be a list of names with at least one");
    }
    std::vector<Recipe> all;
    for (const toml::node& node : *names) {
      const std::string name = node.value_or(std::string());
      const EntryInfo* entry =
          FindEntry(std::span<const EntryInfo* const>(catalogue.entries), name);
      if (entry == nullptr) {
        ComplainOfKey(
            given, node,
            "has " + UnknownName(name,
                                 EntryNames(std::span<const EntryInfo* const>(catalogue.entries))));
      }
      for (Recipe recipe : recipes) {
        EntryRecipe* const to = EntryOf(recipe, catalogue.table);
        to->name = name;
        to->params = Params(entry->params);
        all.push_back(std::move(recipe));
      }
    }
    return all;
  }

  void AddKeysOf(const Recipe& recipe) {
    for (RecipeKey& key : RecipeKeys(recipe)) {
      std::vector<RecipeKey>& known = keys_[key.path()];
      const auto same = [&key](const RecipeKey& other) {
        return other.info.range == key.info.range && other.info.kind == key.info.kind;
      };
      if (std::none_of(known.begin(), known.end(), same)) known.push_back(std::move(key));
    }
  }

  std::map<std::string, std::vector<RecipeKey>, std::less<>> keys_;
  std::vector<std::string_view> names_;
};

// One value as TOML writes it. Throws where a recipe that has the key does not take it.
std::string CheckedText(const GivenKey& given, const toml::node& node,
                        const std::vector<RecipeKey>& keys) {
  const ParamKind kind = keys.front().info.kind;
  const Value raw = ValueOf(node, kind);
  if (std::holds_alternative<std::monostate>(raw)) {
    ComplainOfKey(given, node,
                  fmt::format("has a value that must be {}, found {}", KindPhrase(kind),
                              NodeKindName(node, kind)));
  }
  if (keys.front().names_entry) return FormatValue(raw);  // its name is checked already
  std::string text;
  for (const RecipeKey& key : keys) {
    const CheckedValue checked = CheckValue(key.info, raw);
    if (!checked.problem.empty()) {
      ComplainOfKey(given, node, "has a value that " + checked.problem);
    }
    text = FormatValue(checked.value);
  }
  if (text.empty()) text = "[]";  // an empty list, which is "not set" for FormatValue
  return text;
}

SearchKey ListOfValues(const GivenKey& given, const toml::array& list,
                       const std::vector<RecipeKey>& keys) {
  SearchKey key{.path = given.path};
  if (list.empty()) ComplainOfKey(given, list, "has no value; list at least one");
  for (const toml::node& node : list) {
    std::string text = CheckedText(given, node, keys);
    if (std::find(key.values.begin(), key.values.end(), text) != key.values.end()) {
      ComplainOfKey(given, node, fmt::format("has the value {} twice", text));
    }
    key.values.push_back(std::move(text));
  }
  return key;
}

SearchKey RangeOfValues(const GivenKey& given, const toml::table& table,
                        const std::vector<RecipeKey>& keys) {
  const ParamKind kind = keys.front().info.kind;
  if (kind != ParamKind::kNumber && kind != ParamKind::kInteger) {
    ComplainOfKey(given, table, "is no number, which a range needs; give a list of values");
  }
  for (const auto& [name, node] : table) {
    if (name.str() == "from" || name.str() == "to" || name.str() == "log") continue;
    ComplainOfKey(
        given, node,
        fmt::format("is a range, whose {} is unknown; known are from, to, log", name.str()));
  }
  SearchKey key{.path = given.path, .whole = kind == ParamKind::kInteger};
  for (const char* end : {"from", "to"}) {
    const toml::node* const node = table.get(end);
    if (node == nullptr) ComplainOfKey(given, table, fmt::format("is a range without `{}`", end));
    CheckedText(given, *node, keys);
    (end[0] == 'f' ? key.range.minimum : key.range.maximum) = node->value_or(0.0);
  }
  if (const toml::node* const log = table.get("log")) {
    if (!log->is_boolean()) ComplainOfKey(given, *log, "has a `log` that is not true or false");
    key.logarithmic = log->value_or(false);
  }
  if (!(key.range.minimum < key.range.maximum)) {
    ComplainOfKey(given, table,
                  fmt::format("is a range from {} to {}; the first must be below the second",
                              key.range.minimum, key.range.maximum));
  }
  if (key.logarithmic && key.range.minimum <= 0) {
    ComplainOfKey(given, table, "is a logarithmic range, which must begin above 0");
  }
  return key;
}

}  // namespace

EntryRecipe* EntryOf(Recipe& recipe, std::string_view table) {
  if (table == "sampling") return &recipe.sampling;
  if (table == "objective") return &recipe.objective;
  if (table == "optimizer") return &recipe.optimizer;
  if (table == "schedule") return &recipe.schedule;
  return nullptr;
}

std::vector<SearchKey> ReadSearchKeys(std::span<const TomlLayer> layers, const Recipe& recipe,
                                      RecipeCatalogues catalogues, RecipePositions* positions) {
  std::map<std::string, GivenKey> given;
  for (const TomlLayer& layer : layers) {
    const toml::node* const node = FindNode(layer, "tune");
    if (node == nullptr) continue;
    if (!node->is_table()) {
      ComplainOfKey({"", &layer, node}, *node, "is a table: write [tune]");
    }
    CollectKeys(layer, *node->as_table(), "", &given);
  }
  const KnownKeys known(recipe, given, catalogues);
  for (const auto& [first, second] : kEitherKey) {
    const auto one = given.find(std::string(first)), other = given.find(std::string(second));
    if (one == given.end() || other == given.end()) continue;
    ComplainOfKey(
        other->second, *other->second.node,
        fmt::format("cannot be searched beside tune.{}: a recipe has one of them", first));
  }
  const std::string_view length = recipe.train.steps ? "train.steps" : "train.epochs";
  const auto other_length = given.find(recipe.train.steps ? "train.epochs" : "train.steps");
  if (other_length != given.end()) {
    ComplainOfKey(other_length->second, *other_length->second.node,
                  fmt::format("cannot be searched around a recipe whose length is {}: a budget "
                              "could not be kept. Search {}, or change the recipe",
                              length, length));
  }
  std::vector<SearchKey> keys;
  for (const auto& [path, key] : given) {
    const std::vector<RecipeKey>& infos = known.Find(key);
    (*positions)["tune." + path] = RecipeReader::PositionOf(*key.layer, *key.node);
    if (const toml::array* const list = key.node->as_array()) {
      keys.push_back(ListOfValues(key, *list, infos));
    } else if (const toml::table* const range = key.node->as_table()) {
      keys.push_back(RangeOfValues(key, *range, infos));
    } else {
      ComplainOfKey(key, *key.node,
                    "must be a list of values, or a range { from = 1, to = 2, log = false }");
    }
  }
  return keys;
}

}  // namespace tandem::config
