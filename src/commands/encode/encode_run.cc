// The work of `tandem encode`: reads, encodes and writes texts block by block, whatever their
// number.
#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/log.h"
#include "base/process/interrupt.h"
#include "base/progress.h"
#include "cli/process/signal_watch.h"
#include "commands/encode/encode_command.h"
#include "commands/encode/encode_shard.h"
#include "commands/encode/encode_stdout.h"
#include "commands/encode/encode_texts.h"
#include "commands/model/load_model.h"
#include "commands/until_stopped.h"
#include "data/input/byte_source.h"
#include "data/warnings.h"
#include "embeddings/layouts/kept.h"
#include "embeddings/layouts/npy_output.h"
#include "embeddings/layouts/parts.h"
#include "search/encode.h"
#include "search/encoding/encoding_source.h"
#include "tensor/core/tensor.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kTextsBetweenReports = uint64_t{1} << 16;

// The input that is read.
struct Source {
  data::TextInputOptions options;
  bool again = false;  // whether all of it can be read a second time
  std::string last;    // the last input
  uint64_t bytes = 0;  // size of regular files
};

Source SourceOf(const EncodeCommandOptions& options, data::TextRole role) {
  Source source{.options = TextInputOptionsOf(options.texts, options.inputs, role), .last = {}};
  data::Warnings none;
  const data::TextInput input(source.options, none);
  source.again = input.SourceHash() != 0;
  source.last = data::NameOfInput(input.files().back().path);
  for (const data::InputFile& file : input.files()) source.bytes += file.bytes;
  return source;
}

// Encodes all texts of one command.
class EncodeJob {
 public:
  EncodeJob(const EncodeCommandOptions& options, Source source, model::DualEncoder& model)
      : source_(std::move(source)),
        model_(model),
        is_query_(options.kind == "query"),
        size_{.texts = options.block_texts},
        encode_(BulkOptions(options.globals)) {
    encode_.label = "encode";
  }

  // Returns the settings that decide the embeddings, besides the texts themselves.
  embeddings::Provenance Made() const {
    embeddings::Provenance made;
    made.Add("width", fmt::format("{}", model_.embedding_width()));
    made.Add("block", fmt::format("{} {}", size_.texts, size_.bytes));
    made.Add("id_field", fmt::format("{:?}", source_.options.id_field));
    made.Add("text_field", fmt::format("{:?}", source_.options.text_field));
    return made.Add(search::EncodingSource(model_, kind(), encode_));
  }
  // Returns the settings of one of several parts, which must all be made of one input with `total`
  // texts.
  embeddings::Provenance MadeOfPart(uint64_t total) const {
    return Made().Add("input", fmt::format("{} texts, files of {} bytes", total, source_.bytes));
  }

  // Counts all texts and restricts the job to those of this shard. The shard of index 0 also checks
  // all texts, because ids that occur in two shards are found only there. Returns the texts of this
  // shard.
  ShardRange KeepTo(const embeddings::Shard& shard, const fs::path& folder);
  // Returns the record of the shard after it has run, without its files.
  embeddings::PartRecord Record(const embeddings::Shard& shard, const ShardRange& range) const;

  // Encodes the texts after the blocks of `kept`. `folder` is for a nameless file of the ids.
  void Run(embeddings::BlockOutput& output, const embeddings::Journal& kept,
           const fs::path& folder);
  // Reports the counts of all texts.
  void Report(const std::string& target);

 private:
  model::TextKind kind() const {
    return is_query_ ? model::TextKind::kQuery : model::TextKind::kDocument;
  }
  uint64_t Survey(const embeddings::Journal& kept, const fs::path& folder);
  void EncodeBlocks(const NextInputText& next, std::optional<uint64_t> total,
                    const embeddings::Journal& kept, embeddings::BlockOutput& output);

  Source source_;
  model::DualEncoder& model_;
  bool is_query_;
  BlockSize size_;
  TextRange range_;
  uint64_t texts_hash_ = 0;  // of the texts in the range, after they were read
  search::EncodeOptions encode_;
  data::Warnings warnings_;
  embeddings::EncodeCounts counts_;
};

// Reads all texts before any is encoded, so that errors in them are found before work is done.
// Returns their number.
uint64_t EncodeJob::Survey(const embeddings::Journal& kept, const fs::path& folder) {
  Progress progress({.label = "read", .unit = "texts"});
  CheckedTexts texts(source_.options, folder, kept.blocks, warnings_, range_);
  data::InputText text;
  while (texts.Next(&text)) {
    if (texts.count() % kTextsBetweenReports != 0) continue;
    progress.Update(texts.count());
    StopIfAsked();
  }
  texts_hash_ = texts.hash();
  return texts.count();
}

