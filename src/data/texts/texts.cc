#include "data/texts/texts.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/hashes/text_hash.h"
#include "base/process/threads.h"

namespace tandem::data {
namespace {

constexpr size_t kHashGrain = 16384;  // texts of a thread at a time: some milliseconds

}  // namespace

std::optional<uint32_t> Texts::Find(std::string_view id) const {
  if (content_ == nullptr) return std::nullopt;
  return content_->index.Find(TextHash(id),
                              [&](uint32_t index) { return content_->entries[index].id() == id; });
}

std::string_view Texts::body(size_t index) const {
  const size_t title = title_bytes(index);
  return text(index).substr(title == 0 ? 0 : title + 1);
}

std::shared_ptr<const std::vector<uint64_t>> Texts::hashes() const {
  if (content_ == nullptr) return std::make_shared<const std::vector<uint64_t>>();
  std::call_once(content_->hashed, [this] {
    std::vector<uint64_t> hashes(size());
    ParallelFor(size(), kHashGrain, UsableThreads(), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) hashes[i] = TextHash(text(i));
    });
    content_->hashes = std::move(hashes);
  });
  return {content_, &content_->hashes};
}

bool Texts::Add(std::string_view id, std::string_view text, size_t title_bytes) {
  if (content_ == nullptr) content_ = std::make_shared<Content>();
  if (content_.use_count() > 1) throw std::logic_error("texts that are shared cannot grow");
  Content& content = *content_;
  if (!content.hashes.empty()) throw std::logic_error("texts whose hashes are known cannot grow");
  const size_t count = content.entries.size();
  if (count >= UINT32_MAX) throw std::length_error("more than 2^32 - 1 texts");
  if (std::max({id.size(), text.size(), title_bytes}) > UINT32_MAX) {
    throw std::length_error("an id, a title or a text of more than 2^32 - 1 bytes");
  }
  const auto is_id = [&](uint32_t index) { return content.entries[index].id() == id; };
  if (content.index.FindOrInsert(TextHash(id), static_cast<uint32_t>(count), is_id)) return false;
  if (title_bytes > 0) {
    content.title_bytes.resize(count);
    content.title_bytes.push_back(static_cast<uint32_t>(title_bytes));
  }
  content.entries.push_back({content.arena.CopyBoth(id, text), static_cast<uint32_t>(id.size()),
                             static_cast<uint32_t>(text.size())});
  return true;
}

}  // namespace tandem::data
