// The files of `tandem encode`: embeddings, ids, and a journal by which an interrupted run goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/files/resumable_npy.h"
#include "commands/encode/encode_journal.h"
#include "commands/encode/encode_output.h"
#include "commands/encode/encode_paths.h"

namespace tandem::app {

// Each block reaches the disk before the next: NAME.part of embeddings and ids
// (base/files/part_file.h), then its line in the journal. So a process may end at any moment. The
// journal stays beside the finished files and says what made them.
class EncodeFiles final : public EncodeOutput {
 public:
  struct Options {
    size_t width = 0;      // E
    std::string settings;  // of the journal
    bool resume = false;   // or begin anew, and say so where that gives something up
  };

  // Makes the folder and takes the parts; what an earlier process has written stays until Begin.
  // Throws what FindEncodeLeft throws; UsageError where another process writes the files;
  // OutputError.
  EncodeFiles(EncodePaths paths, Options options);
  // Leaves what has reached the disk, and nothing where no block has.
  ~EncodeFiles() override;

  // What an earlier process has left, in whole blocks.
  const EncodeJournal& kept() const { return kept_; }
  uint64_t rows() const { return rows_; }  // on the disk
  // What a user hears of the work where it ends early: "40960 texts are in x.npy.part; ...".
  std::string WhatIsLeft() const;

  void Begin(std::optional<uint64_t> total) override;
  void Write(const TextBlock& block, std::span<const float> rows,
             const search::EncodeCounts& counts) override;
  void Finish() override;

 private:
  void TakeUp();
  void BeginJournal();

  EncodePaths paths_;
  Options options_;
  bool had_part_;
  ResumableNpy embeddings_;
  // None where an earlier process has given the ids their name, and only the embeddings are left.
  std::optional<PartFile> ids_;
  EncodeJournal kept_;
  std::optional<EncodeJournalWriter> journal_;  // from the first block on
  uint64_t rows_ = 0;
  bool begun_ = false;
  bool finished_ = false;
};

}  // namespace tandem::app
