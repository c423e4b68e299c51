// The work of `tandem search` with an index.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/log.h"
#include "cli/output_style.h"
#include "commands/evaluate/evaluation_output.h"
#include "commands/guarantees/kept_promise.h"
#include "commands/identical_ids.h"
#include "commands/model/load_model.h"
#include "commands/model/model_calibration.h"
#include "commands/search/hits_output.h"
#include "commands/search/query_source.h"
#include "commands/search/search_command.h"
#include "data/texts/passage_groups.h"
#include "index/building/index_model.h"
#include "index/folder/manifest.h"
#include "index/query/answers.h"
#include "index/query/document_answers.h"
#include "search/encode.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"

namespace tandem::app {
namespace {

using model::TextKind;

// The number of queries that are encoded and searched together.
constexpr size_t kBlock = 256;

// The largest size of an index whose files are compared with their checksums each time, which takes
// less than a tenth of a second. For a larger index, only the sizes of its files are compared;
// `tandem index info --verify` compares everything.
constexpr uint64_t kVerifiedBytes = uint64_t{256} << 20;

std::shared_ptr<const index::DocumentIndex> OpenIndex(const std::string& folder) {
  const bool verify = index::ReadManifest(folder).file_bytes() <= kVerifiedBytes;
  return index::DocumentIndex::Open(folder, verify);
}

// A model with the folder that it was loaded from.
struct LoadedModel {
  std::string folder;
  std::unique_ptr<model::DualEncoder> model;
};

LoadedModel LoadModelOf(const index::IndexInfo& info, const Globals& globals,
                        const ModelFlags& flags) {
  tensor::SetUpProcess(globals.threads);
  model::LoadOptions options = index::LoadOptionsOf(info.model);
  options.max_query_tokens = flags.max_query_tokens;
  options.chosen_query_prompt = flags.prompt;
  LoadedModel loaded{.folder = flags.model.empty() ? info.model.path : flags.model};
  loaded.model = index::LoadIndexModel(info, options, flags.model);
  loaded.model->To(CommandDevice(globals));
  return loaded;
}

// Encodes texts of one kind and counts losses, such as truncated texts.
class Embedder {
 public:
  Embedder(model::DualEncoder& model, TextKind kind, const Globals& globals)
      : model_(model), kind_(kind), globals_(globals) {}

  // Returns float32 [texts, E], row after row.
  std::vector<float> Embed(std::span<const std::string_view> texts) {
    const auto width = static_cast<size_t>(model_.embedding_width());
    std::vector<float> rows(texts.size() * width);
    const search::EncodeCounts counts = search::EncodeTexts(
        model_, kind_, texts.size(), [&](size_t i) { return texts[i]; }, BulkOptions(globals_),
        [&](size_t first, const tensor::Tensor& block) {
          std::memcpy(rows.data() + first * width, block.data_ptr<float>(), block.nbytes());
        });
    counts_ += counts;
    return rows;
  }

  void Report(std::string_view what) const {
    search::ReportCounts(counts_, what, model_.max_tokens(kind_));
  }

 private:
  model::DualEncoder& model_;
  TextKind kind_;
  const Globals& globals_;
  search::EncodeCounts counts_;
};

std::unique_ptr<QuerySource> SourceOf(const SearchOptions& options) {
  if (options.lines) {
    const bool asks = ::isatty(STDIN_FILENO) != 0;
    return QueriesOfLines(STDIN_FILENO, asks ? "query> " : "");
  }
  if (!options.queries_file.empty()) {
    return QueriesOfFile(options.queries_file, options.format == "trec");
  }
  return QueriesOfTexts(options.queries);
}

// The destination of hits: a file that appears when it is complete, or standard output.
class Output {
 public:
  explicit Output(const std::string& path) {
    if (!path.empty() && path != "-") file_.emplace(path);
  }
  void Write(std::string_view text) {
    if (file_) {
      file_->Write(text);
    } else {
      std::cout << text;
    }
  }
  // Sends each answer at once, for a reader at the other end of a pipe.
  void Flush() {
    if (!file_) std::cout.flush();
  }
  void Finish() {
    if (file_) file_->Commit();
  }

