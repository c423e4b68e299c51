// Indexes of a few words, built with a small model, for tests of how they change.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "index/building/build.h"
#include "index/building/index_model.h"
#include "support/tiny_model.h"

namespace tandem::index {

// Makes the model in `folder` and loads it.
inline std::unique_ptr<model::DualEncoder> WordModel(const std::filesystem::path& folder) {
  WriteTinyModel(folder);
  return model::DualEncoder::Load(folder, LoadOptionsOf(IndexModel()));
}

// Two or three of the model's words.
inline std::string WordText(size_t number) {
  const std::vector<std::string> words = TinyWords();
  std::string text = words[number % words.size()] + " " + words[number / 3 % words.size()];
  if (number % 2 == 0) text += " " + words[number * number % words.size()];
  return text;
}

// Documents d`first`, ..., with the texts of these numbers.
inline DocumentSource WordDocuments(size_t first, size_t count) {
  return {[at = first, end = first + count, id = std::string(),
           text = std::string()](data::InputText* document) mutable {
            if (at == end) return false;
            id = fmt::format("d{}", at);
            text = WordText(at++);
            *document = {.id = id, .text = text, .file = "f"};
            return true;
          },
          0};
}

inline NewIndex WordIndex(const std::string& kind = "fp32") {
  return {.choose = [kind](size_t, size_t) {
    const IndexKindInfo& info = FindIndexKind(kind);
    return KindChoice{&info, config::Params(info.params)};
  }};
}

}  // namespace tandem::index
