// Where `tandem encode` writes.
#pragma once

#include <filesystem>
#include <string>

namespace tandem::app {

struct EncodePaths {
  std::filesystem::path embeddings;
  std::filesystem::path ids;      // a line for each row
  std::filesystem::path journal;  // commands/encode/encode_journal.h
  bool in_folder = false;         // that is made for them

  std::filesystem::path folder() const {
    return embeddings.has_parent_path() ? embeddings.parent_path() : ".";
  }
};

// "x.npy": x.npy and x.ids.txt, unless that is a folder; all else is a folder of embeddings.npy and
// ids.txt. The journal has the name of the embeddings and ".journal".
EncodePaths EncodePathsOf(const std::string& output);

}  // namespace tandem::app
