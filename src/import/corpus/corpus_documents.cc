#include "import/corpus/corpus_documents.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hashes/text_hash.h"
#include "base/utf8.h"
#include "data/formats/beir.h"
#include "data/input/line_reader.h"
#include "data/texts/id_hash.h"
#include "data/texts/passage_groups.h"
#include "data/texts/texts_file.h"

namespace tandem::import_data {
namespace {

constexpr std::string_view kUnknownDocument = "rows with a document that the corpus lacks";

// "guide" of "docs/guide.md": a table often has names without folders or without their endings.
std::string_view FileStem(std::string_view id) {
  id = data::DocumentOfPassage(id);
  id.remove_prefix(std::min(id.size(), id.find_last_of('/') + 1));  // npos + 1 is 0
  const size_t dot = id.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? id : id.substr(0, dot);
}

// The start of a value, to be shown in a message.
std::string Shown(std::string_view value) {
  constexpr size_t kBytes = 60;
  return value.size() <= kBytes ? std::string(value) : RepairUtf8(value.substr(0, kBytes)) + "…";
}

}  // namespace

CorpusDocuments::CorpusDocuments(const std::filesystem::path& folder, data::Warnings& warnings)
    : file_(data::FindBeirTexts(folder, data::TextRole::kDocument)) {
  data::LineReader reader(file_, warnings);
  data::TextStream stream(reader, data::TextRole::kDocument);
  for (std::string_view id, text; stream.Next(&id, &text); ++texts_) {
    Document& document = documents_[Add(id)];
    if (document.is_text) {
      throw DataError(file_.native(), reader.line_number(), id, "an earlier line has this id");
    }
    document.is_text = true;
    const std::string_view whole = data::DocumentOfPassage(id);
    if (whole != id) Add(whole);
  }
}

uint32_t CorpusDocuments::Add(std::string_view id) {
  const auto number = static_cast<uint32_t>(documents_.size());
  const std::optional<uint32_t> there = by_id_.FindOrInsert(
      data::IdHash(id), number, [&](uint32_t other) { return documents_[other].id == id; });
  if (there) return *there;
  documents_.push_back({.id = arena_.Copy(id)});
  return number;
}

std::optional<uint32_t> CorpusDocuments::Find(std::string_view id) const {
  return by_id_.Find(data::IdHash(id),
                     [&](uint32_t number) { return documents_[number].id == id; });
}

std::string_view CorpusDocuments::OfSameName(std::string_view value) const {
  const auto find = [&](std::string_view stem) {
    return by_name_->Find(TextHash(stem),
                          [&](uint32_t number) { return FileStem(documents_[number].id) == stem; });
  };
  if (!by_name_) {
    by_name_.emplace();
    for (uint32_t number = 0; number < documents_.size(); ++number) {
      const std::string_view stem = FileStem(documents_[number].id);
      if (!find(stem)) by_name_->Insert(TextHash(stem), number);
    }
  }
  const std::optional<uint32_t> number = find(FileStem(value));
  return number ? data::DocumentOfPassage(documents_[*number].id) : std::string_view();
}

bool CorpusDocuments::HaveAll(const Example& example, Row& row) const {
  for (const ExampleDocument& document : example.documents) {
    if (Find(document.text)) continue;
    const std::string_view same = OfSameName(document.text);
    row.problem_kind = kUnknownDocument;
    row.problem =
        fmt::format("{} has no document \"{}\"; {}", file_.native(), Shown(document.text),
                    same.empty() ? fmt::format("its ids are such as \"{}\"",
                                               data::DocumentOfPassage(documents_.front().id))
                                 : fmt::format("did you mean \"{}\"?", same));
    return false;
  }
  return true;
}

}  // namespace tandem::import_data
