// Looks over the cache's files before any text is hashed: whether one could be of these texts.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "embeddings/provenance.h"

namespace tandem::search {

// Files of embeddings that the same model made of the same kind of texts, and of as many or fewer.
struct CacheCandidates {
  std::vector<size_t> texts;  // of each file that was made as is asked, of whatever texts
  // Where there are none of these: how another file was made, '"precision bf16", here "precision
  // fp32"'; "" where there is no other file.
  std::string made_otherwise;
};

// `folder` is that of the files, `source` how embeddings of `count` texts are to be made
// (EncodingSource). Reads the header of each file.
CacheCandidates CandidatesIn(const std::filesystem::path& folder,
                             const embeddings::Provenance& source, size_t count);

}  // namespace tandem::search
