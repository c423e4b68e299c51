// Reads a recipe's keys from layers of TOML; a part of recipe_parse.cc.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "config/recipe/recipe_fields.h"
#include "config/recipe/recipe_parse.h"
#include "config/recipe/recipe_text.h"
#include "config/recipe/recipe_values.h"
#include "config/recipe/toml_layer.h"

namespace tandem::config {

struct Mistake {
  size_t layer = 0;
  int line = 0;
  int column = 0;
  std::string key;
  std::string problem;
  bool missing = false;

  // A missing key comes last: more often another key is misspelt, and that one should be named.
  auto Order() const { return std::tuple(missing, layer, line, column); }
};

struct Found {
  size_t layer = 0;
  const toml::node* node = nullptr;
};

// Fills a recipe from layers of TOML; the last layer that has a key wins. It gathers all mistakes,
// so that the caller can report the first one in the order of the file, not in the order in which
// this class visits the fields.
class RecipeReader {
 public:
  RecipeReader(std::span<const TomlLayer> layers, RecipeCatalogues catalogues)
      : layers_(layers), catalogues_(catalogues) {}

  void Table(std::string_view path, std::string_view) {
    table_ = *tables_.emplace(path).first;  // `path` may be gone before the table's fields are
    for (size_t end = path.find('.'); end != std::string_view::npos;
         end = path.find('.', end + 1)) {
      tables_.emplace(path.substr(0, end));
    }
  }

  // `items` has one for each table of the list, as LengthOf says.
  template <typename T, typename Visit>
  void List(std::string_view path, std::vector<T>& items, const Visit& visit) {
    lists_.emplace(path);
    for (size_t i = 0; i < items.size(); ++i) visit(items[i], fmt::format("{}.{}", path, i + 1));
  }

  // Says how many tables the list at `path` has. Only the file can give a list; a `--set` gives a
  // key of one of its tables.
  size_t LengthOf(std::string_view path) const {
    const toml::node* node = FindNode(layers_.front(), path);
    const toml::array* list = node == nullptr ? nullptr : node->as_array();
    return list == nullptr ? 0 : list->size();
  }

  template <typename T>
  void Field(std::string_view name, T& value, const FieldInfo& field) {
    if (const std::optional<Value> read = Read(MakeParamInfo<T>(name, field), field.required)) {
      AssignValue(*read, field.unit, value);
    }
  }

  void Entry(EntryRecipe& entry, const FieldInfo& field) {
    const std::optional<Value> read =
        Read(MakeParamInfo<std::string>("name", field), field.required);
    if (read) entry.name = std::get<std::string>(*read);
    const EntryInfo* info = FindNamed(entry.name, read || !field.required);
    if (info == nullptr) return;
    entry.params = Params(info->params);
    for (const ParamInfo& param : info->params) {
      if (const std::optional<Value> value = Read(param, false)) {
        entry.params.Set(param.name, *value);
      }
    }
    if (info->problem == nullptr) return;
    const ParamProblem problem = info->problem(entry.params);
    if (!problem.text.empty()) Complain(Key(problem.name), problem.text);
  }

  // Takes a table that somebody else reads as known, with all that is in it.
  void LeaveTable(std::string_view path) { left_tables_.emplace(path); }

  void CheckUnknownKeys() {
    for (size_t layer = 0; layer < layers_.size(); ++layer) Walk(layer, layers_[layer].table, "");
  }

  // Says of each key of the file that it belongs to another entry of a catalogue than the one that
  // a `--set` names, and is dropped therefore. CheckUnknownKeys finds them.
  const std::vector<std::string>& LeftOver() const { return left_over_; }

