#include "import/sources/open_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"
#include "base/files/file_kind.h"
#include "data/input/byte_source.h"
#include "data/input/line_reader.h"
#include "data/read_dataset.h"

namespace tandem::import_data {
namespace {

namespace fs = std::filesystem;

struct Refused {
  std::string_view ending;
  std::string_view why;
};
constexpr std::array kRefused = {
    Refused{".xlsx",
            "is an Excel workbook: save its sheet as CSV (in Excel or LibreOffice \"Save As\", "
            "\"CSV UTF-8\"; without a window `soffice --headless --convert-to csv FILE`)"},
    Refused{".xls", "is an Excel workbook: save its sheet as CSV (\"Save As\", \"CSV UTF-8\")"},
    Refused{".ods",
            "is a spreadsheet: save it as CSV (`soffice --headless --convert-to csv FILE`)"},
    Refused{".pdf",
            "is a PDF: make text of it (`pdftotext FILE`), and of texts pairs by `tandem "
            "pairs FOLDER`"},
    Refused{".docx",
            "is a document of Word: make text of it (`pandoc -t gfm FILE -o FILE.md`), and "
            "of texts pairs by `tandem pairs FOLDER`"}};

// The ending in lower case, without ".gz".
std::string EndingOf(const fs::path& path) {
  const fs::path plain = path.extension() == ".gz" ? path.stem() : path;
  std::string ending = plain.extension().native();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return ending;
}

void Refuse(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw UsageError(fmt::format(
        "{0} is a folder; tables and JSON are given as files. A folder of Markdown, HTML "
        "or text becomes training pairs by `tandem pairs {0} -o data/pairs`, and a corpus "
        "to search and to measure on by `tandem pairs {0} --corpus-only -o data/corpus`",
        path.native()));
  }
  const std::string ending = EndingOf(path);
  for (const Refused& refused : kRefused) {
    if (ending == refused.ending) {
      throw UsageError(fmt::format("{} {}", path.native(), refused.why));
    }
  }
  data::RefuseParquet(path);
  if (!fs::exists(path, error)) {
    throw UsageError(fmt::format("{}: there is no such file", path.native()));
  }
  if (!fs::is_regular_file(path, error)) {
    throw UsageError(
        fmt::format("{}: is no regular file; it is read twice (first for its columns), so write it "
                    "to a file",
                    path.native()));
  }
}

// The first character that is no blank, after a byte order mark; 0: there is none. Throws DataError
// for bytes that are no text.
char FirstCharacter(const fs::path& path) {
  const auto source = data::OpenBytes(path, path.native());
  std::string start(kFileKindBytes, '\0');
  start.resize(source->Read(start.data(), start.size()));
  const std::string problem = NoDataProblem(start, path.native());
  if (!problem.empty()) throw DataError(path.native(), 0, "", problem);
  std::string_view text = start;
  if (text.starts_with(data::kByteOrderMark)) text.remove_prefix(data::kByteOrderMark.size());
  const size_t at = text.find_first_not_of(" \t\r\n");
  return at == text.npos ? '\0' : text[at];
}

std::string_view FormatOf(const fs::path& path) {
  const std::string ending = EndingOf(path);
  const char first = FirstCharacter(path);
  if (ending == ".csv") return "csv";
  if (ending == ".tsv" || ending == ".tab") return "tsv";
  if (first == '[' && ending != ".jsonl" && ending != ".ndjson") return "json";
  if (first == '{' || ending == ".jsonl" || ending == ".ndjson" || ending == ".json") {
    return "jsonl";
  }
  return "csv";
}

}  // namespace

std::unique_ptr<RowSource> OpenSource(const fs::path& path, const SourceOptions& options,
                                      data::Warnings& warnings) {
  Refuse(path);
  const std::string_view format = options.format == "auto" ? FormatOf(path) : options.format;
  if (format == "jsonl") return MakeJsonLinesSource(path, warnings);
  if (format == "json") return MakeJsonArraySource(path, warnings);
  SourceOptions table = options;
  if (format == "tsv" && !table.delimiter) table.delimiter = '\t';
  return MakeTableSource(path, table, warnings);
}

}  // namespace tandem::import_data
