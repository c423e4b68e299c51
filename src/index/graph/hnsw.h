// The parts that the descriptor, the builder and the search of kind `hnsw` share.
#pragma once

#include <filesystem>

#include "config/params.h"
#include "index/graph/row_graph.h"
#include "index/vector_index.h"

namespace tandem::index {

inline constexpr const char* kHnswFile = "hnsw.graph";

// Builds the graph and writes it to `path`. With one thread the same rows give the same bytes; with
// more, links depend on which thread comes first.
void BuildHnswGraph(const VectorRows& rows, const config::Params& params,
                    const std::filesystem::path& path, const BuildOptions& options);

}  // namespace tandem::index
