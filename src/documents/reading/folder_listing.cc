#include "documents/reading/folder_listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "base/error.h"

namespace tandem::documents {
namespace {

namespace fs = std::filesystem;

struct Ending {
  std::string_view ending;
  FileFormat format;
};

constexpr Ending kEndings[] = {
    {".md", FileFormat::kMarkdown},   {".markdown", FileFormat::kMarkdown},
    {".html", FileFormat::kHtml},     {".htm", FileFormat::kHtml},
    {".xhtml", FileFormat::kHtml},    {".txt", FileFormat::kPlainText},
    {".text", FileFormat::kPlainText}};

// What makes text of files of other formats.
struct Converter {
  std::string_view ending;
  std::string_view command;
};

constexpr Converter kConverters[] = {
    {".pdf", "pdftotext FILE.pdf FILE.txt"},
    {".docx", "pandoc FILE.docx -o FILE.md"},
    {".odt", "pandoc FILE.odt -o FILE.md"},
    {".epub", "pandoc FILE.epub -o FILE.md"},
    {".rst", "pandoc FILE.rst -o FILE.md"},
    {".tex", "pandoc FILE.tex -o FILE.md"},
    {".org", "pandoc FILE.org -o FILE.md"},
    {".rtf", "pandoc FILE.rtf -o FILE.md"},
    {".doc", "libreoffice --headless --convert-to docx FILE.doc, then pandoc"}};

std::string LowerEnding(const fs::path& path) {
  std::string ending = path.extension().native();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return ending;
}

void AddFile(const fs::path& folder, const fs::path& path, FolderListing* listing) {
  const std::string ending = LowerEnding(path);
  const auto* const known = std::find_if(std::begin(kEndings), std::end(kEndings),
                                         [&](const Ending& one) { return one.ending == ending; });
  if (known == std::end(kEndings)) {
    ++listing->other_endings[ending];
  } else {
    listing->files.push_back({path, DocumentIdOf(path.lexically_relative(folder)), known->format});
  }
}

// How to make documents of the files that were left out; "" where nothing is known.
std::string Advice(const FolderListing& listing) {
  std::vector<std::string> commands;
  for (const Converter& converter : kConverters) {
    if (listing.other_endings.contains(converter.ending)) {
      commands.push_back(fmt::format("`{}`", converter.command));
    }
  }
  return commands.empty() ? "" : fmt::format("make text of them: {}", fmt::join(commands, ", "));
}

std::string EndingsText(const FolderListing& listing) {
  std::vector<std::string> texts;
  for (const auto& [ending, count] : listing.other_endings) {
    texts.push_back(fmt::format("{} {}", ending.empty() ? "no ending" : ending, count));
  }
  constexpr size_t kShown = 12;
  if (texts.size() > kShown) {
    texts.resize(kShown);
    texts.emplace_back("...");
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::string KnownEndings() {
  std::vector<std::string_view> endings;
  for (const Ending& one : kEndings) endings.push_back(one.ending);
  return fmt::format("{}", fmt::join(endings, " "));
}

std::string DocumentIdOf(const fs::path& relative) {
  std::string id;
  for (const char c : relative.generic_string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7F || c == '%') {
      id += fmt::format("%{:02X}", byte);
    } else {
      id += c;
    }
  }
  return id;
}

FolderListing ListFolder(const fs::path& folder) {
  FolderListing listing;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    const fs::path& path = at->path();
    const bool is_folder = at->is_directory(ignored);
    if (path.filename().native().starts_with('.')) {
      ++listing.hidden;
      if (is_folder) at.disable_recursion_pending();
    } else if (is_folder) {
      listing.folder_links += at->is_symlink(ignored);
    } else {
      AddFile(folder, path, &listing);
    }
  }
  if (error) {
    throw DataError(folder.native(), 0, "", fmt::format("cannot be listed: {}", error.message()));
  }
  std::sort(listing.files.begin(), listing.files.end(),
            [](const DocumentFile& a, const DocumentFile& b) { return a.id < b.id; });
  return listing;
}

FolderListing ListFile(const fs::path& file) {
  FolderListing listing;
  AddFile(file.parent_path(), file, &listing);
  return listing;
}

std::string LeftOutText(const FolderListing& listing) {
  std::vector<std::string> parts;
  if (!listing.other_endings.empty()) {
    parts.push_back(fmt::format("files of other endings ({})", EndingsText(listing)));
  }
  if (listing.hidden > 0)
    parts.push_back(fmt::format("hidden files and folders: {}", listing.hidden));
  if (listing.folder_links > 0) {
    parts.push_back(fmt::format("links to folders: {}", listing.folder_links));
  }
  if (parts.empty()) return "";
  const std::string advice = Advice(listing);
  return fmt::format("left out: {}{}{}", fmt::join(parts, "; "), advice.empty() ? "" : "; ",
                     advice);
}

void CheckHasDocuments(const fs::path& folder, const FolderListing& listing) {
  if (!listing.files.empty()) return;
  const std::string left_out = LeftOutText(listing);
  throw DataError(
      folder.native(), 0, "",
      fmt::format("holds no documents; expected files that end in {}, or corpus.jsonl{}",
                  KnownEndings(), left_out.empty() ? "" : "; " + left_out));
}

}  // namespace tandem::documents
