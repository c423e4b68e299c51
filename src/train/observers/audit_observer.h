// Keeps a record of each pass of a sampler that prunes: sampling/pass-N.bin of the run folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "sampling/audit/audit.h"
#include "train/observers/line_log.h"
#include "train/observers/observer.h"

namespace tandem::train {

// The files are those of sampling/audit/audit_file.h. That of a pass under way grows with its
// batches. A checkpoint says how long it is; a resumed run cuts it back to that and removes later
// ones, so that in the end they have the bytes of an uninterrupted run. Training needs no records:
// where the one of the pass under way was lost or cut short, the run goes on with a warning, leaves
// what is there as it is (a file without an end), and keeps records from the next pass on.
class AuditObserver final : public LoopObserver, public sampling::PassAudit {
 public:
  // Nothing is made or removed before the loop begins.
  explicit AuditObserver(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void BeginPass(uint64_t pass, const sampling::Pairs& pairs,
                 std::span<const float> probabilities) override;
  void AddBatch(std::span<const sampling::Draw> draws) override;
  void EndPass(std::span<const sampling::LeftOut> left_out) override;

  // Makes the folder; a run that starts from its beginning removes records of an earlier start.
  Next Begin(const Loop& loop) override;
  // Flushes the record to the disk where its length is written.
  void VisitState(StateVisitor visit) override;

 private:
  std::filesystem::path PathOf(uint64_t pass) const;
  void RemoveFrom(uint64_t pass) const;
  // Goes on with the record of pass_, which has so many bytes; none: it was lost.
  void Reopen(std::optional<uint64_t> bytes);

  std::filesystem::path folder_;
  uint64_t pass_ = 0;
  bool restored_ = false;
  std::optional<LineLog> file_;  // of pass_; none before the first, and where it was lost
};

}  // namespace tandem::train
