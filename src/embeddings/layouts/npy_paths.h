// The files of rows that are filled in several goes.
#pragma once

#include <filesystem>
#include <string>

namespace tandem::embeddings {

struct NpyPaths {
  std::filesystem::path embeddings;
  std::filesystem::path ids;      // a line for each row
  std::filesystem::path journal;  // embeddings/layouts/npy_journal.h
  bool in_folder = false;         // that is made for them

  std::filesystem::path folder() const {
    return embeddings.has_parent_path() ? embeddings.parent_path() : ".";
  }
};

// "x.npy": x.npy and x.ids.txt, unless that is a folder; all else is a folder of embeddings.npy and
// ids.txt. The journal has the name of the embeddings and ".journal".
NpyPaths NpyPathsOf(const std::string& output);

}  // namespace tandem::embeddings
