// Every query once per pass, in random order.
//
// The own document of a query is uniform among its positives, or with `graded_own` among all that
// are judged for it; its further documents are drawn without replacement from those judged below
// the positive grade, or with `graded_own` from all but the own one. The order of pass e is the
// shuffle of stream (seed, "sampling order", e), and what is drawn for query q comes from its own
// stretch of stream (seed, "sampling documents", e), so that it does not depend on the queries
// before it.
//
// With `no_duplicates`, a query that shares its text or its document with one of the batch waits
// for the next batch. The last batches of a pass may therefore be smaller than the others.
// Source: common practice; the papers' "random batches".
#include <cmath>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sampling/catalogue.h"

namespace tandem::sampling {
namespace {

// Numbers that one query may draw in a pass: far more than its documents need.
constexpr int kDrawBits = 24;
// A batch gives up looking for queries that fit after this many that do not, so that a set whose
// queries all share one document costs a constant time per batch, not the whole set.
constexpr size_t kMisfitsPerBatch = 4096;

// The documents of which one stands for the query.
std::span<const Judged> OwnPool(const Examples& examples, const SamplerOptions& options,
                                size_t query) {
  return options.graded_own ? examples.judged(query) : examples.positives(query);
}

// The batches of one pass.
class Pass {
 public:
  Pass(const Examples& examples, const SamplerOptions& options, uint64_t epoch)
      : examples_(examples),
        options_(options),
        epoch_(epoch),
        order_(examples.size()),
        documents_({options.seed, "sampling documents", epoch}) {
    std::iota(order_.begin(), order_.end(), 0);
    RandomStream({options.seed, "sampling order", epoch}).Shuffle(std::span(order_));
  }

  bool AtEnd() const { return cursor_ == order_.size() && waiting_.empty(); }

  Batch Next() {
    Batch batch{.epoch = epoch_};
    taken_.clear();
    taken_queries_.clear();
    size_t misfits = 0;
    for (size_t left = waiting_.size(); left > 0 && Room(batch, misfits); --left) {
      const uint32_t query = waiting_.front();
      waiting_.pop_front();
      Try(query, batch, misfits);
    }
    while (cursor_ < order_.size() && Room(batch, misfits)) Try(order_[cursor_++], batch, misfits);
    AddFurther(batch);
    return batch;
  }

 private:
  bool Room(const Batch& batch, size_t misfits) const {
    return batch.rows() < options_.batch && misfits < kMisfitsPerBatch;
  }

  void Try(uint32_t query, Batch& batch, size_t& misfits) {
    const uint32_t own = DrawOwn(query);
    if (options_.no_duplicates) {
      const uint64_t query_hash = examples_.query_hash(query);
      const uint64_t own_hash = examples_.document_hash(own);
      if (taken_queries_.contains(query_hash) || taken_.contains(own_hash)) {
        waiting_.push_back(query);
        ++misfits;
        return;
      }
      taken_queries_.insert(query_hash);
      taken_.insert(own_hash);
    }
    batch.queries.push_back(query);
    batch.documents.push_back(own);
  }

  uint32_t DrawOwn(uint32_t query) {
    const std::span<const Judged> pool = OwnPool(examples_, options_, query);
    documents_.Seek(uint64_t{query} << kDrawBits);
    return pool[documents_.Below(pool.size())].document;
  }

  // Own documents come first, so that the further ones give way where both are the same text.
  void AddFurther(Batch& batch) {
    batch.further_starts.push_back(static_cast<uint32_t>(batch.columns()));
    for (size_t row = 0; row < batch.rows(); ++row) {
      if (options_.negatives > 0) DrawFurther(batch.queries[row], batch.documents[row], batch);
      batch.further_starts.push_back(static_cast<uint32_t>(batch.columns()));
    }
  }

