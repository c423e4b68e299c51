// Every query once per pass, in random order.
//
// The own document of a query is uniform among its positives, or with `graded_own` among all that
// are judged for it. Its further documents are drawn without replacement from its judged negatives,
// or with `graded_own` from all judged documents but the own one. The order of pass e is the
// shuffle of stream (seed, "sampling order", e), and what is drawn for query q comes from its own
// stretch of stream (seed, "sampling documents", e), so that it does not depend on the queries
// before it.
//
// Without duplicates, the batches of a pass are consecutive parts of the order. With
// `no_duplicates`, queries that share their text or their own document go to different batches; the
// sizes of a pass's batches differ by at most one in either case (sampling/composition.h).
// Source: common practice; the papers' "random batches".
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "sampling/catalogue.h"
#include "sampling/composition.h"

namespace tandem::sampling {
namespace {

// Numbers that one query may draw in a pass: far more than its documents need.
constexpr int kDrawBits = 24;
// How passes are made, as saved states name it. Version 1 (states without a number) put duplicates
// off to later batches and drew hard negatives from all documents below the positive grade.
constexpr int kPlanVersion = 2;

// The documents of which one stands for the query.
std::span<const Judged> OwnPool(const Examples& examples, const SamplerOptions& options,
                                size_t query) {
  return options.graded_own ? examples.judged(query) : examples.positives(query);
}

// The number of the group of each of `count` things: those with equal hashes are one group.
template <typename HashOf>
std::vector<uint32_t> Groups(size_t count, const HashOf& hash_of) {
  std::vector<uint32_t> sorted(count), groups(count);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(),
            [&](uint32_t a, uint32_t b) { return hash_of(a) < hash_of(b); });
  uint32_t group = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && hash_of(sorted[i]) != hash_of(sorted[i - 1])) ++group;
    groups[sorted[i]] = group;
  }
  return groups;
}

// Which queries must not meet in a batch: the keys of texts and documents that two queries may have
// in common. The same in every pass.
class SharedKeys {
 public:
  SharedKeys(const Examples& examples, const SamplerOptions& options) {
    if (!options.no_duplicates) return;
    text_ = Groups(examples.size(), [&](size_t q) { return examples.query_hash(q); });
    document_ = Groups(examples.documents(), [&](size_t d) { return examples.document_hash(d); });
    std::vector<uint32_t> askers(text_.size()), owners(document_.size());
    for (size_t query = 0; query < examples.size(); ++query) {
      ++askers[text_[query]];
      for (const Judged& one : OwnPool(examples, options, query)) ++owners[document_[one.document]];
    }
    KeepShared(askers, text_);
    KeepShared(owners, document_);
  }

  BatchKeys Of(uint32_t query, uint32_t own) const {
    if (text_.empty()) return {};
    return {text_[query], document_[own]};
  }

  // An upper bound of the number of a pass's queries that have one text, or one document.
  size_t most() const { return most_; }

 private:
  // Numbers the groups with two members and more anew; the others have no key.
  void KeepShared(const std::vector<uint32_t>& counts, std::vector<uint32_t>& keys) {
    std::vector<uint32_t> numbers(counts.size(), kNoKey);
    uint32_t next = 0;
    for (size_t group = 0; group < counts.size(); ++group) {
      most_ = std::max<size_t>(most_, counts[group]);
      if (counts[group] > 1) numbers[group] = next++;
    }
    for (uint32_t& key : keys) key = numbers[key];
  }

  std::vector<uint32_t> text_;      // [queries], or empty: duplicates are allowed
  std::vector<uint32_t> document_;  // [documents]
  size_t most_ = 0;
};

// What the passes of a sampler have in common.
struct PassSource {
  const Examples& examples;
  SamplerOptions options;
  SharedKeys keys;

  size_t FullBatches() const { return (examples.size() + options.batch - 1) / options.batch; }
};

// The batches of one pass.
class Pass {
 public:
  Pass(const PassSource& source, uint64_t epoch)
      : source_(source),
        epoch_(epoch),
        documents_({source.options.seed, "sampling documents", epoch}),
        queries_(source.examples.size()) {
    std::iota(queries_.begin(), queries_.end(), 0);
    RandomStream({source.options.seed, "sampling order", epoch}).Shuffle(std::span(queries_));
  }

  size_t CountBatches() {
    DrawOwns();
    return sampling::CountBatches(Keys(), source_.options.batch);
  }

  // To be called once, before Next.
  void Compose() {
    DrawOwns();
    const std::vector<uint32_t> batch_of =
        ComposeEvenly(Keys(), source_.options.batch,
                      RandomStream({source_.options.seed, "sampling batches", epoch_}));
    SortByBatch(batch_of);
  }

  bool AtEnd() const { return next_ + 1 >= starts_.size(); }
  // Next gives batch `batch` of the pass, from 0.
  void Seek(uint64_t batch) { next_ = std::min<uint64_t>(batch, starts_.size() - 1); }

  Batch Next() {
    const auto begin = static_cast<ptrdiff_t>(starts_[next_]);
    const auto end = static_cast<ptrdiff_t>(starts_[++next_]);
    Batch batch{.epoch = epoch_,
                .queries = {queries_.begin() + begin, queries_.begin() + end},
                .documents = {owns_.begin() + begin, owns_.begin() + end}};
    AddFurther(batch);
    return batch;
  }

 private:
  void DrawOwns() {
    owns_.reserve(queries_.size());
    for (const uint32_t query : queries_) {
      const auto pool = OwnPool(source_.examples, source_.options, query);
      documents_.Seek(uint64_t{query} << kDrawBits);
      owns_.push_back(pool[documents_.Below(pool.size())].document);
    }
  }

