// Uses the installed room `tensor`: two texts of two and three tokens make a pack of five.
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "tensor/packed_tokens.h"

int main() {
  const std::vector<int32_t> first = {101, 102};
  const std::vector<int32_t> second = {101, 2003, 102};
  const std::vector<std::span<const int32_t>> texts = {first, second};
  const tandem::tensor::PackedTokens packed = tandem::tensor::Pack(texts);
  std::printf("%lld tokens, the longest text has %lld\n", static_cast<long long>(packed.tokens()),
              static_cast<long long>(packed.longest));
  return packed.tokens() == 5 && packed.longest == 3 ? 0 : 1;
}
