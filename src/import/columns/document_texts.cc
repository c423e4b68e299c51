#include "import/columns/document_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"
#include "base/log.h"

namespace tandem::import_data {
namespace {

// Endings of files that hold documents.
constexpr std::array<std::string_view, 22> kDocumentEndings = {
    ".md",  ".markdown", ".mdx", ".rst",  ".adoc", ".txt",  ".text", ".html",
    ".htm", ".xhtml",    ".xml", ".pdf",  ".doc",  ".docx", ".odt",  ".rtf",
    ".tex", ".json",     ".ppt", ".pptx", ".epub", ".org"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool HasBlank(std::string_view value) {
  return value.find_first_of(" \t\r\n") != std::string_view::npos;
}

std::string LowerCase(std::string_view value) {
  std::string lower(value);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

// What a user can do whose table names documents.
constexpr std::string_view kNamesAdvice =
    "--corpus FOLDER takes them for documents of a corpus (tandem pairs FOLDER --corpus-only -o "
    "DATA makes one of files)";

}  // namespace

bool NamesFile(std::string_view value) {
  constexpr size_t kLongestName = 255;  // bytes, of file systems
  if (value.starts_with("https://") || value.starts_with("http://")) return !HasBlank(value);
  value = value.substr(0, value.rfind('#'));  // a passage, or a place of the page
  if (value.size() > kLongestName || value.find('\n') != std::string_view::npos) return false;
  const std::string lower = LowerCase(value);
  return std::any_of(kDocumentEndings.begin(), kDocumentEndings.end(),
                     [&](std::string_view ending) {
                       return lower.size() > ending.size() && lower.ends_with(ending);
                     });
}

bool LooksLikeId(std::string_view value) {
  return !HasBlank(value) && std::any_of(value.begin(), value.end(), IsDigit);
}

void CheckDocumentsAreTexts(const SourceSample& sample, std::string_view document,
                            std::string_view file) {
  const auto column = std::find_if(sample.columns.begin(), sample.columns.end(),
                                   [&](const ColumnSample& one) { return one.name == document; });
  if (column == sample.columns.end() || column->rows == 0) return;
  if (column->files == column->rows) {
    throw UsageError(
        fmt::format("{}: the column \"{}\" names files (\"{}\"), and documents are read as texts; "
                    "{}. --corpus - takes the names as texts",
                    file, document, column->example, kNamesAdvice));
  }
  if (column->ids == column->rows) {
    Warn(
        fmt::format("{}: the column \"{}\" seems to hold ids (\"{}\"), which are taken as the "
                    "documents' texts; {}",
                    file, document, column->example, kNamesAdvice));
  }
}

}  // namespace tandem::import_data
