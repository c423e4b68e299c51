#include "data/texts.h"

#include <stdexcept>

#include "data/text_hash.h"

namespace tandem::data {

std::optional<uint32_t> Texts::Find(std::string_view id) const {
  if (content_ == nullptr) return std::nullopt;
  return content_->index.Find(TextHash(id),
                              [&](uint32_t index) { return content_->ids[index] == id; });
}

std::string_view Texts::body(size_t index) const {
  const size_t title = title_bytes(index);
  return text(index).substr(title == 0 ? 0 : title + 1);
}

bool Texts::Add(std::string_view id, std::string_view text, size_t title_bytes) {
  if (content_ == nullptr) content_ = std::make_shared<Content>();
  if (content_.use_count() > 1) throw std::logic_error("texts that are shared cannot grow");
  if (Find(id)) return false;
  Content& content = *content_;
  if (content.ids.size() >= UINT32_MAX) throw std::length_error("more than 2^32 - 1 texts");
  if (title_bytes > UINT32_MAX) throw std::length_error("a title of more than 2^32 - 1 bytes");
  if (title_bytes > 0) {
    content.title_bytes.resize(content.ids.size());
    content.title_bytes.push_back(static_cast<uint32_t>(title_bytes));
  }
  content.index.Insert(TextHash(id), static_cast<uint32_t>(content.ids.size()));
  content.ids.push_back(content.arena.Copy(id));
  content.texts.push_back(content.arena.Copy(text));
  return true;
}

}  // namespace tandem::data
