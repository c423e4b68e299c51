// Where the files of an import are written.
#pragma once

#include <filesystem>
#include <optional>

#include "base/files/atomic_folder.h"
#include "base/files/files.h"

namespace tandem::import_data {

// A BEIR folder under way, which appears when it is complete.
class OutputFiles {
 public:
  // Nothing is written.
  OutputFiles() = default;
  // The folder with a corpus.jsonl that is being written, or, where `copied` is not empty, with a
  // copy of that file, under its name. Throws OutputError.
  OutputFiles(const std::filesystem::path& folder, std::filesystem::path copied);

  bool is_trial() const { return !folder_; }
  AtomicFile* corpus() { return corpus_ ? &*corpus_ : nullptr; }  // null: it is not written anew
  std::filesystem::path Path(const std::filesystem::path& name) const {
    return folder_->staging() / name;
  }
  // Empty in a trial.
  std::filesystem::path Rejected() const {
    return folder_ ? Path("rejected.jsonl") : std::filesystem::path();
  }
  void CommitCorpus();  // or makes the copy
  void CommitFolder() { folder_->Commit(); }

 private:
  std::filesystem::path copied_;
  std::optional<AtomicFolder> folder_;
  std::optional<AtomicFile> corpus_;
};

}  // namespace tandem::import_data
