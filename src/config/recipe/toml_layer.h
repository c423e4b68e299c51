// One TOML text of a recipe: its file, or one `--set`. Internal to reading recipes.
#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "config/param.h"

namespace tandem::config {

struct TomlLayer {
  std::string source;   // what errors name: the file, or `--set KEY=VALUE`
  bool is_set = false;  // from `--set`: errors name no line and column
  toml::table table;
};

// Throws RecipeError with the position for text that is not TOML.
TomlLayer ParseFileLayer(std::string_view text, std::string_view name);
// `assignment` is KEY=VALUE; a VALUE that is not TOML is a bare string.
TomlLayer ParseSetLayer(std::string_view assignment);

// The node at "table.key", or nullptr. A list's tables are numbered from 1: "data.source.1.path".
const toml::node* FindNode(const TomlLayer& layer, std::string_view path);

// A scalar as a Value, or an array: a list where `kind` is one of numbers, integers or texts, else
// a range of two numbers. Monostate for tables, other arrays, dates and times.
Value ValueOf(const toml::node& node, ParamKind kind);
// "table", "array", "date" ...; of an array where texts are wanted (`kind`), what stands in it.
std::string NodeKindName(const toml::node& node, ParamKind kind);

}  // namespace tandem::config
