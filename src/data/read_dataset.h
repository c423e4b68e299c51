// A data set of any format.
#pragma once

#include <filesystem>
#include <string_view>

#include "data/dataset.h"
#include "data/input/line_reader.h"
#include "data/lines/example_sink.h"
#include "data/lines/line_rules.h"
#include "data/warnings.h"

namespace tandem::data {

// Says how data.format spells the format of a file of training lines, by the keys of its first line
// (`positive_passages`: tevatron; `pos`: flag_embedding; else sentence_transformers). Throws
// DataError for a file that cannot be read or has no line.
std::string_view FormatOfLines(const std::filesystem::path& path);

// Throws DataError for a Parquet file, which the Python package reads, with a line of Python that
// writes it as JSON lines.
void RefuseParquet(const std::filesystem::path& path);

// `format` as recipes spell it: beir, sentence_transformers, flag_embedding, tevatron, or auto: a
// folder is beir, and the keys of a file's first line tell the others apart (`positive_passages`:
// tevatron; `pos`: flag_embedding; else columns). `split` is for folders. Throws what the readers
// throw, and UsageError for an unknown format.
Dataset ReadDataset(const std::filesystem::path& path, std::string_view format,
                    std::string_view split, Warnings* warnings = nullptr);
// Reads by what a user says of a file's lines; a folder has none.
Dataset ReadDataset(const std::filesystem::path& path, std::string_view format,
                    std::string_view split, const LineRules& rules, Warnings* warnings = nullptr);

// Reads the lines of an open file into `sink`; `format` is one of lines.
void ReadLines(LineReader& reader, std::string_view format, const LineRules& rules,
               ExampleSink& sink);

// What a key of a line of `format`, one of lines, is read as, in words ("query", "negative", ...);
// "": the format does not read it.
std::string_view RoleOfKey(std::string_view format, std::string_view key);

}  // namespace tandem::data