ShardRange EncodeJob::KeepTo(const embeddings::Shard& shard, const fs::path& folder) {
  uint64_t total = 0;
  if (shard.index == 0) {
    data::Warnings counted;  // of all shards together
    std::swap(counted, warnings_);
    total = Survey({}, folder);
    std::swap(counted, warnings_);
  } else {
    Progress progress({.label = "count", .unit = "texts"});
    data::Warnings ignored;
    data::TextInput input(source_.options, ignored);
    while (const uint64_t more = input.SkipUpTo(kTextsBetweenReports)) {
      progress.Update(total += more);
      StopIfAsked();
    }
  }
  const ShardRange range = RangeOfShard(shard, total, size_.texts);
  range_ = {.first = range.first, .count = range.count};
  return range;
}

embeddings::PartRecord EncodeJob::Record(const embeddings::Shard& shard,
                                         const ShardRange& range) const {
  return {.shard = shard,
          .first_row = range.first,
          .rows = range.count,
          .total_rows = range.total,
          .width = static_cast<uint64_t>(model_.embedding_width()),
          .similarity = model_.similarity(),
          .prompt = model_.prompt(kind()),
          .provenance = MadeOfPart(range.total),
          .texts_hash = texts_hash_,
          .embeddings = {},
          .ids = {}};
}

void EncodeJob::EncodeBlocks(const NextInputText& next, std::optional<uint64_t> total,
                             const embeddings::Journal& kept, embeddings::BlockOutput& output) {
  const uint64_t before = kept.rows();
  encode_.encoded_before = before;
  for (const embeddings::JournalBlock& block : kept.blocks) counts_ += block.counts;
  search::StreamEncoder encoder(model_, kind(), encode_, total ? *total - before : 0);
  TextBlock block;
  while (ReadBlock(next, size_, &block)) {
    StopIfAsked();
    if (kept.complete) {
      throw DataError(source_.last, 0, "",
                      fmt::format("the input has more than the {} texts that were encoded before; "
                                  "encode with --force",
                                  before));
    }
    embeddings::EncodeCounts counts;
    const tensor::Tensor rows = encoder.Encode(block.texts, &counts);
    output.Write({.rows = {rows.data_ptr<float>(), static_cast<size_t>(rows.numel())},
                  .ids = block.ids,
                  .texts_hash = block.hash,
                  .counts = counts});
    counts_ += counts;
  }
  StopIfAsked();  // the same signal may have ended a pipe
  if (total && counts_.texts != *total) {
    throw DataError(source_.last, 0, "",
                    fmt::format("the input has {} texts, and had {} when it was read first; it "
                                "must not change while it is encoded",
                                counts_.texts, *total));
  }
}

void EncodeJob::Run(embeddings::BlockOutput& output, const embeddings::Journal& kept,
                    const fs::path& folder) {
  const uint64_t before = kept.rows();
  if (before > 0) {
    Note(fmt::format("{}{} texts have been encoded before", kept.complete ? "all " : "", before));
  }
  std::optional<uint64_t> total;
  if (source_.again) total = Survey(kept, folder);
  output.Begin(total);
  if (source_.again) {
    data::Warnings counted;  // already counted by the first reading
    data::TextInput input(source_.options, counted);
    input.Skip(range_.first + before);
    uint64_t left = range_.count - before;
    EncodeBlocks([&](data::InputText* text) { return left > 0 && (--left, input.Next(text)); },
                 total, kept, output);
  } else {
    CheckedTexts texts(source_.options, folder, kept.blocks, warnings_);
    data::InputText text;
    while (texts.count() < before && texts.Next(&text)) StopIfAsked();
    EncodeBlocks([&](data::InputText* next) { return texts.Next(next); }, total, kept, output);
  }
}

void EncodeJob::Report(const std::string& target) {
  warnings_.Report();
  search::ReportCounts(counts_, is_query_ ? "queries" : "documents", model_.max_tokens(kind()));
  Note(fmt::format("{} texts, {} tokens -> {}", counts_.texts, counts_.tokens, target));
}

// Runs the job into its files, which get their final names after `before_names` has returned.
void RunIntoFiles(EncodeJob& job, embeddings::NpyOutput& files, const fs::path& folder,
                  const std::function<void()>& before_names) {
  try {
    job.Run(files, files.kept(), folder);
    before_names();
    files.Finish();
  } catch (const Interrupted&) {  // says less than the message below
    throw Interrupted(SignalWatch::Received(), "interrupted; " + files.WhatIsLeft());
  } catch (const Error&) {
    if (files.rows() > files.kept().rows()) Note(files.WhatIsLeft());
    throw;
  }
}