  void DrawFurther(uint32_t query, uint32_t own, Batch& batch) {
    const std::span<const Judged> others =
        options_.graded_own ? examples_.judged(query) : examples_.others(query);
    std::vector<uint32_t> pool(others.size());
    std::iota(pool.begin(), pool.end(), 0);
    documents_.Seek((uint64_t{query} << kDrawBits) + (uint64_t{1} << (kDrawBits - 1)));
    size_t wanted = options_.negatives;
    for (size_t left = pool.size(); left > 0 && wanted > 0; --left) {
      std::swap(pool[documents_.Below(left)], pool[left - 1]);
      const uint32_t document = others[pool[left - 1]].document;
      if (document == own) continue;
      if (options_.no_duplicates && !taken_.insert(examples_.document_hash(document)).second) {
        continue;
      }
      batch.documents.push_back(document);
      --wanted;
    }
  }

  const Examples& examples_;
  const SamplerOptions& options_;
  uint64_t epoch_;
  std::vector<uint32_t> order_;
  size_t cursor_ = 0;
  std::deque<uint32_t> waiting_;  // did not fit into the batches so far
  RandomStream documents_;
  std::unordered_set<uint64_t> taken_;  // document hashes of the batch
  std::unordered_set<uint64_t> taken_queries_;
};

class Uniform final : public Sampler {
 public:
  Uniform(const Examples& examples, const SamplerOptions& options)
      : examples_(examples), options_(options), pass_(Begin(0)) {}

  Batch Next() override {
    if (pass_->AtEnd()) {
      pass_ = Begin(++epoch_);
      batch_ = 0;
    }
    ++batch_;
    return pass_->Next();
  }

  uint64_t BatchesIn(double epochs) const override {
    const double whole = std::floor(epochs);
    uint64_t total = 0;
    for (uint64_t epoch = 0; epoch < static_cast<uint64_t>(whole); ++epoch) {
      total += BatchesOf(epoch);
    }
    if (epochs == whole) return total;
    const auto batches = static_cast<double>(BatchesOf(static_cast<uint64_t>(whole)));
    // 2.2 - 2 is a little more than 0.2: what is that close to a whole number is one.
    return total + static_cast<uint64_t>(std::ceil((epochs - whole) * batches - 1e-6));
  }

  // A pass is a function of seed and epoch alone: its number of batches so far says all.
  nlohmann::json State() const override { return {{"epoch", epoch_}, {"batch", batch_}}; }

  void Restore(const nlohmann::json& state) override {
    epoch_ = state.at("epoch").get<uint64_t>();
    batch_ = state.at("batch").get<uint64_t>();
    pass_ = Begin(epoch_);
    for (uint64_t b = 0; b < batch_ && !pass_->AtEnd(); ++b) pass_->Next();
  }

 private:
  std::unique_ptr<Pass> Begin(uint64_t epoch) const {
    return std::make_unique<Pass>(examples_, options_, epoch);
  }

  uint64_t BatchesOf(uint64_t epoch) const {
    uint64_t batches = 0;
    for (const auto pass = Begin(epoch); !pass->AtEnd(); ++batches) pass->Next();
    return batches;
  }

  const Examples& examples_;
  const SamplerOptions options_;
  uint64_t epoch_ = 0;
  uint64_t batch_ = 0;  // batches of this pass so far
  std::unique_ptr<Pass> pass_;
};

std::unique_ptr<Sampler> MakeUniform(const Examples& examples, const SamplerOptions& options) {
  if (examples.size() == 0) throw std::invalid_argument("there are no queries to sample");
  if (options.batch == 0) throw std::invalid_argument("a batch needs at least one query");
  for (size_t query = 0; query < examples.size(); ++query) {
    if (OwnPool(examples, options, query).empty()) {
      throw std::invalid_argument("a query without own document cannot be sampled");
    }
  }
  return std::make_unique<Uniform>(examples, options);
}

}  // namespace

extern const SamplerInfo kUniform{
    {.name = "uniform",
     .summary = "every query once per epoch in random order, its positive uniform among its own",
     .source = "common practice",
     .params = {}},
    MakeUniform};

}  // namespace tandem::sampling
