// How many tokens a text may have, from files that contradict each other. Internal to the room.
#pragma once

#include <cstdint>
#include <filesystem>

#include "weights/model_folder.h"
#include "weights/settings_file.h"

namespace tandem::weights {

// The first that says something: `sentence_config`'s max_seq_length, tokenizer_config.json's
// model_max_length, tokenizer.json's truncation, config.json's max_position_embeddings; never more
// than the last, as there are no further positions.
TokenLimit ReadTokenLimit(const std::filesystem::path& encoder_folder,
                          const Settings& sentence_config, int64_t max_positions);

// Whether the tokenizer lower-cases: tokenizer.json's normalizer, or without that file
// tokenizer_config.json's do_lower_case (default true, as BertTokenizer's).
bool TokenizerLowerCases(const std::filesystem::path& encoder_folder);

}  // namespace tandem::weights