void EncodeToFiles(const EncodeCommandOptions& options, EncodeJob& job, size_t width) {
  const embeddings::NpyPaths paths = embeddings::NpyPathsOf(options.output);
  if (paths.in_folder) embeddings::CheckNoParts(paths.folder());
  embeddings::NpyOutput files(paths,
                              {.width = width, .provenance = job.Made(), .resume = options.resume});
  const SignalWatch signals;
  RunIntoFiles(job, files, paths.folder(), [&] {
    // The files replace embeddings that a search has kept here.
    if (paths.in_folder || paths.embeddings.filename() == "embeddings.npy") {
      embeddings::ForgetKept(paths.folder());
    }
  });
  job.Report(paths.embeddings.native());
}

void EncodeToPart(const EncodeCommandOptions& options, const embeddings::Shard& shard,
                  EncodeJob& job, size_t width) {
  const embeddings::NpyPaths paths = embeddings::PathsOfPart(options.output, shard);
  const SignalWatch signals;
  MakeFolder(paths.folder());
  const ShardRange range = job.KeepTo(shard, paths.folder());
  embeddings::Provenance made = job.MadeOfPart(range.total);
  embeddings::CheckPartsFolder(paths.folder(), shard, made);
  if (range.count == 0) {
    Note(fmt::format("no texts are this shard's: the input has {} in blocks of {} (--block-texts)",
                     range.total, options.block_texts));
  }
  embeddings::NpyOutput files(
      paths,
      {.width = width, .provenance = made.Add("shard", shard.Text()), .resume = options.resume});
  RunIntoFiles(job, files, paths.folder(),
               [&] { embeddings::RemovePartRecord(paths.folder(), shard); });
  embeddings::WritePartRecord(paths.folder(), job.Record(shard, range), ThreadsOf(options.globals));
  job.Report(paths.embeddings.native());
}

void EncodeToStdout(const EncodeCommandOptions& options, EncodeJob& job, size_t width) {
  const SignalWatch signals;
  const auto output = MakeEncodeStdout(options.output_format, width);
  job.Run(*output, {}, fs::temp_directory_path());
  output->Finish();
  job.Report("standard output");
}

// Returns the shard of this process, if it is one. Sets the options to resume if the launcher has
// restarted the job.
std::optional<embeddings::Shard> PlaceOf(EncodeCommandOptions* options) {
  bool restarted = false;
  const auto shard = ShardOfProcess(options->shard, &restarted);
  if (!shard) return shard;
  const fs::path output = options->output;
  std::error_code ignored;
  if (options->output == "-" ||
      (output.extension() == ".npy" && !fs::is_directory(output, ignored))) {
    throw UsageError(fmt::format(
        "{}: each shard writes a part into one folder; found --output {}, expected a folder",
        options->shard.empty() ? fmt::format("this is process {} of a launcher", shard->Text())
                               : "--shard " + options->shard,
        options->output));
  }
  options->resume = options->resume || restarted;
  return shard;
}

// Refuses to replace finished files, which may have taken hours, unless the user says so.
void CheckMayReplace(const EncodeCommandOptions& options,
                     const std::optional<embeddings::Shard>& shard) {
  if (options.output == "-" || options.resume || options.force) return;
  const embeddings::NpyPaths paths = shard ? embeddings::PathsOfPart(options.output, *shard)
                                           : embeddings::NpyPathsOf(options.output);
  if (!fs::exists(paths.embeddings)) return;
  throw UsageError(
      fmt::format("{}: exists already: --force encodes anew and replaces it when that is done, "
                  "--resume keeps it where it is of the same texts and model",
                  paths.embeddings.native()));
}

void CheckCanBeReadAgain(const EncodeCommandOptions& options, const Source& source, bool shard) {
  if (source.again) return;
  if (shard) {
    throw UsageError(
        "shards count the texts first and then read their own, which standard input and pipes "
        "cannot give; name files");
  }
  if (options.output_format != "npy") return;
  throw UsageError(
      "--output-format npy needs the number of texts beforehand, which standard input and pipes "
      "do not tell; take jsonl or raw, or a file as --output");
}

}  // namespace

void RunEncode(const EncodeCommandOptions& given) {
  EncodeCommandOptions options = given;
  const std::optional<embeddings::Shard> shard = PlaceOf(&options);
  std::optional<ShardMessages> messages;
  if (shard && options.shard.empty()) messages.emplace(*shard);
  const auto role = options.kind == "query" ? data::TextRole::kQuery : data::TextRole::kDocument;
  CheckMayReplace(options, shard);
  Source source = SourceOf(options, role);
  CheckCanBeReadAgain(options, source, shard.has_value());
  const auto model = LoadModel(options.globals, options.model);
  EncodeJob job(options, std::move(source), *model);
  const auto width = static_cast<size_t>(model->embedding_width());
  if (shard) {
    EncodeToPart(options, *shard, job, width);
  } else if (options.output == "-") {
    EncodeToStdout(options, job, width);
  } else {
    EncodeToFiles(options, job, width);
  }
}

}  // namespace tandem::app
