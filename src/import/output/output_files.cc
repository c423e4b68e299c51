#include "import/output/output_files.h"

#include <utility>

namespace tandem::import_data {

OutputFiles::OutputFiles(const std::filesystem::path& folder, std::filesystem::path corpus)
    : copied_(std::move(corpus)) {
  folder_.emplace(folder);
  MakeFolder(Path("qrels"));
  if (copied_.empty()) corpus_.emplace(Path("corpus.jsonl"));
}

void OutputFiles::CommitCorpus() {
  if (corpus_) return corpus_->Commit();
  const MappedFile bytes(copied_);
  WriteFileAtomically(Path(copied_.filename()), bytes.bytes());
}

}  // namespace tandem::import_data
