// The work of `tandem index build`, `add` and `compact`.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/process/interrupt.h"
#include "commands/index/index_command.h"
#include "commands/model/load_model.h"
#include "commands/model/model_calibration.h"
#include "commands/until_stopped.h"
#include "data/input/text_input.h"
#include "data/warnings.h"
#include "index/building/build.h"
#include "index/building/index_model.h"
#include "index/building/merge.h"
#include "index/choose.h"
#include "index/folder/index_info.h"
#include "index/segments/segment.h"
#include "search/encode.h"
#include "search/retrieval/model_parts.h"
#include "tensor/machine/process.h"

namespace tandem::app {
namespace {

constexpr double kDefaultRecall = 0.95;

index::ChangeOptions ChangeOptionsOf(const Globals& globals, const std::string& memory) {
  return {.threads = ThreadsOf(globals), .memory = MemoryOf(memory), .stop = SignalWatch::Received};
}

index::IndexEncoder EncoderOf(model::DualEncoder& model, const std::filesystem::path& path,
                              std::optional<int64_t> dimensions, const Globals& globals) {
  const search::EncodeOptions encode = BulkOptions(globals);
  return {.model = model,
          .encode = encode,
          .description = index::DescribeModel(model, path, encode.precision, dimensions)};
}

// What an interruption leaves.
std::string LeftOf(const std::string& folder, std::string_view what_next) {
  return fmt::format("{} is as it was; {}", folder, what_next);
}

// Says how to continue the work on `input` that a signal has stopped.
std::string_view WhatNext(const data::TextInput& input) {
  return input.SourceHash() == 0 ? "what was done is done anew, since the input is no file"
                                 : "the same command goes on where this one stopped";
}

void Report(const index::BuildReport& report, const model::DualEncoder& model) {
  search::ReportCounts(report.counts, "documents", model.max_tokens(model::TextKind::kDocument));
}

// Returns the kind that the user names, or chooses one that suits the recall and the memory and
// notes the choice.
index::KindChoice ChooseKind(const IndexBuildCommandOptions& options, size_t rows, size_t width) {
  if (options.kind.empty()) {
    const index::Choice choice = index::Choose({.rows = rows,
                                                .width = width,
                                                .recall = options.recall.value_or(kDefaultRecall),
                                                .memory = MemoryOf(options.memory)},
                                               index::IndexKinds());
    Note(choice.sentence);
    return {choice.kind, choice.params};
  }
  const index::IndexKindInfo& kind = index::FindIndexKind(options.kind);
  return {&kind, KindParamsOf(kind, options.set, options.recall)};
}

void JoinSegments(const std::string& folder, const index::ChangeOptions& change) {
  try {
    const index::MergeReport joined =
        index::JoinSmallSegments(folder, index::kMostSmallSegments, change);
    if (joined.segments == 0) return;
    Note(fmt::format("{} small segments became one of {} documents", joined.segments,
                     joined.documents));
  } catch (const UsageError&) {
    // Another process has begun to change the index in the meantime. The documents are in the index
    // already, and the next addition joins the segments.
  }
}

}  // namespace

void RunIndexBuild(const IndexBuildCommandOptions& options) {
  const auto model = LoadModel(options.globals, options.model);
  if (options.min_probability) {
    CheckProbabilities(CalibrationOf(*model, options.model), options.min_probability,
                       options.model.model);
  }
  data::Warnings warnings;
  const data::TextInputOptions source =
      TextInputOptionsOf(options.input, options.documents, data::TextRole::kDocument);
  data::TextInput input(source, warnings);
  const index::NewIndex wanted{
      .fields = source.fields,
      .texts = !options.no_texts,
      .min_probability = options.min_probability,
      .choose = [&](size_t rows, size_t width) { return ChooseKind(options, rows, width); },
      .copy_model = options.with_model,
      .replace = options.replace};
  index::IndexEncoder encoder =
      EncoderOf(*model, options.model.model, options.model.dimensions, options.globals);
  encoder.cache = CacheUnless(options.no_cache);
  std::optional<embeddings::EmbeddingParts> parts;
  if (!options.embeddings.empty()) {
    parts.emplace(search::OpenPartsFor(options.embeddings, *model, model::TextKind::kDocument,
                                       encoder.encode));
    search::NoteParts(*parts);
    encoder.parts = &*parts;
  }
  const index::BuildReport report = UntilStopped(LeftOf(options.output, WhatNext(input)), [&] {
    return index::BuildIndex(
        std::move(encoder), options.output,
        {[&](data::InputText* text) { return input.Next(text); }, input.SourceHash()}, wanted,
        ChangeOptionsOf(options.globals, options.memory));
  });
  warnings.Report();
  Report(report, *model);
  Note(fmt::format("{} documents -> {}, kind {}", report.documents, options.output,
                   report.choice.kind->name));
}

void RunIndexAdd(const IndexAddCommandOptions& options) {
  const index::Manifest manifest = index::ReadManifest(options.index);
  const index::IndexInfo info = index::InfoOf(options.index, manifest);
  tensor::SetUpProcess(options.globals.threads);
  if (options.model.empty()) {
    index::CheckFiles(options.index, manifest.model_files, true, ThreadsOf(options.globals));
  }
  const auto model = index::LoadIndexModel(info, index::LoadOptionsOf(info.model), options.model);
  model->To(CommandDevice(options.globals));
  data::Warnings warnings;
  data::TextInputOptions source =
      TextInputOptionsOf(options.input, options.documents, data::TextRole::kDocument);
  source.fields = info.fields;
  data::TextInput input(source, warnings);
  const index::ChangeOptions change = ChangeOptionsOf(options.globals, options.memory);
  const index::BuildReport report = UntilStopped(LeftOf(options.index, WhatNext(input)), [&] {
    index::IndexEncoder encoder =
        EncoderOf(*model, info.model.path, info.model.dimensions, options.globals);
    encoder.cache = CacheUnless(options.no_cache);
    return index::AddDocuments(
        std::move(encoder), options.index,
        {[&](data::InputText* text) { return input.Next(text); }, input.SourceHash()},
        options.update, change);
  });
  warnings.Report();
  Report(report, *model);
  Note(fmt::format("{} documents -> {}{}", report.documents, options.index,
                   report.updated == 0
                       ? std::string()
                       : fmt::format("; {} took the place of ones with their id", report.updated)));
  JoinSegments(options.index, change);
}

void RunIndexCompact(const IndexCompactCommandOptions& options) {
  tensor::SetUpProcess(options.globals.threads);
  const index::MergeReport report =
      UntilStopped(LeftOf(options.index, "nothing of the new segment is kept"), [&] {
        return index::CompactIndex(options.index, ChangeOptionsOf(options.globals, options.memory));
      });
  if (report.segments == 0) {
    Note(fmt::format("{} is compact: one segment, nothing removed", options.index));
    return;
  }
  Note(fmt::format("{} segments became one of {} documents; {} removed ones are gone",
                   report.segments, report.documents, report.dropped));
}

}  // namespace tandem::app
