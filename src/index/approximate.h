// The work of the approximate kinds: IndexKindMaker::build and ::open of each.
//
// FAISS trains (k-means, product quantizers) and builds (graphs); files and searches are ours.
// Files are mapped, the effects of damage on a search are known, and Debian's build of FAISS, which
// is for every processor, multiplies without AVX2.
//
// build writes one file into `folder`, measures the effort that the parameter `recall` takes and
// keeps it in the file. It throws UsageError for parameters that do not fit the rows, OutputError
// for a disk that is full, Interrupted. Rows that are zero or equal to others, and fewer rows than
// lists, are fine; with no rows at all nothing is found.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "index/vector_index.h"

namespace tandem::index {

std::vector<std::string> BuildHnsw(const VectorRows& rows, const config::Params& params,
                                   const std::filesystem::path& folder,
                                   const BuildOptions& options);
std::unique_ptr<VectorIndex> OpenHnsw(const VectorRows& rows, const config::Params& params,
                                      const std::filesystem::path& folder);

std::vector<std::string> BuildIvfFlat(const VectorRows& rows, const config::Params& params,
                                      const std::filesystem::path& folder,
                                      const BuildOptions& options);
std::unique_ptr<VectorIndex> OpenIvfFlat(const VectorRows& rows, const config::Params& params,
                                         const std::filesystem::path& folder);

std::vector<std::string> BuildIvfPq(const VectorRows& rows, const config::Params& params,
                                    const std::filesystem::path& folder,
                                    const BuildOptions& options);
std::unique_ptr<VectorIndex> OpenIvfPq(const VectorRows& rows, const config::Params& params,
                                       const std::filesystem::path& folder);

}  // namespace tandem::index
