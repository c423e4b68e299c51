// The model of an index: described when documents are encoded, loaded again for queries and for
// documents that are added.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "index/document_index.h"
#include "model/dual_encoder.h"
#include "tensor/machine/precision.h"

namespace tandem::index {

// The name of a model's folder for people: "all-MiniLM-L6-v2"; of a trained one, whose own folder
// is always called "model", "mine/model".
std::string NameOfModel(const std::filesystem::path& folder);

// `dimensions` is what the model was loaded with (model::LoadOptions).
IndexModel DescribeModel(model::DualEncoder& model, const std::filesystem::path& path,
                         tensor::Precision precision, std::optional<int64_t> dimensions);

// Returns the options with which the model must be loaded to be the one that encoded the documents.
// The caller chooses the query prompt and the length of queries.
model::LoadOptions LoadOptionsOf(const IndexModel& model);

// Loads the index's model, or `folder` in its place where it has moved, and checks that it is the
// one (CheckModel). `options` are those of LoadOptionsOf, with what the caller wants for queries.
// Throws ModelError.
std::unique_ptr<model::DualEncoder> LoadIndexModel(const IndexInfo& index,
                                                   const model::LoadOptions& options,
                                                   const std::filesystem::path& folder = {});

}  // namespace tandem::index
