// The files of a folder that are documents, and those that are not.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::documents {

enum class FileFormat { kMarkdown, kHtml, kPlainText };

struct DocumentFile {
  std::filesystem::path path;
  std::string id;  // DocumentIdOf
  FileFormat format = FileFormat::kPlainText;
};

struct FolderListing {
  std::vector<DocumentFile> files;  // by id, ascending in bytes
  size_t hidden = 0;                // files and folders whose name begins with a dot
  size_t folder_links = 0;          // symbolic links to folders, which are not followed
  std::map<std::string, size_t, std::less<>> other_endings;  // ".pdf", "" for none; how many files
};

// The endings that are read: ".md .markdown .html .htm .xhtml .txt .text", in any case.
std::string KnownEndings();

// The path relative to the folder, with "/" between its parts, and "%XX" for "%", blanks and
// control characters, which judgements and runs cannot hold.
std::string DocumentIdOf(const std::filesystem::path& relative);

// Lists a folder and those below it. Throws DataError where it cannot be read.
FolderListing ListFolder(const std::filesystem::path& folder);

// The listing of one file; it is among `files` where its ending is known.
FolderListing ListFile(const std::filesystem::path& file);

// Says what was left out and what would make text of it; "" for nothing. One line.
std::string LeftOutText(const FolderListing& listing);

// Throws DataError for a folder without any document: says what is there instead.
void CheckHasDocuments(const std::filesystem::path& folder, const FolderListing& listing);

}  // namespace tandem::documents
