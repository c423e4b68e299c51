#include "text/models/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tandem::text {

void Vocabulary::Add(std::string_view token, int64_t id) {
  if (id < 0 || id > kMaxId) {
    throw ModelError(
        file_, "",
        fmt::format("token \"{}\" has id {}; ids must be from 0 to {}", token, id, kMaxId));
  }
  const auto index = static_cast<size_t>(id);
  if (index >= tokens_.size()) tokens_.resize(index + 1);
  Place& place = tokens_[index];
  if (place.taken) {
    throw ModelError(
        file_, "",
        fmt::format("id {} belongs to two tokens, \"{}\" and \"{}\"", id, this->token(id), token));
  }
  place = {bytes_.size(), static_cast<uint32_t>(token.size()), true};
  bytes_ += token;
  ++count_;
}

std::string_view Vocabulary::token(int64_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= tokens_.size()) return {};
  const Place& place = tokens_[static_cast<size_t>(id)];
  return std::string_view(bytes_).substr(place.offset, place.length);
}

ByteTrie Vocabulary::MakeTrie() const {
  std::vector<ByteTrie::Entry> entries;
  entries.reserve(count_);
  for (size_t id = 0; id < tokens_.size(); ++id) {
    const auto value = static_cast<int32_t>(id);
    if (tokens_[id].length > 0) entries.push_back({token(value), value});
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.key != b.key ? a.key < b.key : a.value < b.value;
  });
  const auto twice = std::adjacent_find(
      entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key == b.key; });
  if (twice != entries.end()) FailTwoIds(twice->key, twice->value, std::next(twice)->value);
  return ByteTrie(entries);
}

void Vocabulary::FailTwoIds(std::string_view token, int64_t id, int64_t other) const {
  throw ModelError(file_, "", fmt::format("token \"{}\" has two ids, {} and {}", token, id, other));
}

}  // namespace tandem::text
