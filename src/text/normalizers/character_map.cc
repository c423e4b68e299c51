#include "text/normalizers/character_map.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "base/utf8.h"

namespace tandem::text {
namespace {

// A unit of the double array.
struct Unit {
  uint32_t bits;
  bool has_value() const { return (bits >> 8 & 1) != 0; }
  uint32_t label() const { return bits & (1U << 31 | 0xFF); }
  uint32_t value() const { return bits & ((1U << 31) - 1); }
  size_t offset() const { return size_t{bits >> 10} << ((bits & 1U << 9) >> 6); }
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) {
    uint32_t size = 0;
    if (bytes.size() < sizeof size) Fail("it ends before the size of its array");
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    if (size % sizeof(Unit) != 0 || size == 0 || size > bytes.size()) {
      Fail(fmt::format("its array has {} bytes, of {} that are left", size, bytes.size()));
    }
    units_.resize(size / sizeof(Unit));
    std::memcpy(units_.data(), bytes.data(), size);
    values_ = bytes.substr(size);
  }

  std::vector<CharacterMapEntry> Read() && {
    Visit(0);
    return std::move(entries_);
  }

 private:
  [[noreturn]] static void Fail(const std::string& what) { throw std::invalid_argument(what); }

  const Unit& At(size_t place) const {
    if (place >= units_.size()) {
      Fail(fmt::format("its array of {} units refers to unit {}", units_.size(), place));
    }
    return units_[place];
  }

  // Adds the keys that start with key_, which leads to `place`. The depth is at most
  // kMaxCharacterMapKey, and a tree has no more nodes than the array has units.
  void Visit(size_t place) {
    if (++visited_ > units_.size()) Fail("its array has a loop");
    const Unit unit = At(place);
    const size_t base = place ^ unit.offset();
    if (!key_.empty() && unit.has_value()) {
      AddEntry(At(base).value());
      return;
    }
    if (key_.size() == kMaxCharacterMapKey) return;
    for (uint32_t byte = 1; byte < 256; ++byte) {
      if (At(base ^ byte).label() != byte) continue;
      key_.push_back(static_cast<char>(byte));
      Visit(base ^ byte);
      key_.pop_back();
    }
  }

  void AddEntry(size_t offset) {
    if (offset >= values_.size()) {
      Fail(fmt::format("a value starts at byte {} of {}", offset, values_.size()));
    }
    const std::string_view value = values_.substr(offset, values_.find('\0', offset) - offset);
    if (!IsUtf8(key_)) Fail("a key is not UTF-8");
    if (!IsUtf8(value)) Fail("a value is not UTF-8");
    entries_.push_back({key_, value});
  }

  std::vector<Unit> units_;
  std::string_view values_;
  std::vector<CharacterMapEntry> entries_;
  std::string key_;
  size_t visited_ = 0;
};

}  // namespace

std::vector<CharacterMapEntry> ReadCharacterMap(std::string_view bytes) {
  return Reader(bytes).Read();
}

}  // namespace tandem::text