  // Serves two keys of which a recipe may give one. Where the file and a `--set` give one each,
  // returns the file's, which the caller drops. Where the same layer gives both, complains.
  // Otherwise returns "".
  std::string_view Exclude(std::string_view first, std::string_view second) {
    const std::optional<Found> a = Find(first);
    const std::optional<Found> b = Find(second);
    if (!a || !b) return "";
    const bool both_set = layers_[a->layer].is_set && layers_[b->layer].is_set;
    if (a->layer == b->layer || both_set) {
      const auto later = std::tuple(a->layer, a->node->source().begin.line) <
                                 std::tuple(b->layer, b->node->source().begin.line)
                             ? std::pair(second, first)
                             : std::pair(first, second);
      Complain(later.first, fmt::format("contradicts {}; give one of them", later.second));
      return "";
    }
    return a->layer < b->layer ? first : second;
  }

  void Complain(std::string_view path, std::string problem) {
    const Found found = Find(path).value_or(Found{0, nullptr});
    AddMistake(found.layer,
               found.node != nullptr ? found.node->source().begin : toml::source_position(), path,
               std::move(problem));
  }

  // Complains about keys that are set and do nothing in `recipe`, which this has filled. A key of
  // the file that does something as long as no `--set` is given is left in peace: `--set` took it
  // out of use.
  void CheckIdleKeys(const Recipe& recipe) {
    for (const RecipeKey& key : RecipeKeys(recipe, catalogues_)) {
      const std::optional<Found> found = key.idle.empty() ? std::nullopt : Find(key.path());
      if (!found || (found->layer == 0 && !IsIdleAlone(key.path()))) continue;
      Complain(key.path(), fmt::format("does nothing here: {}", key.idle));
    }
  }

  // Throws the first mistake in the order of the layers and of their text, if there is one.
  void ThrowFirstMistake() const {
    if (mistakes_.empty()) return;
    const Mistake& first =
        *std::min_element(mistakes_.begin(), mistakes_.end(),
                          [](const Mistake& a, const Mistake& b) { return a.Order() < b.Order(); });
    throw RecipeError(layers_[first.layer].source, first.line, first.column, first.key,
                      first.problem);
  }

  // The place of each key that was given.
  RecipePositions Positions() const {
    RecipePositions positions;
    for (const std::string& key : keys_) {
      const std::optional<Found> found = Find(key);
      if (found) positions[key] = PositionOf(layers_[found->layer], *found->node);
    }
    return positions;
  }

  static RecipePosition PositionOf(const TomlLayer& layer, const toml::node& node) {
    const toml::source_position& begin = node.source().begin;
    return {layer.source, layer.is_set ? 0 : static_cast<int>(begin.line),
            layer.is_set ? 0 : static_cast<int>(begin.column)};
  }

  // Says whether a layer has the table without any key in it.
  bool HasEmptyTable(std::string_view path) const {
    const std::optional<Found> found = Find(path);
    return found && found->node->is_table() && found->node->as_table()->empty();
  }

  std::optional<Found> Find(std::string_view path) const {
    for (size_t layer = layers_.size(); layer-- > 0;) {
      if (const toml::node* node = FindNode(layers_[layer], path)) return Found{layer, node};
    }
    return std::nullopt;
  }

 private:
  std::string Key(std::string_view name) const {
    return table_.empty() ? std::string(name) : fmt::format("{}.{}", table_, name);
  }

  // The entry `name` of the table's catalogue; nullptr where there is none, with a complaint where
  // `complain`.
  const EntryInfo* FindNamed(const std::string& name, bool complain) {
    const Catalogue* catalogue = FindCatalogue(catalogues_, table_);
    std::span<const EntryInfo* const> entries;
    if (catalogue != nullptr) entries = catalogue->entries;
    const EntryInfo* info = FindEntry(entries, name);
    if (info != nullptr) {
      notes_[std::string(table_)] = fmt::format(" for the {} {}", catalogue->entry, info->name);
      return info;
    }
    open_tables_.emplace(table_);  // its other keys cannot be judged
    if (complain) {
      const std::vector<std::string_view> names = EntryNames(entries);
      Complain(Key("name"), fmt::format("must be one of {}, found {}{}", fmt::join(names, ", "),
                                        FormatValue(name), DidYouMean(name, names)));
    }
    return nullptr;
  }

