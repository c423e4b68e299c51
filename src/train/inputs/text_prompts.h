// The prompt of each text of a run's data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::train {

// The prompts of texts 0, 1, ... of one kind, query or document. All texts have the same prompt, or
// each range of texts has its own.
class TextPrompts {
 public:
  // Makes prompts of which each is empty.
  TextPrompts() : TextPrompts("") {}
  // Every text has `prompt`.
  explicit TextPrompts(std::string prompt) : stretches_{{0, std::move(prompt)}} {}

  // Gives `prompt` to all texts from `first` on. `first` must not be less than in earlier calls.
  void From(size_t first, std::string prompt);

  // Returns the prompt of a text; it is valid as long as this object.
  std::string_view Of(size_t text) const;
  // Whether every text has `prompt`.
  bool AreAll(std::string_view prompt) const;

  // Returns Of as a function; this object must outlive it. Null if all texts have the prompt
  // `usual`: callers put that before each text by themselves then (search::PromptSource).
  std::function<std::string_view(size_t)> Unless(std::string_view usual) const;

 private:
  struct Stretch {
    size_t first = 0;
    std::string prompt;
  };
  std::vector<Stretch> stretches_;  // ascending; the first begins at 0
};

}  // namespace tandem::train
