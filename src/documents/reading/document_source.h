// Documents of a folder or a corpus, one at a time.
//
//   const auto source = OpenDocuments("docs");
//   Document document;
//   while (source->Next(&document)) ...
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "documents/document.h"

namespace tandem::documents {

// Of a folder only the names of its files are in memory, of a corpus a hash of each id (40 bytes
// for the first half million); documents come and go one at a time.
class DocumentSource {
 public:
  virtual ~DocumentSource() = default;
  // False at the end. Throws DataError for a document that cannot be read: one that is not UTF-8
  // (with the line and how to convert it), binary, too deep (html/html_tree.h), with an id that was
  // there before.
  virtual bool Next(Document* document) = 0;
  // Whether documents may link to each other.
  virtual bool has_links() const { return false; }
  // What a folder has besides documents (LeftOutText); "" for nothing.
  virtual std::string left_out() const { return ""; }
};

// Opens a folder of Markdown, HTML and text files, or one such file; a BEIR folder or its
// corpus.jsonl, also .gz.
// `scratch` is a folder for what does not fit into memory. Throws DataError where there is no such
// thing, and for a folder without documents: says what would make some of what it has.
std::unique_ptr<DocumentSource> OpenDocuments(const std::filesystem::path& path,
                                              const std::filesystem::path& scratch);

}  // namespace tandem::documents
