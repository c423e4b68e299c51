// A sampler decides which examples come next.
//
// A sampler proposes batches without end; the training loop decides when to stop. It sees numbers
// only, and hears back what became of its batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "config/params.h"
#include "sampling/batch.h"
#include "sampling/composition/draw_tokens.h"
#include "sampling/examples.h"
#include "sampling/extra_pool.h"
#include "sampling/mixing/mixture.h"
#include "sampling/order.h"
#include "sampling/state.h"

namespace tandem::sampling {

// Says how long the run is: so many epochs, or where `batches` is given, so many batches. Orders
// that change over the run follow it.
struct RunLength {
  double epochs = 1;
  std::optional<uint64_t> batches;
};

struct SamplerOptions {
  uint64_t seed = 1;
  size_t batch = 64;          // queries
  size_t negatives = 0;       // judged negatives of each query, or with `graded_own` any labelled
  bool no_duplicates = true;  // no query text and no document text twice in a batch
  // Matters with `no_duplicates`: where so many queries share a text or a document that batches
  // would become much smaller, they meet (sampling/composition/composition.h). Masks must know
  // copies then.
  bool copies_meet = false;
  bool fill_batches = false;  // with `copies_meet`: they meet rather than make batches smaller
  bool in_batch = true;       // false: a query's extra documents are its negatives alone
  bool graded_own = false;    // paired documents may have any grade; else they are positives
  size_t accumulate = 1;      // batches of a step
  RunLength length = {};
  config::Params params = {};  // values of SamplerInfo::params; none: all defaults
  InitialScores scores = {};   // used while the sampler is made
  Mixture mixture = Mixture::kSize;
  // The other mixtures use these while the sampler is made: the source of each query [n],
  // ascending, and the weight of each source; no weights are equal ones.
  std::span<const uint32_t> sources = {};
  std::vector<double> weights = {};
  // The rest is about batches (sampling/composition/batch_composer.h). Spans must outlive the
  // sampler.
  bool by_task = false;                  // all queries of a batch have one task
  std::span<const uint32_t> tasks = {};  // [n] of each query; empty: all have one
  bool similar_lengths = false;          // queries of a batch are of similar length
  size_t batch_tokens = 0;               // > 0: tokens of a batch at most, instead of `batch`
  TextLengths lengths = {};              // for the two before
  bool mines = false;  // set_mined is called: extra documents may be any of the corpus
};

// `batch_tokens` is less than one query brings with its documents.
class DrawTooLong : public std::invalid_argument {
 public:
  explicit DrawTooLong(const LongDraw& longest)
      : std::invalid_argument("a query has more tokens than a batch may have"), longest_(longest) {}
  const LongDraw& longest() const { return longest_; }  // of all queries

 private:
  LongDraw longest_;
};

class PassAudit;  // sampling/audit/audit.h

class Sampler {
 public:
  virtual ~Sampler() = default;

  // The next batch: at least one row, at most `batch` of them, or at most `batch_tokens` tokens.
  virtual Batch Next() = 0;
  // The queries that epoch `epoch` draws, with repetition; an estimate if they are not known ahead.
  virtual uint64_t QueriesIn(uint64_t epoch) const = 0;
  // Passes done and the share of the one under way.
  virtual double Passes() const = 0;
  // Says how many batches the first `epochs` epochs have, counted from the start of training; a
  // part of an epoch counts rounded up. An estimate where they are not known ahead.
  virtual uint64_t BatchesIn(double epochs) const = 0;
  // Says whether BatchesIn is exact: nothing that is only known later decides how long an epoch is.
  virtual bool KnowsBatches() const { return true; }
  // The loop calls it after each batch. A sampler that does not learn from batches ignores it.
  virtual void AddFeedback(const Feedback& feedback) { static_cast<void>(feedback); }

  // The most queries of one batch of the first epoch that share a text or a paired document, as far
  // as that is known ahead. More than 1 only where copies meet.
  virtual size_t MostCopies() const { return 1; }

  // Says whether it draws other queries or pairs in one epoch than in another, or leaves some out.
  virtual bool Prunes() const { return false; }
  // From now on `audit` hears of its epochs, if it prunes; it must outlive the sampler's last Next.
  virtual void set_audit(PassAudit* /*audit*/) {}

  // From now on extra documents are drawn from these too, in place of those of an earlier call;
  // they are part of the sampler's state. Throws std::logic_error in a sampler that draws none.
  virtual void set_mined(ExtraPool /*mined*/) {
    throw std::logic_error("this sampler draws no extra documents");
  }

  // Everything that Next depends on besides examples and options. A sampler that restores another
  // one's state continues exactly as that one would have.
  virtual SamplerState State() const = 0;
  // Throws JsonError for a state that is not this sampler's, and ModelError for one
  // whose arrays do not fit this run's data, and for a state of an earlier version whose batches
  // this version would compose otherwise.
  virtual void Restore(const SamplerState& state) = 0;
};

}  // namespace tandem::sampling
