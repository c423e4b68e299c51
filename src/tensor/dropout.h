// Dropout from a counter-based generator: a channel is dropped by what it is, not by where it is
// stored.
//
// The random bits of a channel are a hash of (seed, step, site, text, position in text, channel).
// Chunking, packing order, threads and resuming cannot change them, and the backward pass computes
// them again instead of storing a mask.
#pragma once

#include <cstdint>

namespace tandem::tensor {

// Dropout at one place of an encoder. A rate of 0 is "off".
struct Dropout {
  double rate = 0;  // in [0, 1): the share of channels that become zero; the others are scaled up
  uint64_t seed = 0;
  uint64_t step = 0;
  uint32_t site = 0;  // numbers the place: layer and operation

  bool active() const { return rate > 0; }
};

// The finaliser of MurmurHash3: every input bit changes every output bit with probability 1/2.
constexpr uint64_t MixBits(uint64_t x) {
  x ^= x >> 33;
  x *= 0xFF51AFD7ED558CCD;
  x ^= x >> 33;
  x *= 0xC4CEB9FE1A85EC53;
  return x ^ (x >> 33);
}

// The key of a position in a text, from the text's own key (PackedTokens::row_keys).
constexpr uint64_t PositionKey(uint64_t text_key, uint64_t position) {
  return MixBits(MixBits(text_key + 0x9E3779B97F4A7C15) + position);
}

// The key of a site in a step. `part` distinguishes the heads of attention.
constexpr uint64_t SiteKey(const Dropout& dropout, uint32_t part = 0) {
  const uint64_t place = uint64_t{dropout.site} << 32 | part;
  return MixBits(MixBits(MixBits(dropout.seed + 0x632BE59BD9B4E019) + dropout.step) + place);
}

constexpr uint64_t RowKey(uint64_t site_key, uint64_t position_key) {
  return MixBits(site_key ^ position_key);
}

// The constants of the 32-bit hash below: two odd multipliers with low avalanche bias, found by
// search (Wellons, "Prospecting for hash functions").
inline constexpr uint32_t kHashStep = 0x9E3779B9;
inline constexpr uint32_t kHashMultiplier0 = 0x21F0AAAD;
inline constexpr uint32_t kHashMultiplier1 = 0x735A2D97;

// Two channels share a random word of 32 bits: a channel uses the low half, and the channel sixteen
// further on uses the high half. Attention needs random bits for every probability. Half as many
// hashes take a third of the time of attention's exponentials.
constexpr uint32_t DropoutWord(uint32_t channel) { return channel / 32 * 16 + channel % 16; }
constexpr bool InHighHalf(uint32_t channel) { return channel % 32 >= 16; }

// The 16 random bits of a channel. The vector kernels compute the same bits.
constexpr uint32_t ChannelBits(uint64_t row_key, uint32_t channel) {
  uint32_t x = DropoutWord(channel) * kHashStep ^ static_cast<uint32_t>(row_key);
  x ^= x >> 16;
  x *= kHashMultiplier0;
  x ^= x >> 15;
  x += static_cast<uint32_t>(row_key >> 32);
  x *= kHashMultiplier1;
  x ^= x >> 15;
  return InHighHalf(channel) ? x >> 16 : x & 0xFFFF;
}

// A channel is dropped when its random bits are below this: the rate in units of 2^-16, rounded,
// but at least 1 for a rate above 0, so that something is dropped, and at most 65535.
constexpr uint32_t KeepThreshold(double rate) {
  if (rate <= 0) return 0;
  const auto units = static_cast<uint32_t>(rate * 65536.0 + 0.5);
  return units < 1 ? 1 : units > 65535 ? 65535 : units;
}

// The factor of the channels that are not dropped: 1 / (1 - the rounded rate), so that dropout does
// not change a channel's expectation.
constexpr float KeepScale(double rate) {
  return static_cast<float>(65536.0 / (65536.0 - KeepThreshold(rate)));
}

}  // namespace tandem::tensor
