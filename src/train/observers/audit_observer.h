// Records each epoch of a sampler that prunes in sampling/pass-N.bin of the run folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "sampling/audit/audit.h"
#include "train/observers/line_log.h"
#include "train/observers/observer.h"

namespace tandem::train {

// The files have the format of sampling/audit/audit_file.h. The file of the current epoch grows
// with its batches. A checkpoint stores its length; a resumed run cuts it back to that length and
// removes later files, so that in the end all have the bytes of an uninterrupted run. Training
// needs no records: if that of the current epoch was lost or cut short, the run continues with a
// warning, leaves the file as it is (without an end), and records epochs again from the next one
// on. The scores by which the sampler began are written once, beside the records.
class AuditObserver final : public LoopObserver, public sampling::PassAudit {
 public:
  // Makes and removes nothing before the loop begins. `first_scores` [pairs], or empty for a
  // sampler without scores; they must outlive the observer.
  explicit AuditObserver(std::filesystem::path folder, std::span<const float> first_scores = {})
      : folder_(std::move(folder)), first_scores_(first_scores) {}

  void BeginPass(uint64_t pass, const sampling::Pairs& pairs,
                 std::span<const float> probabilities) override;
  void AddBatch(std::span<const sampling::Draw> draws) override;
  void EndPass(std::span<const sampling::LeftOut> left_out) override;

  // Makes the folder and the file of first scores. A run that starts at step 0 removes the records
  // of an earlier start; one that is resumed leaves the first scores that are there.
  Next Begin(const Loop& loop) override;
  // Flushes the record to the disk when the state is written, because the state has its length.
  void VisitState(StateVisitor visit) override;

 private:
  std::filesystem::path PathOf(uint64_t pass) const;
  void RemoveFrom(uint64_t pass) const;
  // Continues the record of epoch pass_ after so many bytes; none: the record was lost.
  void Reopen(std::optional<uint64_t> bytes);

  std::filesystem::path folder_;
  std::span<const float> first_scores_;
  uint64_t pass_ = 0;
  bool restored_ = false;
  std::optional<LineLog> file_;  // record of pass_; none before the first epoch, or if it was lost
};

}  // namespace tandem::train