 private:
  std::optional<AtomicFile> file_;
};

index::AnswerOptions AnswerOptionsOf(const SearchOptions& options, const index::IndexInfo& info) {
  index::AnswerOptions answers{.k = options.top_k + (options.ignore_identical_ids ? 1 : 0),
                               .min_score = options.min_score,
                               .min_probability = options.min_probability,
                               .highlight = options.highlight,
                               .effort = options.effort,
                               .threads = ThreadsOf(options.globals)};
  for (const std::string& filter : options.filters) {
    answers.filter.push_back(index::ParseCondition(filter, info.fields));
  }
  return answers;
}

HitsStyle StyleOf(const SearchOptions& options) {
  const bool to_file = !options.output.empty() && options.output != "-";
  return {.format = options.format,
          .text = to_file ? report::TextStyle{} : OutputStyle(),
          .asked = WhatIsAsked(options),
          .has_ids = !options.queries_file.empty(),
          .as_lines = options.lines || !options.queries_file.empty(),
          .file = to_file ? options.output : "standard output"};
}

std::vector<ShownHit> HitsOf(const index::DocumentIndex& index,
                             const std::vector<index::Answer>& answers, bool by_document) {
  std::vector<ShownHit> hits;
  for (const index::Answer& answer : answers) {
    const std::string_view id = index.id(answer.document);
    hits.push_back({.score = answer.score,
                    .probability = answer.probability,
                    .id = by_document ? data::DocumentOfPassage(id) : id,
                    .text = index.text(answer.document),
                    .highlight = answer.highlight});
    if (by_document) hits.back().passage = id;
  }
  return hits;
}

// Whether queries have ids of their own, and whether documents with their ids are left out.
struct QueryIds {
  bool given = false;
  bool ignore = false;
};

// Encodes texts of both kinds.
struct Embedders {
  Embedders(model::DualEncoder& model, const Globals& globals)
      : queries(model, TextKind::kQuery, globals), passages(model, TextKind::kDocument, globals) {}

  Embedder queries, passages;
};

// Answers the queries of `source`, block by block.
class Search {
 public:
  Search(const index::DocumentIndex& index, Embedders& embedders,
         const index::AnswerOptions& options,
         const std::optional<weights::Calibration>& calibration, const QueryIds& ids,
         bool by_document)
      : index_(index),
        options_(options),
        ids_(ids),
        by_document_(by_document),
        calibration_(calibration ? &*calibration : nullptr),
        queries_(embedders.queries),
        passages_(embedders.passages) {}

  void Run(QuerySource& source, HitsOutput& hits, Output& output) {
    for (auto block = source.Next(kBlock); !block.empty(); block = source.Next(kBlock)) {
      Answer(block, hits);
      output.Flush();
    }
    queries_.Report("queries");
    PrintRemarks(IdenticalIdsRemarks(ids_.ignore, identical_ids_));
  }

  size_t count() const { return count_; }
  size_t unanswered() const { return unanswered_; }
  size_t cut() const { return cut_; }

 private:
  void Answer(const std::vector<SearchQuery>& block, HitsOutput& hits) {
    std::vector<std::string_view> texts;
    for (const SearchQuery& query : block) texts.push_back(query.text);
    const std::vector<float> rows = queries_.Embed(texts);
    auto answers =
        by_document_
            ? index::FindDocuments(index_, rows.data(), block.size(), options_, calibration_)
            : index::FindAnswers(index_, rows.data(), block.size(), options_, calibration_,
                                 [this](std::span<const std::string_view> passages) {
                                   return passages_.Embed(passages);
                                 });
    for (size_t q = 0; q < block.size(); ++q) {
      TreatIdenticalId(block[q].id, answers[q]);
      hits.Add({.id = block[q].id,
                .query = block[q].text,
                .hits = HitsOf(index_, answers[q], by_document_)});
      unanswered_ += answers[q].empty();
      cut_ += answers[q].size() >= options_.k - (ids_.ignore ? 1 : 0) ? 1 : 0;
    }
    count_ += block.size();
  }

