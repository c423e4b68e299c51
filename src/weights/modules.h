// Reads modules.json and the folders of the modules that it lists. Internal to the room.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "weights/model_folder.h"

namespace tandem::weights {

struct ModuleList {
  std::vector<HeadModule> head;  // what follows the Transformer
  int64_t embedding_width = 0;   // E, after the head
};

// The Transformer module's folder, relative to `folder`: usually "", "0_Transformer" in old ones.
std::string EncoderFolderOf(const std::filesystem::path& folder);

// Reads `folder`/modules.json and what it lists behind the Transformer, whose output has
// `hidden_size` columns. Both spellings of types are known: "sentence_transformers.models.Pooling"
// and, from release 5.4, "sentence_transformers.sentence_transformer.modules.pooling.Pooling". A
// module without parameters (Normalize) needs no folder. Throws ModelError.
ModuleList ReadModules(const std::filesystem::path& folder, int64_t hidden_size);

}  // namespace tandem::weights
