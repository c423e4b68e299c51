#include "train/mining/negative_miner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/cache_folder.h"
#include "base/process/interrupt.h"
#include "base/random.h"
#include "search/encoding/embedding_cache.h"
#include "search/mining_by_embeddings/gather_mined.h"
#include "search/mining_by_embeddings/mine.h"
#include "train/mining/mining_keys.h"
#include "train/mining/mining_memory.h"
#include "train/seconds_since.h"

namespace tandem::train {
namespace {

using Clock = std::chrono::steady_clock;
using model::TextKind;

// Thrown out of the callbacks of encoding and search when the round is interrupted.
struct RoundStopped {};

// Makes a list of mined documents for each query. Leaves out documents that are judged for the
// query, and copies of these.
class PoolMaker {
 public:
  // With `own_text`, documents with the query's text are left out too.
  PoolMaker(const sampling::Examples& examples, bool own_text)
      : examples_(examples), own_text_(own_text) {}

  void BeginQuery() {
    known_.clear();
    if (own_text_) known_.push_back(examples_.query_hash(starts_.size() - 1));
    for (const sampling::Judged& one : examples_.known(starts_.size() - 1)) {
      known_.push_back(examples_.document_hash(one.document));
    }
    std::sort(known_.begin(), known_.end());
  }
  void Add(uint32_t document) {
    const uint64_t hash = examples_.document_hash(document);
    if (!std::binary_search(known_.begin(), known_.end(), hash)) documents_.push_back(document);
  }
  void EndQuery() { starts_.push_back(static_cast<uint32_t>(documents_.size())); }

  sampling::ExtraPool Take() {
    return sampling::ExtraPool(examples_, std::move(starts_), std::move(documents_));
  }

 private:
  const sampling::Examples& examples_;
  bool own_text_;
  std::vector<uint64_t> known_;  // hashes of texts that are left out, ascending
  std::vector<uint32_t> starts_ = {0};
  std::vector<uint32_t> documents_;
};

}  // namespace

// One stage of a round; it reports its progress.
class NegativeMiner::Stage {
 public:
  Stage(const char* work, size_t total, const Tell& tell)
      : work_(work), total_(static_cast<double>(std::max<size_t>(1, total))), tell_(tell) {}

  // Reports how much is done. Returns whether the round continues.
  bool Done(size_t done) const {
    const double share = std::min(1.0, static_cast<double>(done) / total_);
    return tell_({.work = work_, .share = share, .seconds = SecondsSince(start_)});
  }
  void StopIfAsked(size_t done) const {
    if (!Done(done)) throw RoundStopped();
  }

