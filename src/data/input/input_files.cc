#include "data/input/input_files.h"

#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "data/formats/beir.h"
#include "data/input/byte_source.h"

namespace tandem::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStandardInput = "-";

// Returns the paths that the pattern matches, in the order of bytes.
std::vector<fs::path> Match(const std::string& pattern) {
  glob_t found{};
  const int result = ::glob(pattern.c_str(), GLOB_ERR | GLOB_NOSORT, nullptr, &found);
  std::vector<fs::path> paths;
  if (result == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (result == GLOB_ABORTED) {
    throw DataError(pattern, 0, "", "a folder of this pattern cannot be read");
  }
  if (result == GLOB_NOSPACE) throw std::bad_alloc();
  if (paths.empty()) {
    throw UsageError(fmt::format("{} matches no file; relative patterns start in {}", pattern,
                                 fs::current_path().native()));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// A file that has a pattern's characters in its name is meant itself.
std::vector<fs::path> PathsOf(const std::string& input) {
  std::error_code ignored;
  const bool is_pattern = input.find_first_of("*?[") != std::string::npos;
  if (is_pattern && !fs::exists(input, ignored)) return Match(input);
  return {input};
}

TextFormat FormatOf(const fs::path& path, std::string_view format) {
  if (format == "jsonl") return TextFormat::kJsonLines;
  if (format == "tsv") return TextFormat::kTsv;
  if (format == "lines") return TextFormat::kLines;
  if (format != "auto") {
    throw UsageError(
        fmt::format("the format {} is unknown; expected auto, jsonl, tsv or lines", format));
  }
  const fs::path name = path.extension() == ".gz" ? path.stem() : path.filename();
  if (name.extension() == ".tsv") return TextFormat::kTsv;
  if (name.extension() == ".txt") return TextFormat::kLines;
  return TextFormat::kJsonLines;
}

// Opens a file that can be opened again, so that one that cannot be read shows before the work on
// those before it.
InputFile Inspect(fs::path path, TextFormat format) {
  InputFile file{.path = std::move(path), .format = format};
  if (file.path == kStandardInput) return file;
  struct stat status {};
  if (::stat(file.path.c_str(), &status) != 0) {
    throw DataError(file.path.native(), 0, "",
                    fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) return file;
  OpenBytes(file.path, file.path.native());
  constexpr int64_t kNanoseconds = 1'000'000'000;
  file.is_regular = true;
  file.bytes = static_cast<uint64_t>(status.st_size);
  file.modified_ns = status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec;
  return file;
}

}  // namespace

std::string_view TextFormatName(TextFormat format) {
  switch (format) {
    case TextFormat::kTsv:
      return "tsv";
    case TextFormat::kLines:
      return "lines";
    case TextFormat::kJsonLines:
      break;
  }
  return "jsonl";
}

std::vector<InputFile> FindInputFiles(const std::vector<std::string>& inputs,
                                      std::string_view format, TextRole role) {
  if (inputs.empty()) throw UsageError("no input is given");
  if (std::count(inputs.begin(), inputs.end(), kStandardInput) > 1) {
    throw UsageError("standard input (-) is given twice; it can be read once");
  }
  std::vector<InputFile> files;
  for (const std::string& input : inputs) {
    for (fs::path& path : PathsOf(input)) {
      std::error_code ignored;
      if (fs::is_directory(path, ignored)) path = FindBeirTexts(path, role);
      const TextFormat of_file = FormatOf(path, format);
      files.push_back(Inspect(std::move(path), of_file));
    }
  }
  return files;
}

}  // namespace tandem::data
