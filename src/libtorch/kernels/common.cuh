// What all kernels share: the types of activations, and the random bits of tensor/dropout.h.
namespace tandem::libtorch::kernels {

// Numbers of activations as they are stored. They are computed with as floats.
template <int kType>
struct Number;

template <>
struct Number<0> {  // float32
  using Stored = float;
  using Four = float4;
  static __device__ float ToFloat(Stored x) { return x; }
  static __device__ Stored FromFloat(float x) { return x; }
};

template <>
struct Number<1> {  // bf16
  using Stored = unsigned short;
  using Four = ushort4;
  static __device__ float ToFloat(Stored x) { return __uint_as_float(unsigned{x} << 16); }
  static __device__ Stored FromFloat(float x) {
    Stored stored;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(stored) : "f"(x));
    return stored;
  }
  // The first one is in the lower half.
  static __device__ unsigned Pair(float first, float second) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
  }
};

template <>
struct Number<2> {  // float16
  using Stored = unsigned short;
  using Four = ushort4;
  static __device__ float ToFloat(Stored x) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x));
    return wide;
  }
  static __device__ Stored FromFloat(float x) {
    Stored stored;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(stored) : "f"(x));
    return stored;
  }
  static __device__ unsigned Pair(float first, float second) {
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
  }
};

// Four neighbours in one access, which `at` must be aligned for.
template <int kType>
__device__ void LoadFour(const typename Number<kType>::Stored* at, float (&values)[4]) {
  using N = Number<kType>;
  const typename N::Four four = *reinterpret_cast<const typename N::Four*>(at);
  values[0] = N::ToFloat(four.x);
  values[1] = N::ToFloat(four.y);
  values[2] = N::ToFloat(four.z);
  values[3] = N::ToFloat(four.w);
}

template <int kType>
__device__ void StoreFour(const float (&values)[4], typename Number<kType>::Stored* at) {
  using N = Number<kType>;
  typename N::Four four;
  four.x = N::FromFloat(values[0]);
  four.y = N::FromFloat(values[1]);
  four.z = N::FromFloat(values[2]);
  four.w = N::FromFloat(values[3]);
  *reinterpret_cast<typename N::Four*>(at) = four;
}

// --- as in tensor/dropout.h

using Key = unsigned long long;

__device__ inline Key MixBits(Key x) {
  x ^= x >> 33;
  x *= 0xFF51AFD7ED558CCDull;
  x ^= x >> 33;
  x *= 0xC4CEB9FE1A85EC53ull;
  return x ^ (x >> 33);
}

__device__ inline Key SiteKey(const DropoutArguments& dropout, unsigned part) {
  return MixBits(dropout.step_key + (Key{dropout.site} << 32 | part));
}

__device__ inline Key RowKey(Key site_key, long long position_key) {
  return MixBits(site_key ^ static_cast<Key>(position_key));
}

// The bits that the channels c and c + 16 share, for a c whose remainder by 32 is below 16.
__device__ inline unsigned SharedBits(Key row_key, unsigned c) {
  unsigned x = (c / 32 * 16 + c % 16) * 0x9E3779B9u ^ static_cast<unsigned>(row_key);
  x ^= x >> 16;
  x *= 0x21F0AAADu;
  x ^= x >> 15;
  x += static_cast<unsigned>(row_key >> 32);
  x *= 0x735A2D97u;
  return x ^ x >> 15;
}

__device__ inline bool Kept(Key row_key, unsigned channel, unsigned threshold) {
  const unsigned bits = SharedBits(row_key, channel);
  return (channel % 32 >= 16 ? bits >> 16 : bits & 0xFFFF) >= threshold;
}

}  // namespace tandem::libtorch::kernels
