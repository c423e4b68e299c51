#include "import/output/text_store.h"

#include <fmt/format.h>

#include <optional>

#include "base/hashes/text_hash.h"
#include "data/formats/beir_lines.h"
#include "data/texts/id_hash.h"

namespace tandem::import_data {
namespace {

// The id of a text without one of its own: `letter` and the sixteen hexadecimal digits of its
// TextHash, so that the same text has the same id in every import, wherever it stands.
std::string IdOfHash(char letter, uint64_t hash) { return fmt::format("{}{:016x}", letter, hash); }

std::string OtherText(std::string_view what, std::string_view id) {
  return fmt::format("the {} \"{}\" had another text in an earlier row", what, id);
}

}  // namespace

std::string DocumentStore::id(uint32_t number) const {
  const Document& document = documents_[number];
  return document.id.empty() ? IdOfHash('d', document.hash) : std::string(document.id);
}

StoredText DocumentStore::Add(std::string_view id, std::string_view title, std::string_view text) {
  joined_ = title;
  if (!title.empty()) joined_ += ' ';
  joined_ += text;
  Document document{.hash = TextHash(joined_)};
  joined_ += '\x01';
  document.other_hash = TextHash(joined_);
  const std::string wanted = id.empty() ? IdOfHash('d', document.hash) : std::string(id);
  const uint64_t id_hash = data::IdHash(wanted);
  const std::optional<uint32_t> with_id =
      by_id_.Find(id_hash, [&](uint32_t other) { return this->id(other) == wanted; });
  const std::optional<uint32_t> there = by_text_.Find(document.hash, [&](uint32_t other) {
    return documents_[other].hash == document.hash &&
           documents_[other].other_hash == document.other_hash;
  });
  if (there) {
    if (with_id && *with_id != *there) return {.problem = OtherText("id", wanted)};
    if (!id.empty() && !with_id) ++merged_;
    return {.number = *there};
  }
  if (with_id) return {.problem = OtherText("id", wanted)};
  const auto number = static_cast<uint32_t>(documents_.size());
  if (!id.empty()) document.id = arena_.Copy(id);
  documents_.push_back(document);
  by_text_.Insert(document.hash, number);
  by_id_.Insert(id_hash, number);
  if (file_ != nullptr) {
    line_.clear();
    data::AppendBeirDocument(line_, wanted, title, text);
    file_->Write(line_);
  }
  return {.number = number};
}

StoredText QueryStore::Add(std::string_view id, std::string_view text) {
  const uint64_t hash = TextHash(text);
  const std::optional<uint32_t> with_id = id.empty() ? std::nullopt : texts_.Find(id);
  const std::optional<uint32_t> there =
      by_text_.Find(hash, [&](uint32_t other) { return texts_.text(other) == text; });
  if (there) {
    if (with_id && *with_id != *there) return {.problem = OtherText("query id", id)};
    if (!id.empty() && !with_id) ++merged_;
    return {.number = *there};
  }
  const auto number = static_cast<uint32_t>(texts_.size());
  const std::string wanted = id.empty() ? IdOfHash('q', hash) : std::string(id);
  if (!texts_.Add(wanted, text)) return {.problem = OtherText("query id", wanted)};
  by_text_.Insert(hash, number);
  return {.number = number};
}

}  // namespace tandem::import_data
