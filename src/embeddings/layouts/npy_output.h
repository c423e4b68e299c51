// Rows of embeddings in a .npy file with their ids, and a journal by which an interrupted process
// goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "embeddings/block_output.h"
#include "embeddings/layouts/npy_file.h"
#include "embeddings/layouts/npy_journal.h"
#include "embeddings/layouts/npy_paths.h"

namespace tandem::embeddings {

// Each block reaches the disk before the next: NAME.part of embeddings and ids
// (embeddings/layouts/part_file.h), then its line in the journal. So a process may end at any
// moment. The journal stays beside the finished files and says what made them.
class NpyOutput final : public BlockOutput {
 public:
  struct Options {
    size_t width = 0;  // E
    Provenance provenance;
    bool resume = false;  // or begin anew, and say so where that gives something up
  };

  // Makes the folder and takes the parts; what an earlier process has written stays until Begin.
  // Throws what FindNpyLeft throws; UsageError where another process writes the files;
  // OutputError.
  NpyOutput(NpyPaths paths, Options options);
  NpyOutput(const NpyOutput&) = delete;
  NpyOutput& operator=(const NpyOutput&) = delete;
  // Leaves what has reached the disk, and nothing where no block has.
  ~NpyOutput() override;

  // Returns the whole blocks that an earlier process has left.
  const Journal& kept() const { return kept_; }
  uint64_t rows() const { return rows_; }  // on the disk
  // Returns the message to a user if the work ends early: "40960 texts are in x.npy.part; ...".
  std::string WhatIsLeft() const;

  void Begin(std::optional<uint64_t> total) override;
  void Write(const EncodedBlock& block) override;
  void Finish() override;

 private:
  void TakeUp();
  void BeginJournal();

  NpyPaths paths_;
  Options options_;
  bool had_part_;
  NpyFile embeddings_;
  // It is none where an earlier process has named the ids and only the embeddings are left.
  std::optional<PartFile> ids_;
  Journal kept_;
  std::optional<JournalWriter> journal_;  // from the first block on
  uint64_t rows_ = 0;
  bool begun_ = false;
  bool finished_ = false;
};

}  // namespace tandem::embeddings
