// Settings of sentence-transformers' modules that would change what a folder computes and are not
// followed. Internal to the room.
#pragma once

#include <span>
#include <string_view>

namespace tandem::weights {

class Settings;

// Throws ModelError for a key that is not one of `known`, those of sentence-transformers' module of
// this name, which fails there too.
void CheckModuleKeys(const Settings& settings, std::span<const std::string_view> known,
                     std::string_view module);

// For sentence_bert_config.json. Throws ModelError that names the key: for one that
// sentence-transformers does not know either, which fails there, and for a value that means another
// model, tokenizer or output.
void CheckTransformerSettings(const Settings& settings);

}  // namespace tandem::weights
