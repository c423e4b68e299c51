// A document as text with its structure: what is a heading, an item, a row, and where each begins
// and ends. Readers (documents/reading/) make it of Markdown, HTML, plain text and lines of a
// corpus.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::documents {

// Bytes [begin, end) of a document's text.
struct Span {
  size_t begin = 0;
  size_t end = 0;

  bool empty() const { return begin == end; }
  size_t size() const { return end - begin; }
  bool operator==(const Span&) const = default;
};

enum class BlockKind {
  kHeading,
  kParagraph,
  kListItem,
  kTableRow,    // its cells are joined by " | "
  kCaption,     // of a figure or table
  kTerm,        // of a list of definitions
  kDefinition,  // of the terms before it
  kCode,        // with its line ends
};

struct Block {
  BlockKind kind = BlockKind::kParagraph;
  Span span;                // without white space at its ends; never empty
  int level = 0;            // 1 to 6 of a heading, depth of a list item; else 0
  size_t group = 0;         // number of the list or table that it belongs to, from 1; 0: none
  bool header = false;      // of a table row: it names the columns
  std::vector<Span> cells;  // of a table row; a cell may be empty
};

struct Link {
  Span span;           // of the words that one clicks
  std::string target;  // as written: "setup.md#first-steps", "https://..."
};

struct Document {
  std::string id;
  std::string title;           // not a part of `text`; "": none
  std::string text;            // valid UTF-8
  std::vector<Block> blocks;   // in order; only white space lies between them
  std::vector<Link> links;     // in order
  std::vector<Span> captions;  // of figures, tables and images, in order
  bool front_matter = false;   // whether the file had one, which is no part of the text

  std::string_view Of(Span span) const {
    return std::string_view(text).substr(span.begin, span.size());
  }
};

// ASCII's white space.
inline bool IsWhiteSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The span without white space at its ends; empty at its end where there is nothing else.
Span Trimmed(std::string_view text, Span span);

// A heading and what stands below it, up to the next heading of the same level or a higher one.
struct Section {
  size_t heading = 0;  // of document.blocks
  Span body;           // trimmed; may be empty
};

// The sections of all headings, in order; those of lower levels lie in those of higher ones.
std::vector<Section> SectionsOf(const Document& document);

// Makes blocks of a text without marks: paragraphs, between which lines are blank.
std::vector<Block> ParagraphsOf(std::string_view text);

}  // namespace tandem::documents