  // Says whether the key at `path` does nothing in the recipe of the file alone.
  bool IsIdleAlone(std::string_view path) const {
    Recipe alone;
    RecipeReader reader(layers_.first(1), catalogues_);
    alone.data.sources.resize(reader.LengthOf("data.source"));
    alone.validation.sources.resize(reader.LengthOf("validation.source"));
    VisitRecipe(alone, reader);
    for (const RecipeKey& key : RecipeKeys(alone, catalogues_)) {
      if (key.path() == path) return !key.idle.empty();
    }
    return false;
  }

  std::optional<Value> Read(const ParamInfo& info, bool required) {
    const std::string path = Key(info.name);
    keys_.insert(path);
    const std::optional<Found> found = Find(path);
    if (!found) {
      if (required) ComplainMissing(path, info.doc);
      return std::nullopt;
    }
    const Value raw = ValueOf(*found->node, info.kind);
    if (std::holds_alternative<std::monostate>(raw)) {
      Complain(path, fmt::format("must be {}, found {}", KindPhrase(info.kind),
                                 NodeKindName(*found->node, info.kind)));
      return std::nullopt;
    }
    CheckedValue checked = CheckValue(info, raw);
    if (checked.problem.empty()) return std::move(checked.value);
    Complain(path, std::move(checked.problem));
    return std::nullopt;
  }

  void ComplainMissing(const std::string& path, std::string_view doc) {
    const toml::node* table = FindNode(layers_.front(), table_);
    const bool written = table != nullptr && table != &layers_.front().table;
    AddMistake(0, written ? table->source().begin : toml::source_position(), path,
               fmt::format("is missing ({})", doc));
    mistakes_.back().missing = true;
  }

  void AddMistake(size_t layer, const toml::source_position& position, std::string_view path,
                  std::string problem) {
    const bool set = layers_[layer].is_set;
    mistakes_.push_back({layer, set ? 0 : static_cast<int>(position.line),
                         set ? 0 : static_cast<int>(position.column), std::string(path),
                         fmt::format("{} {}", path, problem)});
  }

  void Walk(size_t layer, const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string path =
          prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
      if (keys_.contains(path) || left_tables_.contains(path)) continue;
      const toml::table* inner = node.as_table();
      if (lists_.contains(path)) {
        WalkList(layer, node, path);
      } else if (tables_.contains(path)) {
        if (inner != nullptr) {
          Walk(layer, *inner, path);
        } else {
          AddMistake(layer, node.source().begin, path, fmt::format("is a table: write [{}]", path));
        }
      } else if (layer == 0 && IsLeftOver(prefix, key.str())) {
        left_over_.push_back(fmt::format("{}:{}: {} is dropped: it{}", layers_[layer].source,
                                         key.source().begin.line, path, Unlike(prefix)));
      } else if (!open_tables_.contains(prefix)) {
        AddMistake(layer, key.source().begin, path, Unknown(prefix, key.str()));
      }
    }
  }

  // Says whether a key of the file is a parameter of the entry that the file names (of any other
  // entry where it names none), while a `--set` names another entry, which does not have it.
  bool IsLeftOver(std::string_view table, std::string_view key) const {
    const Catalogue* catalogue = FindCatalogue(catalogues_, table);
    const std::string name_path = fmt::format("{}.name", table);
    const std::optional<Found> chosen = Find(name_path);
    if (catalogue == nullptr || !chosen || chosen->layer == 0) return false;
    const toml::node* in_file = FindNode(layers_.front(), name_path);
    const std::optional<std::string> named =
        in_file == nullptr ? std::nullopt : in_file->value<std::string>();
    return std::any_of(
        catalogue->entries.begin(), catalogue->entries.end(), [&](const EntryInfo* entry) {
          const bool has = std::any_of(entry->params.begin(), entry->params.end(),
                                       [&](const ParamInfo& param) { return param.name == key; });
          return has && (!named || entry->name == *named);
        });
  }

