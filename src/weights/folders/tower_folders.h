// A model folder of one encoder or of two.
//
// Two encoders are a folder with tandem.json, which says how they share, and two
// sentence-transformers folders, `query` and `document`, each complete by itself; a Router module
// at the root makes of them what sentence-transformers loads (weights/modules/router.h). A folder
// with a Router that sentence-transformers wrote is read too.
#pragma once

#include <filesystem>
#include <optional>

#include "weights/folders/model_card.h"
#include "weights/folders/model_folder.h"
#include "weights/folders/model_folder_writer.h"
#include "weights/folders/tandem_file.h"

namespace tandem::weights {

struct TowerFolders {
  // Lengths that tandem.json does not say are those of the encoders' sentence_bert_config.json.
  TandemFile file;
  ModelFolder query;                    // encodes documents too where the towers are shared
  std::optional<ModelFolder> document;  // none where the towers are shared
};

// Reads a folder of one encoder or of two. Throws ModelError as ReadModelFolder does, and for a
// folder of two encoders that lacks one of them.
TowerFolders ReadTowerFolders(const ModelFiles& files, const ReadOptions& options = {});

// One tower of a folder of two.
struct TowerToWrite {
  const ModelFolder& source;
  FolderChanges changes;
};

// Writes a folder of two encoders, complete or not at all, by the rules of WriteModelFolder.
// `file` becomes its tandem.json; its towers must not be shared.
void WriteTowerFolders(const TandemFile& file, const TowerToWrite& query,
                       const TowerToWrite& document, const ModelCard& card,
                       const std::filesystem::path& path);

}  // namespace tandem::weights
