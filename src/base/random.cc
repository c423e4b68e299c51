#include "base/random.h"

#include "base/hashes/mix_words.h"

namespace tandem {
namespace {

constexpr uint32_t kMultiplier0 = 0xD2511F53;  // the constants of Philox 4x32
constexpr uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;

// Mixes the parts of a stream's name.
uint64_t SplitMix(uint64_t x) { return FinalizeSplitMix(x + 0x9E3779B97F4A7C15); }

uint64_t Fnv1a(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001B3;
  return hash;
}

}  // namespace

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{kMultiplier0} * c[0];
    const uint64_t p1 = uint64_t{kMultiplier1} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(p0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return c;
}

RandomStream::RandomStream(const StreamName& name) {
  const uint64_t key = SplitMix(name.seed ^ SplitMix(Fnv1a(name.purpose)));
  const uint64_t stream = SplitMix(SplitMix(name.epoch) ^ (uint64_t{name.rank} << 32));
  key_ = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  stream_ = {static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)};
}

uint64_t RandomStream::Next() {
  const uint64_t index = position_ / 2;
  if (index != block_index_) {
    block_ = Philox4x32(
        {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), stream_[0], stream_[1]},
        key_);
    block_index_ = index;
  }
  const size_t half = (position_++ % 2) * 2;
  return uint64_t{block_[half + 1]} << 32 | block_[half];
}

uint64_t RandomStream::Below(uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{Next()} * bound;
  if (static_cast<uint64_t>(product) < bound) {
    const uint64_t threshold = -bound % bound;  // smaller values would make some results likelier
    while (static_cast<uint64_t>(product) < threshold) product = Wide{Next()} * bound;
  }
  return static_cast<uint64_t>(product >> 64);
}

double RandomStream::Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

void RandomStream::Seek(uint64_t position) { position_ = position; }

}  // namespace tandem