  // " is unknown for the objective plain, which --set objective.name=plain names".
  std::string Unlike(std::string_view table) const {
    const auto note = notes_.find(std::string(table));
    const std::optional<Found> chosen = Find(fmt::format("{}.name", table));
    return fmt::format(" is unknown{}, which {} names", note == notes_.end() ? "" : note->second,
                       layers_[chosen->layer].source);
  }

  void WalkList(size_t layer, const toml::node& node, const std::string& path) {
    const toml::array* list = node.as_array();
    if (layers_[layer].is_set) {
      if (node.is_table()) return Walk(layer, *node.as_table(), path);
      AddMistake(
          layer, {}, path,
          fmt::format("is a list, which only the recipe's file can give; --set {}.1.KEY=VALUE "
                      "sets a key of its first table",
                      path));
    } else if (list == nullptr || list->empty() || !list->is_homogeneous<toml::table>()) {
      AddMistake(layer, node.source().begin, path,
                 fmt::format("is a list of tables: write [[{}]] over each", path));
    } else {
      for (size_t i = 0; i < list->size(); ++i) {
        Walk(layer, *(*list)[i].as_table(), fmt::format("{}.{}", path, i + 1));
      }
    }
  }

  // The entries of the table's catalogue that have such a parameter.
  std::vector<std::string_view> EntriesWith(std::string_view table, std::string_view name) const {
    std::vector<std::string_view> found;
    const Catalogue* const catalogue = FindCatalogue(catalogues_, table);
    if (catalogue == nullptr) return found;
    for (const EntryInfo* entry : catalogue->entries) {
      const bool has = std::ranges::any_of(
          entry->params, [&](const ParamInfo& info) { return info.name == name; });
      if (has) found.push_back(entry->name);
    }
    return found;
  }

  // The entries that have the key; the nearest name in the same table, or the same name in another
  // one.
  std::string Unknown(const std::string& prefix, std::string_view name) const {
    std::vector<std::string_view> siblings;
    std::string elsewhere;
    const auto consider = [&](std::string_view path) {
      const size_t dot = path.rfind('.');
      const std::string_view parent = dot == std::string_view::npos ? "" : path.substr(0, dot);
      const std::string_view leaf = dot == std::string_view::npos ? path : path.substr(dot + 1);
      if (parent == prefix) siblings.push_back(leaf);
      if (leaf == name && elsewhere.empty()) elsewhere = path;
    };
    for (const std::string& path : keys_) consider(path);
    for (const std::string& path : tables_) consider(path);
    const auto note = notes_.find(prefix);
    const std::vector<std::string_view> others = EntriesWith(prefix, name);
    std::string suggestion = DidYouMean(name, siblings);
    if (!others.empty()) {
      suggestion = fmt::format("; it is a parameter of {}", fmt::join(others, ", "));
    } else if (const size_t dot = prefix.rfind('.');
               dot != std::string::npos && lists_.contains(prefix.substr(0, dot))) {
      if (suggestion.empty()) {
        suggestion = fmt::format("; the keys of [[{}]] are {}", prefix.substr(0, dot),
                                 fmt::join(siblings, ", "));
      }
    } else if (!elsewhere.empty()) {
      suggestion = fmt::format("; did you mean {}?", elsewhere);
    }
    return fmt::format("is unknown{}{}", note == notes_.end() ? "" : note->second, suggestion);
  }

  std::span<const TomlLayer> layers_;
  RecipeCatalogues catalogues_;
  std::string_view table_;                          // the one whose fields are being visited
  std::set<std::string, std::less<>> tables_;       // all that were visited
  std::set<std::string, std::less<>> lists_;        // paths of all lists of tables
  std::set<std::string, std::less<>> left_tables_;  // that somebody else reads
  std::set<std::string, std::less<>> keys_;         // paths of all known keys
  std::set<std::string, std::less<>> open_tables_;  // whose unknown keys are not complained about
  std::map<std::string, std::string> notes_;        // by table: " for the objective infonce"
  std::vector<std::string> left_over_;              // LeftOver()
  std::vector<Mistake> mistakes_;
};

}  // namespace tandem::config
