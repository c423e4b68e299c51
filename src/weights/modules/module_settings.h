// The settings of sentence-transformers' Transformer module (sentence_bert_config.json) that would
// change what a folder computes and are not followed. Internal to the room.
#pragma once

namespace tandem::weights {

class Settings;

// Throws ModelError that names the key: for one that sentence-transformers does not know either,
// which fails there, and for a value that means another model, tokenizer or output.
void CheckTransformerSettings(const Settings& settings);

}  // namespace tandem::weights