  std::vector<BatchKeys> Keys() const {
    std::vector<BatchKeys> keys;
    keys.reserve(queries_.size());
    for (size_t i = 0; i < queries_.size(); ++i) {
      keys.push_back(source_.keys.Of(queries_[i], owns_[i]));
    }
    return keys;
  }

  // Queries and their own documents batch after batch, in the pass's order within each.
  void SortByBatch(const std::vector<uint32_t>& batch_of) {
    starts_.assign(1 + *std::max_element(batch_of.begin(), batch_of.end()) + size_t{1}, 0);
    for (const uint32_t batch : batch_of) ++starts_[batch + size_t{1}];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    std::vector<size_t> place(starts_.begin(), starts_.end() - 1);
    std::vector<uint32_t> queries(queries_.size()), owns(owns_.size());
    for (size_t i = 0; i < batch_of.size(); ++i) {
      const size_t to = place[batch_of[i]]++;
      queries[to] = queries_[i];
      owns[to] = owns_[i];
    }
    queries_ = std::move(queries);
    owns_ = std::move(owns);
  }

  // Own documents enter the set first: of two equal texts, the own document stays and the further
  // one is left out.
  void AddFurther(Batch& batch) {
    std::unordered_set<uint64_t> taken;  // document hashes of the batch
    for (const uint32_t own : batch.documents) taken.insert(source_.examples.document_hash(own));
    batch.further_starts.push_back(static_cast<uint32_t>(batch.columns()));
    for (size_t row = 0; row < batch.rows(); ++row) {
      if (source_.options.negatives > 0) DrawFurther(row, taken, batch);
      batch.further_starts.push_back(static_cast<uint32_t>(batch.columns()));
    }
  }

  void DrawFurther(size_t row, std::unordered_set<uint64_t>& taken, Batch& batch) {
    const Examples& examples = source_.examples;
    const SamplerOptions& options = source_.options;
    const uint32_t query = batch.queries[row];
    const auto candidates = options.graded_own ? examples.judged(query) : examples.negatives(query);
    std::vector<uint32_t> pool(candidates.size());
    std::iota(pool.begin(), pool.end(), 0);
    documents_.Seek((uint64_t{query} << kDrawBits) + (uint64_t{1} << (kDrawBits - 1)));
    size_t wanted = options.negatives;
    for (size_t left = pool.size(); left > 0 && wanted > 0; --left) {
      std::swap(pool[documents_.Below(left)], pool[left - 1]);
      const uint32_t document = candidates[pool[left - 1]].document;
      if (document == batch.documents[row]) continue;
      if (options.no_duplicates && !taken.insert(examples.document_hash(document)).second) continue;
      batch.documents.push_back(document);
      --wanted;
    }
  }

  const PassSource& source_;
  uint64_t epoch_;
  RandomStream documents_;
  std::vector<uint32_t> queries_;  // [n] in the pass's order; composed: batch after batch
  std::vector<uint32_t> owns_;     // [n] their own documents
  std::vector<size_t> starts_;     // [batches + 1] into both
  size_t next_ = 0;                // batch
};

class Uniform final : public Sampler {
 public:
  Uniform(const Examples& examples, const SamplerOptions& options)
      : source_{examples, options, SharedKeys(examples, options)}, pass_(Begin(0)) {}

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
    // 2.2 - 2 is a little more than 0.2, so a result that close to a whole number counts as that
    // number.
    return total + static_cast<uint64_t>(std::ceil((epochs - whole) * batches - 1e-6));
  }

  // Seed and epoch decide a pass; the number of its batches so far says where it stands.
  nlohmann::json State() const override {
    return {{"plan", kPlanVersion}, {"epoch", epoch_}, {"batch", batch_}};
  }

  void Restore(const nlohmann::json& state) override {
    const auto epoch = state.at("epoch").get<uint64_t>();
    const auto batch = state.at("batch").get<uint64_t>();
    CheckPlan(state.value("plan", 1));
    if (epoch != epoch_) pass_ = Begin(epoch);
    epoch_ = epoch;
    batch_ = batch;
    pass_->Seek(batch_);
  }

 private:
  std::unique_ptr<Pass> Begin(uint64_t epoch) const {
    auto pass = std::make_unique<Pass>(source_, epoch);
    pass->Compose();
    return pass;
  }

  uint64_t BatchesOf(uint64_t epoch) const {
    if (source_.keys.most() <= source_.FullBatches()) return source_.FullBatches();
    return Pass(source_, epoch).CountBatches();
  }

  // The first version makes the same batches where queries share nothing, fill whole batches, and
  // have no related documents.
  bool FirstPlanIsTheSame() const {
    const Examples& examples = source_.examples;
    const bool draws_others = source_.options.graded_own || source_.options.negatives > 0;
    for (size_t query = 0; draws_others && query < examples.size(); ++query) {
      if (!examples.related(query).empty()) return false;
    }
    const bool alone = source_.keys.most() <= 1;
    const bool one_batch = examples.size() <= source_.options.batch;
    return alone && (one_batch || examples.size() % source_.options.batch == 0);
  }

  void CheckPlan(int version) const {
    if (version == kPlanVersion || (version == 1 && FirstPlanIsTheSame())) return;
    throw ModelError("the checkpoint", "",
                     "its sampler's plan was made by another version of Tandem, which put other "
                     "queries into a batch, so that this one cannot continue the run exactly; "
                     "start a new run, or finish this one with the version that began it");
  }

  const PassSource source_;
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
