#include "data/read_dataset.h"

#include <fmt/format.h>

#include "base/error.h"
#include "data/formats/beir.h"
#include "data/formats/flag_embedding.h"
#include "data/formats/sentence_transformers.h"
#include "data/formats/tevatron.h"
#include "data/lines/dataset_builder.h"
#include "data/lines/json_line.h"
#include "data/tables/table_lines.h"

namespace tandem::data {
std::string_view FormatOfLines(const std::filesystem::path& path) {
  Warnings ignored;  // the file's own reader counts them again
  LineReader reader = OpenTrainingLines(path, ignored);
  std::string_view line;
  if (!reader.Next(&line)) throw DataError(reader.file(), 0, "", "holds no example");
  JsonLineParser parser;
  const std::span<const JsonField> fields = parser.Parse(reader, line);
  if (FindField(fields, "positive_passages") != nullptr) return "tevatron";
  if (FindField(fields, "pos") != nullptr) return "flag_embedding";
  return "sentence_transformers";
}

namespace {

// Throws DataError for a path that cannot be a data set.
void CheckPath(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    throw DataError(path.native(), 0, "",
                    "there is no such file or folder; expected a BEIR folder or a file of JSON "
                    "lines, CSV or TSV");
  }
  RefuseParquet(path);
}

}  // namespace

void RefuseParquet(const std::filesystem::path& path) {
  if (path.extension() != ".parquet") return;
  throw DataError(path.native(), 0, "",
                  fmt::format("is a Parquet file, which this program does not read. Where Python "
                              "has pyarrow, this makes JSON lines of it: python3 -c \"import json, "
                              "pyarrow.parquet as p; [print(json.dumps(r, default=str)) for r in "
                              "p.read_table('{}').to_pylist()]\" > {}.jsonl; the tandem of the "
                              "Python package (./dev wheel) reads it as it is (docs/parquet.md)",
                              path.native(), path.stem().native()));
}

Dataset ReadDataset(const std::filesystem::path& path, std::string_view format,
                    std::string_view split, Warnings* warnings) {
  return ReadDataset(path, format, split, LineRules(), warnings);
}

void ReadLines(LineReader& reader, std::string_view format, const LineRules& rules,
               ExampleSink& sink) {
  if (format == "sentence_transformers") return ReadColumns(reader, rules, sink);
  if (format == "flag_embedding") return ReadFlagEmbedding(reader, rules, sink);
  if (format == "tevatron") return ReadTevatron(reader, rules, sink);
  throw UsageError(fmt::format(
      "data format {} is unknown; known are auto, beir, sentence_transformers, flag_embedding, "
      "tevatron",
      format));
}

Dataset ReadDataset(const std::filesystem::path& path, std::string_view format,
                    std::string_view split, const LineRules& rules, Warnings* warnings) {
  CheckPath(path);
  if (format == "auto") {
    format = std::filesystem::is_regular_file(path) ? FormatOfLines(path) : "beir";
  }
  if (format == "beir") return LoadBeir(path, split, warnings);
  WarningScope scope(warnings);
  LineReader reader = OpenTrainingLines(path, scope.get());
  DatasetBuilder builder(reader);
  ReadLines(reader, format, rules, builder);
  return builder.Take();
}

std::string_view RoleOfKey(std::string_view format, std::string_view key) {
  if (format == "sentence_transformers") return ColumnRole(key);
  if (format == "flag_embedding") return FlagEmbeddingRole(key);
  return format == "tevatron" ? TevatronRole(key) : "";
}

}  // namespace tandem::data