  // Leaves out the answer with the id of its query. If there is none, leaves out the last answer,
  // which was searched for in addition.
  void TreatIdenticalId(const std::string& query, std::vector<index::Answer>& answers) {
    if (!ids_.given) return;
    const auto is_query = [&](const index::Answer& answer) {
      const std::string_view id = index_.id(answer.document);
      return (by_document_ ? data::DocumentOfPassage(id) : id) == query;
    };
    if (!ids_.ignore) {
      identical_ids_ += std::any_of(answers.begin(), answers.end(), is_query) ? 1 : 0;
      return;
    }
    identical_ids_ += std::erase_if(answers, is_query);
    if (answers.size() == options_.k) answers.pop_back();
  }

  const index::DocumentIndex& index_;
  const index::AnswerOptions& options_;
  QueryIds ids_;
  bool by_document_;
  const weights::Calibration* calibration_;
  Embedder& queries_;
  Embedder& passages_;
  size_t count_ = 0;
  size_t unanswered_ = 0;
  size_t cut_ = 0;            // queries with as many answers as there may be
  size_t identical_ids_ = 0;  // queries with an answer that has their id
};

// Finds the promise that is kept, and sets the threshold and the number of hits that it needs.
weights::Guarantee KeepPromiseInIndex(const index::DocumentIndex& index, const LoadedModel& loaded,
                                      SearchOptions* options, index::AnswerOptions* answers) {
  const index::IndexInfo& info = index.info();
  weights::Guarantee kept =
      KeptPromise(options->keep, loaded.folder, *loaded.model, options->globals,
                  {.documents = info.documents, .precision = info.model.precision});
  WarnOfApproximate({&kept, 1}, options->index);
  options->min_score = answers->min_score = kept.threshold;
  if (options->top_k == 0) options->top_k = kept.depth > 0 ? kept.depth : kMostKept;
  answers->k = options->top_k + (options->ignore_identical_ids ? 1 : 0);
  if (!options->filters.empty()) {
    Warn(fmt::format("{} was promised of searches without a --filter", kept.Name()));
  }
  return kept;
}

}  // namespace

void RunIndexSearch(const SearchOptions& asked) {
  SearchOptions options = asked;
  Output output(options.output);  // fails before the work if the path cannot be written
  const auto index = OpenIndex(options.index);
  // A promise has a threshold of its own, in place of the index's.
  const bool keeps = !options.keep.empty();
  const std::optional<double> of_index = keeps ? std::nullopt : index->info().min_probability;
  options.min_probability = LeastProbability(asked.min_probability, of_index);
  index::AnswerOptions answers = AnswerOptionsOf(options, index->info());
  if (options.highlight && !index->info().texts) {
    throw UsageError(
        fmt::format("{}: was built without texts, which --highlight needs", options.index));
  }
  const LoadedModel loaded = LoadModelOf(index->info(), options.globals, options.model);
  ModelFlags flags = options.model;
  flags.model = loaded.folder;
  const std::optional<weights::Calibration> calibration = CalibrationOf(*loaded.model, flags);
  CheckIndexProbability(calibration, asked.min_probability, of_index, loaded.folder);
  CheckProbabilities(calibration, options.min_probability, loaded.folder);
  std::optional<weights::Guarantee> kept;
  if (keeps) kept = KeepPromiseInIndex(*index, loaded, &options, &answers);
  const std::unique_ptr<QuerySource> source = SourceOf(options);
  HitsOutput hits(StyleOf(options), [&](std::string_view text) { output.Write(text); });
  Embedders embedders(*loaded.model, options.globals);
  Search search(*index, embedders, answers, calibration,
                {.given = !options.queries_file.empty(), .ignore = options.ignore_identical_ids},
                options.by_document);
  search.Run(*source, hits, output);
  hits.Finish();
  output.Finish();
  if (kept) WarnOfDepth(*kept, options.top_k, search.cut());
  if (!options.output.empty()) {
    Note(fmt::format("{} queries against {} documents -> {}; without a hit: {}", search.count(),
                     index->info().documents,
                     options.output == "-" ? "standard output" : options.output,
                     search.unanswered()));
  }
}

}  // namespace tandem::app
