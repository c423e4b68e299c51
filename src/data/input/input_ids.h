// The ids of a TextInput's texts: none may come twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "data/input/text_input.h"
#include "data/texts/unique_ids.h"

namespace tandem::data {

// Takes the memory of UniqueIds, however many ids there are. Ids that are 2^19 texts or fewer apart
// are mostly found at once, all others at the end.
class InputIds {
 public:
  // `options` are those of the input. `folder` holds 24 bytes an id where there are many.
  InputIds(TextInputOptions options, std::filesystem::path folder,
           size_t ids_in_memory = UniqueIds::kIdsInMemory);

  // Adds the id of the text that `input` gave last. Throws DataError naming both places where it
  // was there already.
  void Add(const TextInput& input, const InputText& text);
  // Throws the same for ids that Add did not find.
  void Finish(const TextInput& input);

 private:
  [[noreturn]] void Throw(const TextInput& input, uint64_t first, uint64_t second,
                          std::string id) const;

  TextInputOptions options_;
  UniqueIds ids_;
};

}  // namespace tandem::data