 private:
  const char* work_;
  double total_;
  const Tell& tell_;
  Clock::time_point start_ = Clock::now();
};

uint64_t NegativeMiner::ScratchBytes(int64_t width) const {
  const MiningMemory memory(recipe(), task(), width);
  return memory.AreSmall() ? 0 : memory.embedding_bytes();
}

search::SimilarityRows NegativeMiner::Embed(model::DualEncoder& model, TextKind kind,
                                            const std::filesystem::path& folder,
                                            const Tell& tell) const {
  const bool query = kind == TextKind::kQuery;
  const std::vector<uint32_t>& chosen = query ? task().query_of : task().document_of;
  const data::Texts& texts = query ? inputs_.data.set.queries : inputs_.data.set.documents;
  const Stage stage(query ? "encoding queries" : "encoding documents", chosen.size(), tell);
  // Processes that mine together are interrupted together.
  const bool shared = dist::IsShared(group());
  const auto stop_together = [&](bool stop) {
    if (group()->Largest(stop ? 1 : 0) > 0) throw RoundStopped();
  };
  if (shared) {
    stop_together(!stage.Done(0));
  } else {
    stage.StopIfAsked(0);
  }
  size_t done = 0;
  search::CacheOptions options{.folder = folder,
                               .encode = {.precision = inputs_.run.precision,
                                          .threads = inputs_.run.threads,
                                          .group = group()},
                               .between_blocks =
                                   [&] {  // is also called while this process waits for another one
                                     if (!shared) stage.StopIfAsked(done);
                                   },
                               .between_shared_blocks = [&] { stop_together(!stage.Done(done)); },
                               .progress = [&](size_t count) { done = count; }};
  const search::PromptSource prompt = inputs_.prompts.Of(kind).Unless(model.prompt(kind));
  if (prompt) options.encode.prompt = [&](size_t i) { return prompt(chosen[i]); };
  search::CachedEmbeddings embeddings = search::EmbedDistinct(
      model, kind, chosen.size(), [&](size_t i) { return texts.text(chosen[i]); }, options);
  return search::SimilarityRows(embeddings.rows, model.similarity(), std::move(embeddings.row_of));
}

search::Mined NegativeMiner::Search(model::DualEncoder& model, const MiningRound& round,
                                    const Tell& tell) const {
  const MiningMemory memory(recipe(), task(), model.embedding_width());
  std::filesystem::path folder = round.by_base ? CacheFolder() : std::filesystem::path();
  if (folder.empty() && !memory.AreSmall()) folder = scratch_;
  const search::SimilarityRows documents = Embed(model, TextKind::kDocument, folder, tell);
  const search::SimilarityRows queries = Embed(model, TextKind::kQuery, folder, tell);
  search::Mined own;
  bool stopped = false;
  try {
    // Only rank 0 keeps embeddings in files.
    const bool in_memory = folder.empty() || !dist::Leads(group());
    own = SearchShare(queries, documents, round, memory.ForSearch(in_memory), tell);
  } catch (const RoundStopped&) {
    stopped = true;
  }
  if (dist::IsShared(group())) stopped = group()->Largest(stopped ? 1 : 0) > 0;
  if (stopped) throw RoundStopped();
  return search::GatherMined(task(), std::move(own), group());
}

search::Mined NegativeMiner::SearchShare(const search::SimilarityRows& queries,
                                         const search::SimilarityRows& documents,
                                         const MiningRound& round, uint64_t memory,
                                         const Tell& tell) const {
  const dist::Share share = search::MiningShareOf(task(), group());
  const bool shared = dist::IsShared(group());
  const Stage stage("searching", static_cast<size_t>(share.size()), tell);
  stage.StopIfAsked(0);
  size_t done = 0;
  const search::TiledSearchOptions options{
      .precision = tensor::HostPrecision(inputs_.run.precision),
      .memory = memory,
      .progress = [&](size_t count) { done = count; },
      .stop =
          [&] {
            stage.StopIfAsked(done);
            if (shared) group()->CheckPeers();
            return 0;
          }};
  return search::MineShare(inputs_.data.set, task(), MiningRulesOf(recipe(), round.number), queries,
                           documents, options, share);
}

std::optional<MinedRound> NegativeMiner::Mine(model::DualEncoder& model, const MiningRound& round,
                                              const Tell& tell) const {
  const Clock::time_point start = Clock::now();
  try {
    const search::Mined mined = Search(model, round, tell);
    RemoveScratch();
    MiningReport report{.round = round.number};
    report.sums = search::Summarize(MiningRulesOf(recipe(), round.number), mined);
    report.seconds = SecondsSince(start);
    return MinedRound{PoolOf(mined), report};
  } catch (const RoundStopped&) {
    return std::nullopt;
  }
}

sampling::ExtraPool NegativeMiner::PoolOf(const search::Mined& mined) const {
  PoolMaker pool(inputs_.texts.examples, recipe().data.masks.query_text);
  for (const uint32_t row : task().row_of_example) {
    pool.BeginQuery();
    for (const search::Hit& hit : mined.queries[row].negatives) {
      pool.Add(task().document_of[hit.document]);
    }
    pool.EndQuery();
  }
  return pool.Take();
}

// Takes documents at equal distances in the corpus, from a random first one, so that none comes
// twice.
sampling::ExtraPool NegativeMiner::StandIn() const {
  PoolMaker pool(inputs_.texts.examples, recipe().data.masks.query_text);
  RandomStream random({static_cast<uint64_t>(recipe().seed), "mining stand-in"});
  const size_t all = task().document_of.size();
  const size_t count = std::min(all, static_cast<size_t>(recipe().mining.negatives));
  for (size_t query = 0; query < inputs_.data.training.size(); ++query) {
    pool.BeginQuery();
    const size_t first = random.Below(all);
    for (size_t i = 0; i < count; ++i) {
      pool.Add(task().document_of[(first + i * (all / count)) % all]);
    }
    pool.EndQuery();
  }
  return pool.Take();
}

void NegativeMiner::RemoveScratch() const {
  if (scratch_.empty()) return;
  std::error_code error;
  std::filesystem::remove_all(scratch_, error);
  if (error) throw OutputError(scratch_.native(), "cannot be removed", error.value());
}

}  // namespace tandem::train
