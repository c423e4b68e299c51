#include "documents/reading/document_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/file_kind.h"
#include "base/files/files.h"
#include "base/utf8.h"
#include "data/formats/beir.h"
#include "data/input/line_reader.h"
#include "data/texts/texts_file.h"
#include "data/texts/unique_ids.h"
#include "documents/html/html_document.h"
#include "documents/reading/folder_listing.h"
#include "documents/reading/markdown.h"
#include "documents/reading/plain_text.h"

namespace tandem::documents {
namespace {

namespace fs = std::filesystem;

// A page that people read has some kilobytes; a parser's tree takes some ten times its bytes.
constexpr size_t kMostFileBytes = size_t{64} << 20;

int64_t LineOf(std::string_view text, size_t at) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
}

// Refuses bytes that are no text in UTF-8.
void CheckIsText(std::string_view bytes, const std::string& file) {
  if (const std::string problem = NoTextProblem(bytes.substr(0, kFileKindBytes), file);
      !problem.empty()) {
    throw DataError(file, 0, "", problem);
  }
  if (const size_t zero = bytes.find('\0'); zero != std::string_view::npos) {
    throw DataError(file, LineOf(bytes, zero), "",
                    "has a NUL byte, so that it is no text but some other kind of file");
  }
  if (IsUtf8(bytes)) return;
  size_t at = 0;
  while (at < bytes.size()) {
    const int length = CharacterLength(bytes.substr(at));
    if (length < 0) break;
    at += static_cast<size_t>(length);
  }
  throw DataError(
      file, LineOf(bytes, at), "",
      fmt::format("is not UTF-8 (byte 0x{:02X}); where it is the older encoding of Western Europe, "
                  "convert it with `iconv -f WINDOWS-1252 -t UTF-8 {} > NEW`",
                  static_cast<unsigned char>(bytes[at]), file));
}

Document ReadAs(FileFormat format, const fs::path& path) {
  std::error_code error;
  if (const auto bytes = fs::file_size(path, error); !error && bytes > kMostFileBytes) {
    throw DataError(
        path.native(), 0, "",
        fmt::format("has {} MiB; a document has at most {}: cut it into files, or write "
                    "a corpus.jsonl",
                    bytes >> 20, kMostFileBytes >> 20));
  }
  const std::string bytes = ReadFile(path);
  CheckIsText(bytes, path.native());
  std::string_view text = bytes;
  if (text.starts_with(data::kByteOrderMark)) text.remove_prefix(data::kByteOrderMark.size());
  switch (format) {
    case FileFormat::kMarkdown:
      return ReadMarkdown(text, path.native());
    case FileFormat::kHtml:
      return ReadHtml(text, path.native());
    case FileFormat::kPlainText:
      break;
  }
  return ReadPlainText(text);
}

class FolderSource final : public DocumentSource {
 public:
  explicit FolderSource(FolderListing listing) : listing_(std::move(listing)) {}

  bool Next(Document* document) override {
    if (next_ == listing_.files.size()) return false;
    const DocumentFile& file = listing_.files[next_++];
    *document = ReadAs(file.format, file.path);
    document->id = file.id;
    return true;
  }

  bool has_links() const override { return true; }
  std::string left_out() const override { return LeftOutText(listing_); }

 private:
  FolderListing listing_;
  size_t next_ = 0;
};

class CorpusSource final : public DocumentSource {
 public:
  CorpusSource(const fs::path& file, const fs::path& scratch)
      : reader_(file, warnings_), stream_(reader_, data::TextRole::kDocument), ids_(scratch) {}

  bool Next(Document* document) override {
    std::string_view id, text;
    if (!stream_.Next(&id, &text)) {
      if (const auto repeated = ids_.FindRepeated()) Refuse(repeated->first, repeated->second, "");
      warnings_.Report();
      return false;
    }
    const auto line = static_cast<uint64_t>(reader_.line_number());
    if (const auto earlier = ids_.Add(id, line)) Refuse(*earlier, line, id);
    const size_t title = stream_.title_bytes();
    *document = {
        .id = std::string(id),
        .title = std::string(text.substr(0, title)),
        .text = std::string(text.substr(title == 0 ? 0 : std::min(title + 1, text.size())))};
    document->blocks = ParagraphsOf(document->text);
    return true;
  }

 private:
  [[noreturn]] void Refuse(uint64_t first, uint64_t second, std::string_view id) const {
    throw DataError(
        reader_.file(), static_cast<int64_t>(second), id,
        fmt::format("the id stands in line {} too; every document needs one of its own", first));
  }

  data::Warnings warnings_;
  data::LineReader reader_;
  data::TextStream stream_;
  data::UniqueIds ids_;
};

}  // namespace

std::unique_ptr<DocumentSource> OpenDocuments(const fs::path& path, const fs::path& scratch) {
  if (!fs::exists(path)) {
    throw DataError(path.native(), 0, "",
                    "there is no such folder or file; expected a folder of Markdown, HTML or text "
                    "files, a BEIR folder, or its corpus.jsonl");
  }
  if (!fs::is_directory(path)) {
    FolderListing one = ListFile(path);
    if (!one.files.empty()) return std::make_unique<FolderSource>(std::move(one));
    return std::make_unique<CorpusSource>(path, scratch);
  }
  if (fs::exists(path / "corpus.jsonl") || fs::exists(path / "corpus.jsonl.gz")) {
    return std::make_unique<CorpusSource>(data::FindBeirTexts(path, data::TextRole::kDocument),
                                          scratch);
  }
  FolderListing listing = ListFolder(path);
  CheckHasDocuments(path, listing);
  return std::make_unique<FolderSource>(std::move(listing));
}

}  // namespace tandem::documents
