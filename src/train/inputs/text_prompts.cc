#include "train/inputs/text_prompts.h"

#include <algorithm>
#include <iterator>

namespace tandem::train {

void TextPrompts::From(size_t first, std::string prompt) {
  if (stretches_.back().first == first) {
    stretches_.back().prompt = std::move(prompt);
  } else {
    stretches_.push_back({first, std::move(prompt)});
  }
}

std::string_view TextPrompts::Of(size_t text) const {
  const auto behind =
      std::upper_bound(stretches_.begin(), stretches_.end(), text,
                       [](size_t t, const Stretch& stretch) { return t < stretch.first; });
  return std::prev(behind)->prompt;
}

bool TextPrompts::AreAll(std::string_view prompt) const {
  return std::all_of(stretches_.begin(), stretches_.end(),
                     [&](const Stretch& stretch) { return stretch.prompt == prompt; });
}

std::function<std::string_view(size_t)> TextPrompts::Unless(std::string_view usual) const {
  if (AreAll(usual)) return nullptr;
  return [this](size_t text) { return Of(text); };
}

}  // namespace tandem::train
