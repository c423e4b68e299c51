// Builds a document's text block by block while its marks are read.
//
//   TextBuilder builder(&document);
//   builder.Open({.kind = BlockKind::kHeading, .level = 2});
//   builder.Text("First\n  steps");          // "First steps"
//   builder.Close();
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "documents/document.h"

namespace tandem::documents {

// Blocks are separated by an empty line, those of one list or table by a line end. White space
// within a block becomes one space. A block without text leaves nothing behind.
class TextBuilder {
 public:
  // `document` must outlive the builder, which fills its text and blocks.
  explicit TextBuilder(Document* document) : document_(*document) {}

  // Closes the block that is open; the next text begins a block like `block`, of which kind, level,
  // group and header count.
  void Open(const Block& block);
  void Close();

  void Text(std::string_view text);
  void Preformatted(std::string_view text);  // keeps white space but for the block's ends
  void Space() { space_ = true; }            // between words, if there is a word on both sides
  void LineBreak() { line_ = true; }         // the same, as a line end

  // Begins a cell of the row that is open, and ends one.
  void BeginCell();
  void EndCell();

  // Where the text so far ends, without white space, which the end of a block takes away. What
  // begins here begins after the white space that may follow.
  size_t position() const { return Trimmed(document_.text, {0, document_.text.size()}).end; }
  // The trimmed span from `begin` on, without the bar between two cells that it may begin with.
  Span Since(size_t begin) const;

 private:
  void Separate();  // before text: begins the block or writes the space that is due

  Document& document_;
  Block next_;              // what Open gave
  bool has_block_ = false;  // whether the last of document_.blocks is open
  bool space_ = false, line_ = false, bar_ = false;
  std::vector<Span> cells_;
  size_t cell_ = 0;  // where the open cell begins
};

}  // namespace tandem::documents
