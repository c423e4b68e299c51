// Reads modules.json and the folders of the modules that it lists. Internal to the room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "weights/folders/model_folder.h"

namespace tandem::weights {

// One line of a list of modules: modules.json, or a route of a router.
struct ListedModule {
  std::string_view kind;  // "Transformer", "Pooling", "Dense", ..., "Router" or "Asym"
  std::string type;       // as listed
  std::string folder;     // relative to the model's folder; may be ""

  // Sends texts to other modules ("Asym" before release 5).
  bool is_router() const { return kind == "Router" || kind == "Asym"; }
};

// The module of this type in this folder. Both spellings of types are known:
// "sentence_transformers.models.Pooling" and, from release 5.4,
// "sentence_transformers.sentence_transformer.modules.pooling.Pooling". Throws ModelError, naming
// `file`, for another type and for a folder that leads out of the model's.
ListedModule ModuleOf(std::string type, std::string folder, const std::string& file);

inline constexpr std::string_view kModulesFile = "modules.json";

// Returns the list of modules.json; ModelFiles::Modules calls this. Throws ModelError naming `path`
// unless it begins with a Transformer or a router, and for a broken list.
std::vector<ListedModule> ModulesIn(const Json& list, const std::filesystem::path& path);

// The Transformer module's folder, relative to the model's: usually "", "0_Transformer" in old
// ones; "" without modules.json. Throws ModelError for a folder of two encoders.
std::string EncoderFolderOf(const ModelFiles& files);

struct ModuleList {
  std::vector<HeadModule> head;  // modules after the Transformer
  int64_t embedding_width = 0;   // E, after the head
};

// Reads what follows the Transformer, whose output has `hidden_size` columns, in `listed` of
// the model of `files`; `file` is where they are listed. A module without parameters (Normalize)
// needs no folder; Dropout is left out, which a message says. Throws ModelError.
ModuleList ReadModules(const ModelFiles& files, const std::vector<ListedModule>& listed,
                       const std::string& file, int64_t hidden_size);

// Reads an encoder of a model of several: `modules`, which `file` lists, from the Transformer on.
// Prompts, similarity and truncate_dim are the whole model's. Throws as ReadModelFolder.
ModelFolder ReadRouteFolder(const ModelFiles& files, const std::vector<ListedModule>& modules,
                            const std::string& file);

}  // namespace tandem::weights
