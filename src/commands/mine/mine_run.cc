// The work of `tandem mine --model`.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/process/interrupt.h"
#include "base/progress.h"
#include "cli/process/job.h"
#include "cli/process/signal_watch.h"
#include "commands/mine/mine_command.h"
#include "commands/model/load_model.h"
#include "commands/until_stopped.h"
#include "model/dual_encoder.h"
#include "search/encoding/embedding_cache.h"
#include "search/mining_by_embeddings/agree_on_mining.h"
#include "search/mining_by_embeddings/gather_mined.h"
#include "search/mining_by_embeddings/mine.h"
#include "search/retrieval/model_parts.h"
#include "tensor/machine/precision.h"
#include "tensor/machine/process.h"

namespace tandem::app {
namespace {

using model::TextKind;

// Returns the embeddings of some of `texts`, ready for the search: from the cache, or encoded and
// added to it.
search::SimilarityRows Embed(model::DualEncoder& model, TextKind kind, const data::Texts& texts,
                             const std::vector<uint32_t>& chosen, const MineOptions& given) {
  const bool query = kind == TextKind::kQuery;
  search::CacheOptions options{.folder = CacheUnless(!given.cache),
                               .encode = BulkOptions(given.globals)};
  options.encode.label = query ? "encode queries" : "encode documents";
  options.between_blocks = [] { StopIfAsked(); };
  search::CachedEmbeddings embeddings = search::EmbedDistinct(
      model, kind, chosen.size(), [&](size_t i) { return texts.text(chosen[i]); }, options);
  search::ReportCounts(embeddings.counts, query ? "queries" : "documents", model.max_tokens(kind));
  return search::SimilarityRows(embeddings.rows, model.similarity(), embeddings.row_of);
}

// Returns the embeddings of the task's documents, which stay in the files of their parts.
search::SimilarityRows DocumentsOfParts(model::DualEncoder& model, const MineOptions& options,
                                        const MiningData& data) {
  const search::EncodeOptions encode = BulkOptions(options.globals);
  const embeddings::EmbeddingParts parts =
      search::OpenPartsFor(options.embeddings, model, TextKind::kDocument, encode);
  return {
      search::RowBlocksOf(parts, data.set.documents, "documents of the data set", encode.threads),
      parts.width(), model.similarity(), data.task.document_of};
}

search::Mined Mine(const MineOptions& options, const MiningData& data) {
  tensor::SetUpProcess(options.globals.threads);
  // A search by matrix products has no int8, because its results would differ from those of the
  // embeddings.
  const tensor::Precision precision =
      options.search_precision.empty()
          ? tensor::HostPrecision(BulkOptions(options.globals).precision)
          : tensor::ResolvePrecision(options.search_precision);
  const auto model = model::DualEncoder::Load(options.model.model,
                                              LoadOptionsOf(options.model, data.query_prompt));
  model->To(CommandDevice(options.globals));
  search::TiledSearchOptions search{.precision = precision, .memory = options.memory, .stop = [] {
                                      if (CurrentGroup() != nullptr) CurrentGroup()->CheckPeers();
                                      return SignalWatch::Received();
                                    }};
  search::CheckMining(data.task, options.rules, static_cast<size_t>(model->embedding_width()),
                      search);
  dist::ProcessGroup* const group = CurrentGroup();
  search::AgreeOnMining(data.set, data.task, options.rules, tensor::PrecisionName(precision),
                        group);
  const search::SimilarityRows documents =
      options.embeddings.empty()
          ? Embed(*model, TextKind::kDocument, data.set.documents, data.task.document_of, options)
          : DocumentsOfParts(*model, options, data);
  const search::SimilarityRows queries =
      Embed(*model, TextKind::kQuery, data.set.queries, data.task.query_of, options);
  const dist::Share share = search::MiningShareOf(data.task, group);
  Progress progress(
      {.label = "search", .unit = "queries", .total = static_cast<size_t>(share.size())});
  search.progress = [&](size_t done) { progress.Update(done); };
  search::Mined own =
      search::MineShare(data.set, data.task, options.rules, queries, documents, search, share);
  return search::GatherMined(data.task, std::move(own), group);
}

// Returns the signal that this process or another one of its group has received, because all must
// act alike.
int SignalOfAny() {
  const int own = SignalWatch::Received();
  return dist::IsShared(CurrentGroup()) ? static_cast<int>(CurrentGroup()->Largest(own)) : own;
}

// Mines until a signal comes. A signal that comes while the output is written ends the program at
// once.
search::Mined MineUntilStopped(const MineOptions& options, const MiningData& data) {
  const SignalWatch signals;
  int signal = 0;
  try {
    search::Mined mined = Mine(options, data);
    signal = SignalOfAny();
    if (signal == 0) return mined;
  } catch (const Interrupted&) {  // says less than the message below
    signal = SignalWatch::Received();
  }
  throw Interrupted(signal, fmt::format("interrupted; {} was not written{}", options.output.path,
                                        KeptInCache(!options.cache)));
}

}  // namespace

void RunMineByModel(const MineOptions& options) {
  RunInGroup("mine", options.job, [&options](dist::ProcessGroup& group) {
    const MiningData data = ReadMiningData(options.source);
    const search::Mined mined = MineUntilStopped(options, data);
    if (group.leads()) FinishMining(data, options.rules, mined, options.source, options.output);
  });
}

}  // namespace tandem::app
