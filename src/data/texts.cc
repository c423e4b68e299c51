#include "data/texts.h"

#include <stdexcept>

#include "data/text_hash.h"

namespace tandem::data {

std::optional<uint32_t> Texts::Find(std::string_view id) const {
  if (content_ == nullptr) return std::nullopt;
  return content_->index.Find(TextHash(id),
                              [&](uint32_t index) { return content_->ids[index] == id; });
}

bool Texts::Add(std::string_view id, std::string_view text) {
  if (content_ == nullptr) content_ = std::make_shared<Content>();
  if (content_.use_count() > 1) throw std::logic_error("texts that are shared cannot grow");
  if (Find(id)) return false;
  Content& content = *content_;
  if (content.ids.size() >= UINT32_MAX) throw std::length_error("more than 2^32 - 1 texts");
  content.index.Insert(TextHash(id), static_cast<uint32_t>(content.ids.size()));
  content.ids.push_back(content.arena.Copy(id));
  content.texts.push_back(content.arena.Copy(text));
  return true;
}

}  // namespace tandem::data
