// Kernels at values where arithmetic is hard: extremes, infinities and NaNs. What they compute at
// ordinary values is ops_test.cc's.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/attention/attention.h"
#include "tensor/kernels/cpu/kernel_values.h"
#include "tensor/kernels/cpu/rows/rows.h"

namespace tandem::tensor::cpu {
namespace {

double Phi(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

template <typename A>
class Kernels : public testing::Test {};
using Types = testing::Types<float, Bf16>;
TYPED_TEST_SUITE(Kernels, Types);

// What rows.h says of Phi.
template <typename A>
constexpr double kPhiBound = sizeof(A) == 4 ? 3e-7 : 5e-6;

TYPED_TEST(Kernels, GeluAndItsSlopeAreWithinTheirBounds) {
  using A = TypeParam;
  std::vector<A> in, grad, activated;
  for (float x = -40; x < 40; x += 0.0005F) in.push_back(From<A>(x));
  while (in.size() % 16 != 0) in.push_back(From<A>(0));
  activated.resize(in.size());
  grad.assign(in.size(), From<A>(1));
  RunGeluForward(in.data(), activated.data(), in.size());
  std::vector<A> again(in.size());
  RunGeluBackward(in.data(), grad.data(), again.data(), in.size());
  EXPECT_EQ(std::memcmp(again.data(), activated.data(), in.size() * sizeof(A)), 0);
  for (size_t i = 0; i < in.size(); ++i) {
    const double x = Value(in[i]), y = x * Phi(x);
    ASSERT_NEAR(Value(activated[i]), y, kPhiBound<A> * std::fabs(x) + kRounding<A> * std::fabs(y))
        << x;
    const double slope = Phi(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
    ASSERT_NEAR(Value(grad[i]), slope, 2 * kPhiBound<A> + kRounding<A> * std::fabs(slope)) << x;
  }
}

TYPED_TEST(Kernels, GeluOfExtremes) {
  using A = TypeParam;
  std::vector<A> in(32, From<A>(0)), out(32);
  in[0] = From<A>(3e38F);
  in[1] = From<A>(-3e38F);
  in[2] = From<A>(kInfinity);
  in[3] = From<A>(-kInfinity);
  for (size_t i = 0; i < std::size(kNanBits); ++i) in[16 + i] = FromBits<A>(kNanBits[i]);
  RunGeluForward(in.data(), out.data(), in.size());
  EXPECT_EQ(Value(out[0]), Value(in[0]));
  EXPECT_EQ(Value(out[1]), 0);
  EXPECT_TRUE(std::isnan(Value(out[2])));
  EXPECT_TRUE(std::isnan(Value(out[3])));
  EXPECT_EQ(Value(out[4]), 0);
  for (size_t i = 0; i < std::size(kNanBits); ++i) {
    EXPECT_TRUE(std::isnan(Value(out[16 + i]))) << std::hex << kNanBits[i];
  }
  std::vector<A> slope(in.size(), From<A>(1));
  RunGeluBackward(in.data(), slope.data(), out.data(), in.size());
  EXPECT_EQ(Value(slope[0]), 1);
  EXPECT_EQ(Value(slope[1]), 0);
  EXPECT_NEAR(Value(slope[4]), 0.5, kPhiBound<A>);
  for (size_t i = 0; i < std::size(kNanBits); ++i) {
    EXPECT_TRUE(std::isnan(Value(slope[16 + i]))) << std::hex << kNanBits[i];
  }
}

// The two widths are multiplied in different ways where the processor has AMX.
template <typename A, size_t kChannels>
struct HeadOf {
  using Activation = A;
  static constexpr size_t kWidth = kChannels;
};
template <typename Head>
class AttentionKernels : public testing::Test {};
using Heads = testing::Types<HeadOf<float, 16>, HeadOf<Bf16, 16>, HeadOf<Bf16, 32>>;
TYPED_TEST_SUITE(AttentionKernels, Heads);

// One text and one head: queries and keys are what the test sets, value c of token t is t + c / 16.
template <typename Head>
struct OneHead {
  using A = typename Head::Activation;
  static constexpr size_t kWidth = Head::kWidth;
  // The score of a query and a key whose channels are all 1.
  static inline const double kUnitScore = std::sqrt(static_cast<double>(kWidth));
  explicit OneHead(size_t tokens)
      : length(tokens), qkv(tokens * 3 * kWidth, From<A>(0)), out(tokens * kWidth) {
    for (size_t t = 0; t < length; ++t) {
      for (size_t c = 0; c < kWidth; ++c) {
        Query(t)[c] = From<A>(1);
        Key(t)[c] = From<A>(0.5F);
        Values(t)[c] = From<A>(static_cast<float>(t) + static_cast<float>(c) / 16);
      }
    }
  }
  A* Query(size_t token) { return qkv.data() + token * 3 * kWidth; }
  A* Key(size_t token) { return Query(token) + kWidth; }
  A* Values(size_t token) { return Key(token) + kWidth; }
  float Out(size_t token, size_t channel) const { return Value(out[token * kWidth + channel]); }

  void SetKeys(float value) {
    for (size_t t = 0; t < length; ++t) std::fill_n(Key(t), kWidth, From<A>(value));
  }

  AttentionInput<A> Input() {
    starts = {0, static_cast<int32_t>(length)};
    return {.qkv = qkv.data(),
            .starts = starts.data(),
            .texts = 1,
            .heads = 1,
            .head_width = kWidth,
            .position_keys = nullptr,
            .dropout = {}};
  }
  void Forward() {
    log_sums.resize(length);
    RunAttentionForward<A>(Input(), {out.data(), log_sums.data()}, 1);
  }
  // The gradient of the sum of all outputs.
  std::vector<A> Backward() {
    const std::vector<A> grad_out(out.size(), From<A>(1));
    std::vector<A> grad(qkv.size());
    RunAttentionBackward<A>(Input(), {out.data(), log_sums.data(), grad_out.data(), grad.data()},
                            1);
    return grad;
  }

  size_t length;
  std::vector<A> qkv;
  std::vector<A> out;
  std::vector<float> log_sums;
  std::vector<int32_t> starts;
};

constexpr size_t kLengths[] = {1, 3, 5, 16, 17, 31, 32, 33, 40, 65};

TYPED_TEST(AttentionKernels, AttentionShowsEveryNan) {
  using A = typename TypeParam::Activation;
  for (const size_t length : kLengths) {
    for (const uint32_t bits : kNanBits) {
      for (const size_t token : {size_t{0}, length - 1}) {
        OneHead<TypeParam> query(length), key(length), value(length);
        query.Query(token)[3] = key.Key(token)[3] = value.Values(token)[3] = FromBits<A>(bits);
        query.Forward();
        EXPECT_TRUE(std::isnan(query.Out(token, 0))) << length << std::hex << " " << bits;
        if (length > 1) {
          EXPECT_FALSE(std::isnan(query.Out(length - 1 - token, 0)));
        }
        key.Forward();
        value.Forward();
        for (size_t t = 0; t < length; ++t) {
          EXPECT_TRUE(std::isnan(key.Out(t, 5))) << length << std::hex << " " << bits;
          EXPECT_TRUE(std::isnan(value.Out(t, 3))) << length << std::hex << " " << bits;
          EXPECT_FALSE(std::isnan(value.Out(t, 4)));
        }
        const std::vector<A> gradient = key.Backward();
        EXPECT_TRUE(std::isnan(Value(gradient[2 * OneHead<TypeParam>::kWidth]))) << length;
      }
    }
  }
}

TYPED_TEST(AttentionKernels, EqualScoresOfAnySizeGiveTheMean) {
  using A = typename TypeParam::Activation;
  for (const size_t length : kLengths) {
    for (const float size : {0.0F, 1e6F, -1e6F, 1e9F, -1e9F, 1e12F, -1e12F, 1e30F, -1e30F}) {
      OneHead<TypeParam> head(length);
      head.SetKeys(size);
      head.Forward();
      const double mean = (static_cast<double>(length) - 1) / 2;
      EXPECT_NEAR(head.Out(0, 0), mean, 0.01 * mean) << length << " " << size;
      for (const A gradient : head.Backward()) {
        EXPECT_TRUE(std::isfinite(Value(gradient))) << length << " " << size;
      }
      // Rounding of huge scores may take probabilities away, never make them more than 1.
      const float of_values = Value(head.Backward()[2 * OneHead<TypeParam>::kWidth]);
      EXPECT_LE(of_values, 1.01F * static_cast<float>(length)) << length << " " << size;
    }
  }
}

// Scores rise evenly from -size to size over the keys: across the size from which on maxima are
// subtracted, and the ones where exponentials, alone or times large values, would leave the range
// of floats.
TYPED_TEST(AttentionKernels, SoftmaxOfScoresOfAnySize) {
  using A = typename TypeParam::Activation;
  constexpr size_t kWidth = OneHead<TypeParam>::kWidth;
  const double unit = OneHead<TypeParam>::kUnitScore;
  for (const size_t length : {3, 4, 11, 12, 16, 17, 30, 40, 65}) {
    for (const float size : {0.5F, 5.0F, 20.0F, 41.0F, 42.0F, 60.0F, 90.0F, 400.0F}) {
      OneHead<TypeParam> head(length);
      std::vector<double> scores;
      for (size_t t = 0; t < length; ++t) {
        const float part = 2 * static_cast<float>(t) / static_cast<float>(length - 1) - 1;
        const A key = From<A>(part * size / static_cast<float>(unit));
        std::fill_n(head.Key(t), kWidth, key);
        scores.push_back(unit * Value(key));
        std::fill_n(head.Values(t), kWidth, From<A>(0x1p38F * static_cast<float>(t)));
      }
      head.Forward();
      double total = 0, mixed = 0;
      for (size_t t = 0; t < length; ++t) {
        const double e = std::exp(scores[t] - scores.back());
        total += e;
        mixed += e * Value(head.Values(t)[0]);
      }
      const double bound = sizeof(A) == 4 ? 1e-6 * (1 + size) : 0x1p-7;
      for (size_t t = 0; t < length; ++t) {
        EXPECT_NEAR(head.Out(t, 0), mixed / total, bound * mixed / total) << length << " " << size;
        const double log_sum = scores.back() + std::log(total);
        EXPECT_NEAR(head.log_sums[t], log_sum, 1e-6 * (1 + size)) << length << " " << size;
      }
    }
  }
}

// One query with scores so large that maxima are subtracted, in each place of a text: the others
// must not notice, nor a row that two blocks compute.
TYPED_TEST(AttentionKernels, AQueryWithLargeScoresLeavesTheOthersAlone) {
  using A = typename TypeParam::Activation;
  constexpr size_t kWidth = OneHead<TypeParam>::kWidth;
  const double unit = OneHead<TypeParam>::kUnitScore;
  for (const size_t length : {4, 12, 13, 17, 23, 30, 35}) {
    for (size_t large = 0; large < length; ++large) {
      OneHead<TypeParam> head(length);
      for (size_t t = 0; t < length; ++t) {
        std::fill_n(head.Key(t), kWidth, From<A>(static_cast<float>(t % 3) / 4));
      }
      std::fill_n(head.Query(large), kWidth, From<A>(4096));
      head.Forward();
      for (size_t t = 0; t < length; ++t) {
        double total = 0, mixed = 0;
        const double largest = unit * Value(head.Query(t)[0]) * 0.5;
        for (size_t j = 0; j < length; ++j) {
          const double score = unit * Value(head.Query(t)[0]) * Value(head.Key(j)[0]);
          total += std::exp(score - largest);
          mixed += std::exp(score - largest) * static_cast<double>(j);
        }
        const double bound = sizeof(A) == 4 ? 1e-6 : 0x1p-7;
        EXPECT_NEAR(head.Out(t, 0), mixed / total, bound * mixed / total) << length << " " << large;
        const double log_sum = largest + std::log(total);
        EXPECT_NEAR(head.log_sums[t], log_sum, 1e-6 * (1 + std::fabs(log_sum))) << length;
      }
    }
  }
}

// Equal scores give equal probabilities, whatever their size, and so the same ones are dropped.
TYPED_TEST(AttentionKernels, DropoutDoesNotDependOnTheSizeOfScores) {
  using A = typename TypeParam::Activation;
  for (const size_t length : {2, 4, 13, 40}) {
    std::vector<int64_t> position_keys(length);
    for (size_t t = 0; t < length; ++t) position_keys[t] = static_cast<int64_t>(t * 7 + 3);
    const auto mixed = [&](float keys) {
      OneHead<TypeParam> head(length);
      head.SetKeys(keys);
      AttentionInput<A> input = head.Input();
      input.position_keys = position_keys.data();
      input.dropout = {.rate = 0.5, .seed = 1, .step = 2, .site = 3};
      RunAttentionForward<A>(input, {head.out.data(), nullptr}, 1);
      return head;
    };
    const OneHead<TypeParam> small = mixed(0), large = mixed(1e6F);
    bool drops = false;
    for (size_t t = 0; t < length; ++t) {
      const float value = small.Out(t, 0);
      EXPECT_NEAR(large.Out(t, 0), value, (sizeof(A) == 4 ? 1e-6 : 0x1p-7) * value) << length;
      drops |= std::fabs(value - static_cast<float>(length - 1) / 2) > 0.01F;
    }
    EXPECT_TRUE(drops) << length;
  }
}

// Nearest, ties to even; over the range to infinity; a NaN stays one; below 2^-126 the processor's
// own instruction gives 0.
TEST(ToBf16, RoundsEveryKindOfNumber) {
  std::vector<uint32_t> bits = {0,          0x80000000, 0x3F800000, 0x3F808000, 0x3F818000,
                                0x3F808001, 0x3F807FFF, 0xBF818000, 0x7F7F7FFF, 0x7F7F8000,
                                0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x00800000,
                                0x80800000, 0x00007FFF, 0x007F8000, 0x807FFFFF, 0x00000001};
  bits.insert(bits.end(), std::begin(kNanBits), std::end(kNanBits));
  for (uint32_t i = 0; bits.size() < 4096; ++i) bits.push_back(0x9E3779B9U * i);
  std::vector<float> in;
  for (const uint32_t b : bits) in.push_back(std::bit_cast<float>(b));
  std::vector<Bf16> out(in.size());
  ToBf16(in.data(), out.data(), in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const uint16_t found = out[i].bits;
    const uint32_t sign = bits[i] & 0x80000000;
    if (std::isnan(in[i])) {
      EXPECT_TRUE(std::isnan(Value(out[i]))) << std::hex << bits[i];
      continue;
    }
    const uint32_t rounded = (bits[i] + 0x7FFF + (bits[i] >> 16 & 1)) >> 16;
    const bool tiny = std::fabs(in[i]) < 0x1p-126F;
    if (tiny && CurrentIsa() >= Isa::kAvx512Bf16) {
      EXPECT_EQ(found, sign >> 16) << std::hex << bits[i];
    } else {
      EXPECT_EQ(found, rounded) << std::hex << bits[i];
    }
  }
}

TYPED_TEST(AttentionKernels, AScoreOfMinusInfinityIsLeftOut) {
  using A = typename TypeParam::Activation;
  for (const size_t length : kLengths) {
    OneHead<TypeParam> head(length);
    std::fill_n(head.Key(length - 1), OneHead<TypeParam>::kWidth, From<A>(-kInfinity));
    head.Forward();
    if (length == 1) {
      EXPECT_TRUE(std::isnan(head.Out(0, 0)));
    } else {
      const double mean = (static_cast<double>(length) - 2) / 2;
      EXPECT_NEAR(head.Out(0, 0), mean, 0.01 * mean + 1e-6) << length;
    }
    // It has no gradient either, whatever lies after the last query.
    if (length > 1) {
      const std::vector<A> gradient = head.Backward();
      const A* of_key = &gradient[(3 * (length - 1) + 1) * OneHead<TypeParam>::kWidth];
      for (size_t c = 0; c < 2 * OneHead<TypeParam>::kWidth; ++c) {
        EXPECT_EQ(Value(of_key[c]), 0) << length << ", channel " << c;
      }
    }
    head.SetKeys(-kInfinity);  // nothing is left: no mean exists
    head.Forward();
    EXPECT_TRUE(std::isnan(head.Out(0, 0))) << length;
  }
}

}  // namespace
}  // namespace tandem::tensor::cpu
