#include "base/files/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tandem {
namespace {

constexpr std::string_view kPointerStart = "version https://git-lfs.github.com/spec/";

// The start of a kind of file, and what to say of it.
struct Signature {
  std::string_view bytes;
  std::string_view what;
  std::string_view advice;
};

using std::string_view_literals::operator""sv;

constexpr std::string_view kAsLines = "write its rows as JSON lines";

constexpr Signature kSignatures[] = {
    {"\x1F\x8B"sv, "is gzip-compressed", "unpack it with gunzip"},
    {"PAR1\x15"sv, "is a Parquet file",
     "give it to the tandem of the Python package tandem-retrieval[parquet], by a name that ends "
     "in .parquet, or write it as JSON lines, in Python: pandas.read_parquet(...).to_json(..., "
     "orient=\"records\", lines=True)"},
    {"ARROW1\0"sv, "is an Arrow file",
     "give it to the tandem of the Python package tandem-retrieval[parquet], by a name that ends "
     "in .arrow, or write its rows as JSON lines"},
    {"\x89HDF\r\n"sv, "is an HDF5 file", "save the model as safetensors"},
    {"SQLite format 3\0"sv, "is an SQLite database", kAsLines},
    {"\x93NUMPY"sv, "is an array of NumPy", ""},
    {"GGUF\x02"sv, "is a GGUF file of llama.cpp", "take the model that it was made from"},
    {"GGUF\x03"sv, "is a GGUF file of llama.cpp", "take the model that it was made from"},
    {"BZh91AY&SY"sv, "is bzip2-compressed", "unpack it with bunzip2"},
    {"\xFD"
     "7zXZ\0"sv,
     "is xz-compressed", "unpack it with unxz"},
    {"\x28\xB5\x2F\xFD"sv, "is zstd-compressed", "unpack it with unzstd"},
    {"7z\xBC\xAF\x27\x1C"sv, "is a 7-Zip archive", "unpack it"},
    {"%PDF-"sv, "is a PDF file", "make text of it with pdftotext"},
    {"\x7F"
     "ELF"sv,
     "is a program", ""},
};

// Spreadsheets and PyTorch's files are zip archives too; their first member tells.
std::string ZipProblem(std::string_view bytes) {
  const auto has = [&](std::string_view name) { return bytes.find(name) != bytes.npos; };
  if (has("[Content_Types].xml") || has("xl/")) {
    return "is an Excel workbook; save its sheet as CSV (in Excel or LibreOffice \"Save As\", "
           "\"CSV "
           "UTF-8\"; without a window `soffice --headless --convert-to csv FILE`; in Python "
           "pandas.read_excel(...).to_csv(..., index=False))";
  }
  if (has("data.pkl") || has("/byteorder")) {
    return "is a pickle of PyTorch, which can run code and is never loaded; convert it: load the "
           "model in Python and save_pretrained(folder, safe_serialization=True)";
  }
  return "is a zip archive; unpack it with unzip";
}

// A pickle's first opcodes: its protocol, then a frame, an object or a memo.
bool IsPickle(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
}

// Tar archives have their mark in the first member's header.
bool IsTar(std::string_view bytes) {
  constexpr size_t kMarkAt = 257;
  return bytes.size() > kMarkAt && bytes.substr(kMarkAt).starts_with("ustar");
}

// "UTF-16LE", ...: by a byte order mark, or by the zeros of ASCII characters; empty for none.
std::string_view WideEncoding(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE\0\0"sv)) return "UTF-32LE";
  if (bytes.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32BE";
  if (bytes.starts_with("\xFF\xFE")) return "UTF-16LE";
  if (bytes.starts_with("\xFE\xFF")) return "UTF-16BE";
  // Two characters of UTF-32 or four of UTF-16 tell; a short length before a header does not.
  const std::string_view start = bytes.substr(0, 8);
  if (start.size() < 4) return "";
  const auto zeros = [&](std::string_view pattern) {
    for (size_t i = 0; i < start.size(); ++i) {
      if ((start[i] == 0) != (pattern[i % pattern.size()] == '0')) return false;
    }
    return true;
  };
  if (zeros("x0")) return "UTF-16LE";
  if (zeros("0x")) return "UTF-16BE";
  if (zeros("x000")) return "UTF-32LE";
  if (zeros("000x")) return "UTF-32BE";
  return "";
}

bool StartsWithWord(std::string_view bytes, std::string_view word) {
  return bytes.size() >= word.size() &&
         std::equal(word.begin(), word.end(), bytes.begin(), [](char wanted, char found) {
           return wanted == std::tolower(static_cast<unsigned char>(found));
         });
}

}  // namespace

// The length is below 16 MiB.
bool IsSafetensors(std::string_view bytes) {
  return bytes.size() > 9 && bytes.substr(3, 7) == "\0\0\0\0\0{\""sv;
}

std::string NoTextProblem(std::string_view first_bytes, std::string_view path) {
  if (first_bytes.starts_with(kPointerStart)) {
    return "is a Git LFS pointer, not the file itself: fetch it with `git lfs pull` in its "
           "repository, or download the file";
  }
  if (IsSafetensors(first_bytes)) return "is a safetensors file of weights";
  if (const std::string_view encoding = WideEncoding(first_bytes); !encoding.empty()) {
    // iconv leaves a byte order mark in place unless the encoding's name leaves the order open.
    const bool marked = first_bytes.starts_with("\xFF\xFE") || first_bytes.starts_with("\xFE\xFF");
    return fmt::format("is {}, expected UTF-8: convert it with `iconv -f {} -t UTF-8 {} > NEW`",
                       encoding, marked ? encoding.substr(0, 6) : encoding, path);
  }
  if (first_bytes.starts_with("PK\x03\x04")) return ZipProblem(first_bytes);
  if (IsPickle(first_bytes)) {
    return "is a pickle, which can run code and is never loaded; convert it in Python";
  }
  for (const Signature& signature : kSignatures) {
    if (!first_bytes.starts_with(signature.bytes)) continue;
    return fmt::format("{}{}{}", signature.what, signature.advice.empty() ? "" : "; ",
                       signature.advice);
  }
  if (IsTar(first_bytes)) return "is a tar archive; unpack it with tar -xf";
  return "";
}

std::string NoDataProblem(std::string_view first_bytes, std::string_view path) {
  if (std::string problem = NoTextProblem(first_bytes, path); !problem.empty()) return problem;
  std::string_view text = first_bytes;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
  for (const std::string_view start : {"<!doctype html", "<html", "<head", "<body"}) {
    if (!StartsWithWord(text, start)) continue;
    return "is an HTML page, as a site gives instead of a file that needs a login or another "
           "address: download the file itself";
  }
  if (text.starts_with("<?xml")) return "is an XML file";
  return "";
}

}  // namespace tandem
