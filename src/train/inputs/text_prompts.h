// Which prompt stands before each text of a run's data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::train {

// Prompts of texts 0, 1, ... of one kind, query or document: one for all, or another from some
// text on.
class TextPrompts {
 public:
  // No text has one.
  TextPrompts() : TextPrompts("") {}
  // Every text has `prompt`.
  explicit TextPrompts(std::string prompt) : stretches_{{0, std::move(prompt)}} {}

  // Texts from `first` on, which is not below earlier ones, have `prompt`.
  void From(size_t first, std::string prompt);

  // The prompt of a text; valid as long as this is.
  std::string_view Of(size_t text) const;
  // Whether every text has `prompt`.
  bool AreAll(std::string_view prompt) const;

  // The same as a function, which this must outlive; null where all texts have `usual`, for those
  // that put `usual` before each text of themselves (search::PromptSource).
  std::function<std::string_view(size_t)> Unless(std::string_view usual) const;

 private:
  struct Stretch {
    size_t first = 0;
    std::string prompt;
  };
  std::vector<Stretch> stretches_;  // ascending; the first begins at 0
};

}  // namespace tandem::train
