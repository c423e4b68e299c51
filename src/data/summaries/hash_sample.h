// Counts different things of a file of any size in bounded memory.
//
//   HashSample<Nothing> texts;
//   for (...) texts.At(TextHash(text));
//   texts.Estimate(texts.size());  // different texts
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace tandem::data {

struct Nothing {};

// Values by the 64-bit hashes of their keys. It holds all keys until there are `most`; then it
// halves itself, again and again, and keeps those whose hash begins with as many zero bits as there
// were halvings: a sample that depends only on the keys, not on their order (adaptive sampling,
// Wegman; Flajolet 1990). Counts of the sample times 2^halvings estimate counts of all, with a
// standard error of about 1.2 / sqrt(most) of the count: 0.2 % for the default.
template <typename Value>
class HashSample {
 public:
  explicit HashSample(size_t most = size_t{1} << 19) : most_(most) {}

  // The value of a key, value-initialised where the key is new; null where the sample leaves the
  // key out. Valid until the next call.
  Value* At(uint64_t hash, bool* is_new = nullptr) {
    if (is_new != nullptr) *is_new = false;
    if (!Holds(hash)) return nullptr;
    const auto [entry, added] = values_.try_emplace(hash);
    if (is_new != nullptr) *is_new = added;
    if (!added || values_.size() <= most_) return &entry->second;
    while (values_.size() > most_) Halve();
    return Find(hash);
  }

  // The value of a key that is in the sample, else null.
  Value* Find(uint64_t hash) {
    const auto found = values_.find(hash);
    return found == values_.end() ? nullptr : &found->second;
  }

  size_t size() const { return values_.size(); }
  // Estimates how many things there are in all, from the `count` of them that the sample holds.
  uint64_t Estimate(uint64_t count) const { return count << halvings_; }
  bool is_exact() const { return halvings_ == 0; }

  template <typename Function>
  void ForEach(const Function& function) const {
    for (const auto& [hash, value] : values_) function(value);
  }

  // Says how many values of all satisfy `predicate`.
  template <typename Predicate>
  uint64_t EstimateIf(const Predicate& predicate) const {
    uint64_t count = 0;
    for (const auto& [hash, value] : values_) count += predicate(value) ? 1 : 0;
    return Estimate(count);
  }

 private:
  bool Holds(uint64_t hash) const { return halvings_ == 0 || hash >> (64 - halvings_) == 0; }
  void Halve() {
    ++halvings_;
    std::erase_if(values_, [&](const auto& entry) { return !Holds(entry.first); });
  }

  size_t most_;
  unsigned halvings_ = 0;
  std::unordered_map<uint64_t, Value> values_;
};

// The hash of a pair of things from theirs.
inline uint64_t PairHash(uint64_t first, uint64_t second) {
  uint64_t hash = first * 0x9e3779b97f4a7c15 + second;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;  // the finaliser of splitmix64
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

}  // namespace tandem::data
