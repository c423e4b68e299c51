// Finds the reader of a component of tokenizer.json by the component's type. Only source files of
// this room include it.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "text/load/json_view.h"

namespace tandem::text {

template <typename Reader>
using ComponentTable = std::span<const std::pair<std::string_view, Reader>>;

// Throws ModelError where `table` has no `type`, naming it and what the table has. `kind` is what
// such components are called.
template <typename Reader>
Reader ReaderOf(const JsonView& view, std::string_view type, std::string_view kind,
                ComponentTable<Reader> table) {
  std::string supported;
  for (const auto& [name, reader] : table) {
    if (name == type) return reader;
    supported += supported.empty() ? "" : ", ";
    supported += name;
  }
  view.Fail(fmt::format("{} \"{}\" is not supported; supported: {}", kind, type, supported));
}

}  // namespace tandem::text
