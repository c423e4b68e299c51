// How many tokens of a text a model takes when nobody says otherwise.
#pragma once

#include <cstddef>
#include <filesystem>

namespace tandem::text {

// The first of these that a model folder sets: `max_seq_length` of sentence_bert_config.json,
// `model_max_length` of tokenizer_config.json, the truncation's `max_length` of tokenizer.json; but
// never more than the positions that the encoder of config.json has. 0 when nothing sets a limit.
// A flag or a recipe goes before all of them. Throws ModelError when one of the files is damaged.
size_t ModelMaxLength(const std::filesystem::path& model_folder);

}  // namespace tandem::text
