#include "data/write_dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "data/formats/dataset_writer.h"

namespace tandem::data {
namespace {

const DatasetWriter& WriterOf(std::string_view format) {
  std::vector<std::string_view> known;
  for (const DatasetWriter* writer : DatasetWriters()) {
    if (writer->format == format) return *writer;
    known.push_back(writer->format);
  }
  throw UsageError(fmt::format("data format {} is unknown; data sets are written as {}", format,
                               fmt::join(known, ", ")));
}

void CheckOptions(const DatasetWriter& writer, const WriteOptions& options) {
  if (options.negatives && !writer.has_negatives_option) {
    throw UsageError(
        fmt::format("a number of negatives for each line is given, but {} has no lines of fixed "
                    "columns; only sentence_transformers takes it",
                    writer.format));
  }
  if (!writer.is_folder) {
    if (options.positive_grade &&
        !(*options.positive_grade > 0 && std::isfinite(*options.positive_grade))) {
      throw UsageError(fmt::format("the lowest grade of positives is {}; expected a number above 0",
                                   *options.positive_grade));
    }
    return;
  }
  if (options.positive_grade) {
    throw UsageError(
        fmt::format("a lowest grade of positives is given, but {} keeps all grades as they are",
                    writer.format));
  }
  if (options.split.empty() || options.split.find('/') != std::string::npos) {
    throw UsageError(fmt::format("split \"{}\" is no name of a file; expected one such as train",
                                 options.split));
  }
}

void CheckOutput(const DatasetWriter& writer, const std::filesystem::path& output) {
  if (output.empty() || output == "-") {
    throw UsageError(fmt::format("\"{}\" is no {} that a data set can be written to",
                                 output.native(), writer.is_folder ? "folder" : "file"));
  }
  std::error_code error;
  // A link that points nowhere is in the way, too.
  if (std::filesystem::exists(std::filesystem::symlink_status(output, error))) {
    throw UsageError(fmt::format("{}: exists already; give another {}, or remove it",
                                 output.native(), writer.is_folder ? "folder" : "file"));
  }
  const std::filesystem::path folder = output.parent_path();
  if (!writer.is_folder && !folder.empty() && !std::filesystem::is_directory(folder, error)) {
    throw UsageError(fmt::format("{}: there is no folder {}; make it, or give another file",
                                 output.native(), folder.native()));
  }
  if (writer.is_folder) return;
  const bool packed = output.extension() == ".gz";
  const std::string end = (packed ? output.stem() : output).extension().native();
  const std::map<std::string_view, std::string_view> others = {
      {".parquet", "Parquet"}, {".csv", "CSV"}, {".tsv", "TSV"}};
  const auto other = others.find(end);
  if (other == others.end()) return;
  throw UsageError(
      fmt::format("{}: is the name of a {} file; {} is written as JSON lines: "
                  "give a name that ends in .jsonl or .jsonl.gz",
                  output.native(), other->second, writer.format));
}

}  // namespace

void CheckWriteRequest(std::string_view format, const std::filesystem::path& output,
                       const WriteOptions& options) {
  const DatasetWriter& writer = WriterOf(format);
  CheckOptions(writer, options);
  CheckOutput(writer, output);
}

void CheckFormatHolds(const Dataset& dataset, std::string_view format,
                      const WriteOptions& options) {
  const DatasetWriter& writer = WriterOf(format);
  if (writer.check != nullptr) writer.check(dataset, options);
}

WriteCounts WriteDataset(const Dataset& dataset, std::string_view format,
                         const std::filesystem::path& output, const WriteOptions& options,
                         Warnings* warnings) {
  CheckWriteRequest(format, output, options);
  WarningScope scope(warnings);
  return WriterOf(format).write(
      {.dataset = dataset, .output = output, .options = options, .warnings = scope.get()});
}

}  // namespace tandem::data
