// The work of `tandem encode`: texts stream through block by block, whatever their number.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "app/encode_command.h"
#include "app/encode_files.h"
#include "app/encode_stdout.h"
#include "app/encode_texts.h"
#include "app/load_model.h"
#include "app/signal_watch.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "data/byte_source.h"
#include "data/warnings.h"
#include "search/encode.h"
#include "search/encoding_source.h"
#include "search/kept_embeddings.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

void ThrowIfStopped() {
  if (const int signal = SignalWatch::Received()) throw Interrupted(signal, "interrupted");
}

// What is read.
struct Source {
  data::TextInputOptions options;
  bool again = false;  // whether all of it can be read twice
  std::string last;    // input
};

Source SourceOf(const EncodeCommandOptions& options, data::TextRole role) {
  Source source{.options = TextInputOptionsOf(options.texts, options.inputs, role), .last = {}};
  data::Warnings none;
  const data::TextInput input(source.options, none);
  source.again = input.SourceHash() != 0;
  source.last = data::NameOfInput(input.files().back().path);
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
        encode_(BulkOptions()) {
    encode_.label = "encode";
    encode_.stop = SignalWatch::Received;
  }

  // What decides the bytes, besides the texts themselves.
  std::string Settings() const {
    return fmt::format("width {}\nblock {} {}\nid_field {:?}\ntext_field {:?}\n{}",
                       model_.embedding_width(), size_.texts, size_.bytes, source_.options.id_field,
                       source_.options.text_field, search::EncodingSource(model_, kind(), encode_));
  }

  // Encodes what follows the blocks of `kept`. `folder` is for a nameless file of the ids.
  void Run(EncodeOutput& output, const EncodeJournal& kept, const fs::path& folder);
  // The counts of all texts, to be reported.
  void Report(const std::string& target);

 private:
  model::TextKind kind() const {
    return is_query_ ? model::TextKind::kQuery : model::TextKind::kDocument;
  }
  uint64_t Survey(const EncodeJournal& kept, const fs::path& folder);
  void EncodeBlocks(const NextInputText& next, std::optional<uint64_t> total,
                    const EncodeJournal& kept, EncodeOutput& output);

  Source source_;
  model::DualEncoder& model_;
  bool is_query_;
  BlockSize size_;
  search::EncodeOptions encode_;
  data::Warnings warnings_;
  search::EncodeCounts counts_;
};

// Reads all texts before any is encoded, so that what is wrong with them shows while nothing is
// lost. Returns their number.
uint64_t EncodeJob::Survey(const EncodeJournal& kept, const fs::path& folder) {
  constexpr uint64_t kTextsBetweenReports = uint64_t{1} << 16;
  Progress progress({.label = "read", .unit = "texts"});
  CheckedTexts texts(source_.options, folder, kept.blocks, warnings_);
  data::InputText text;
  while (texts.Next(&text)) {
    if (texts.count() % kTextsBetweenReports != 0) continue;
    progress.Update(texts.count());
    ThrowIfStopped();
  }
  return texts.count();
}

void EncodeJob::EncodeBlocks(const NextInputText& next, std::optional<uint64_t> total,
                             const EncodeJournal& kept, EncodeOutput& output) {
  const uint64_t before = kept.rows();
  encode_.encoded_before = before;
  for (const EncodedBlock& block : kept.blocks) counts_ += block.counts;
  search::StreamEncoder encoder(model_, kind(), encode_, total ? *total - before : 0);
  TextBlock block;
  while (ReadBlock(next, size_, &block)) {
    ThrowIfStopped();
    if (kept.complete) {
      throw DataError(source_.last, 0, "",
                      fmt::format("the input has more than the {} texts that were encoded before; "
                                  "encode without --resume",
                                  before));
    }
    search::EncodeCounts counts;
    const at::Tensor rows = encoder.Encode(block.texts, &counts);
    output.Write(block, {rows.data_ptr<float>(), static_cast<size_t>(rows.numel())}, counts);
    counts_ += counts;
  }
  ThrowIfStopped();  // a pipe may have ended by the same signal
  if (total && counts_.texts != *total) {
    throw DataError(source_.last, 0, "",
                    fmt::format("the input has {} texts, and had {} when it was read first; it "
                                "must not change while it is encoded",
                                counts_.texts, *total));
  }
}

void EncodeJob::Run(EncodeOutput& output, const EncodeJournal& kept, const fs::path& folder) {
  const uint64_t before = kept.rows();
  if (before > 0) {
    Note(fmt::format("{}{} texts have been encoded before", kept.complete ? "all " : "", before));
  }
  std::optional<uint64_t> total;
  if (source_.again) total = Survey(kept, folder);
  output.Begin(total);
  if (source_.again) {
    data::Warnings counted;  // by the first reading
    data::TextInput input(source_.options, counted);
    input.Skip(before);
    EncodeBlocks([&](data::InputText* text) { return input.Next(text); }, total, kept, output);
  } else {
    CheckedTexts texts(source_.options, folder, kept.blocks, warnings_);
    data::InputText text;
    while (texts.count() < before && texts.Next(&text)) ThrowIfStopped();
    EncodeBlocks([&](data::InputText* next) { return texts.Next(next); }, total, kept, output);
  }
}

void EncodeJob::Report(const std::string& target) {
  warnings_.Report();
  search::ReportCounts(counts_, is_query_ ? "queries" : "documents", model_.max_tokens(kind()));
  Note(fmt::format("{} texts, {} tokens -> {}", counts_.texts, counts_.tokens, target));
}

void EncodeToFiles(const EncodeCommandOptions& options, EncodeJob& job, size_t width) {
  const EncodePaths paths = EncodePathsOf(options.output);
  EncodeFiles files(paths, {.width = width, .settings = job.Settings(), .resume = options.resume});
  const SignalWatch signals;
  try {
    job.Run(files, files.kept(), paths.folder());
    // The files replace embeddings that a search kept here.
    if (paths.in_folder || paths.embeddings.filename() == "embeddings.npy") {
      search::ForgetKept(paths.folder());
    }
    files.Finish();
  } catch (const Interrupted&) {  // says less than the line below
    throw Interrupted(SignalWatch::Received(), "interrupted; " + files.WhatIsLeft());
  } catch (const Error&) {
    if (files.rows() > files.kept().rows()) Note(files.WhatIsLeft());
    throw;
  }
  job.Report(paths.embeddings.native());
}

void EncodeToStdout(const EncodeCommandOptions& options, EncodeJob& job, size_t width) {
  const SignalWatch signals;
  const auto output = MakeEncodeStdout(options.output_format, width);
  job.Run(*output, {}, fs::temp_directory_path());
  output->Finish();
  job.Report("standard output");
}

}  // namespace

void RunEncode(const EncodeCommandOptions& options) {
  const auto role = options.kind == "query" ? data::TextRole::kQuery : data::TextRole::kDocument;
  Source source = SourceOf(options, role);
  if (options.output_format == "npy" && !source.again) {
    throw UsageError(
        "--output-format npy needs the number of texts beforehand, which standard input and pipes "
        "do not tell; take jsonl or raw, or a file as --output");
  }
  const auto model = LoadModel(options.model);
  EncodeJob job(options, std::move(source), *model);
  const auto width = static_cast<size_t>(model->embedding_width());
  if (options.output == "-") {
    EncodeToStdout(options, job, width);
  } else {
    EncodeToFiles(options, job, width);
  }
}

}  // namespace tandem::app
