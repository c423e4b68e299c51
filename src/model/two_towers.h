// An encoder for queries and another for documents (ADE in SamToNe's terms; with one projection
// after both, ADE-SPL).
#pragma once

#include <memory>

#include "model/dual_encoder.h"
#include "weights/folders/tower_folders.h"

namespace tandem::model {

// `folders` hold two; its towers say how they share. Throws as DualEncoder::Load.
std::unique_ptr<DualEncoder> MakeTwoTowers(weights::TowerFolders folders,
                                           const LoadOptions& options);

}  // namespace tandem::model
