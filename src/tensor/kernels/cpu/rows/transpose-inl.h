// Transposes of matrices of 32-bit words: of keys and values for the products of attention, and of
// factors of products on AMX. Included once per target by the files with such products.
#if defined(TANDEM_TENSOR_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_TRANSPOSE_INL_H_
#undef TANDEM_TENSOR_TRANSPOSE_INL_H_
#else
#define TANDEM_TENSOR_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// `rows` rows of 32-bit words of any type, `stride` bytes apart.
struct WordRows {
  const void* data;
  size_t stride;
  size_t rows;
  size_t words;

  const std::byte* Row(size_t row) const {
    return static_cast<const std::byte*>(data) + row * stride;
  }
};

// Says how many of the 16 rows from `first` on there are.
HWY_INLINE size_t RowsOfBlock(const WordRows& from, size_t first) {
  return first < from.rows ? std::min<size_t>(16, from.rows - first) : 0;
}

#if HWY_TARGET > HWY_AVX3
HWY_INLINE void TransposeWordByWord(const WordRows& from, size_t first, size_t rows,
                                    size_t first_word, size_t words, size_t to_stride,
                                    uint32_t* HWY_RESTRICT to) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t w = 0; w < words; ++w) {
      std::memcpy(to + w * to_stride + r, from.Row(first + r) + 4 * (first_word + w), 4);
    }
  }
}
#endif

#if HWY_TARGET <= HWY_AVX3

// Transposes words first_word .. first_word + 16 of rows first .. first + 16. Rows that are missing
// count as zero; words that are missing are not written.
HWY_INLINE void TransposeBlock(const WordRows& from, size_t first, size_t first_word,
                               size_t to_stride, uint32_t* HWY_RESTRICT to) {
  const size_t rows = RowsOfBlock(from, first);
  const size_t words = std::min<size_t>(16, from.words - first_word);
  const auto inside = static_cast<__mmask16>((1U << words) - 1);
  __m512i a[16], b[16];
  for (size_t r = 0; r < 16; ++r) {
    a[r] = r < rows ? _mm512_maskz_loadu_epi32(inside, from.Row(first + r) + 4 * first_word)
                    : _mm512_setzero_si512();
  }
  // Interleaves pairs of rows, then groups of four, within 128-bit lanes; then moves the lanes.
  for (size_t r = 0; r < 16; r += 2) {
    b[r] = _mm512_unpacklo_epi32(a[r], a[r + 1]);
    b[r + 1] = _mm512_unpackhi_epi32(a[r], a[r + 1]);
  }
  for (size_t r = 0; r < 16; r += 4) {
    a[r] = _mm512_unpacklo_epi64(b[r], b[r + 2]);
    a[r + 1] = _mm512_unpackhi_epi64(b[r], b[r + 2]);
    a[r + 2] = _mm512_unpacklo_epi64(b[r + 1], b[r + 3]);
    a[r + 3] = _mm512_unpackhi_epi64(b[r + 1], b[r + 3]);
  }
  for (size_t r = 0; r < 16; r += 8) {
    for (size_t i = 0; i < 4; ++i) {
      b[r + i] = _mm512_shuffle_i32x4(a[r + i], a[r + i + 4], 0x88);      // lanes 0 and 2 of both
      b[r + i + 4] = _mm512_shuffle_i32x4(a[r + i], a[r + i + 4], 0xDD);  // lanes 1 and 3
    }
  }
  for (size_t i = 0; i < 8; ++i) {
    a[i] = _mm512_shuffle_i32x4(b[i], b[i + 8], 0x88);
    a[i + 8] = _mm512_shuffle_i32x4(b[i], b[i + 8], 0xDD);
  }
  for (size_t w = 0; w < words; ++w) _mm512_storeu_si512(to + w * to_stride, a[w]);
}

#elif HWY_TARGET == HWY_AVX2

// Transposes eight words of eight rows, none of them missing.
HWY_INLINE void TransposeEight(const WordRows& from, size_t first, size_t first_word,
                               size_t to_stride, uint32_t* HWY_RESTRICT to) {
  __m256 a[8], b[8];
  for (size_t r = 0; r < 8; ++r) {
    a[r] = _mm256_loadu_ps(reinterpret_cast<const float*>(from.Row(first + r) + 4 * first_word));
  }
  for (size_t r = 0; r < 8; r += 2) {
    b[r] = _mm256_unpacklo_ps(a[r], a[r + 1]);
    b[r + 1] = _mm256_unpackhi_ps(a[r], a[r + 1]);
  }
  for (size_t r = 0; r < 8; r += 4) {
    a[r] = _mm256_shuffle_ps(b[r], b[r + 2], 0x44);
    a[r + 1] = _mm256_shuffle_ps(b[r], b[r + 2], 0xEE);
    a[r + 2] = _mm256_shuffle_ps(b[r + 1], b[r + 3], 0x44);
    a[r + 3] = _mm256_shuffle_ps(b[r + 1], b[r + 3], 0xEE);
  }
  for (size_t w = 0; w < 4; ++w) {
    auto* low = reinterpret_cast<float*>(to + w * to_stride);
    auto* high = reinterpret_cast<float*>(to + (w + 4) * to_stride);
    _mm256_storeu_ps(low, _mm256_permute2f128_ps(a[w], a[w + 4], 0x20));
    _mm256_storeu_ps(high, _mm256_permute2f128_ps(a[w], a[w + 4], 0x31));
  }
}

HWY_INLINE void TransposeBlock(const WordRows& from, size_t first, size_t first_word,
                               size_t to_stride, uint32_t* HWY_RESTRICT to) {
  const size_t rows = RowsOfBlock(from, first);
  const size_t words = std::min<size_t>(16, from.words - first_word);
  for (size_t w = 0; w < words; w += 8) {
    const size_t count = std::min<size_t>(8, words - w);
    for (size_t r = 0; r < rows; r += 8) {
      uint32_t* corner = to + w * to_stride + r;
      if (count == 8 && rows - r >= 8) {
        TransposeEight(from, first + r, first_word + w, to_stride, corner);
      } else {
        TransposeWordByWord(from, first + r, std::min<size_t>(8, rows - r), first_word + w, count,
                            to_stride, corner);
      }
    }
    for (size_t i = 0; i < count; ++i) {
      std::fill(to + (w + i) * to_stride + rows, to + (w + i) * to_stride + 16, 0U);
    }
  }
}

#else

HWY_INLINE void TransposeBlock(const WordRows& from, size_t first, size_t first_word,
                               size_t to_stride, uint32_t* HWY_RESTRICT to) {
  const size_t rows = RowsOfBlock(from, first);
  const size_t words = std::min<size_t>(16, from.words - first_word);
  for (size_t w = 0; w < words; ++w) {
    std::fill(to + w * to_stride + rows, to + w * to_stride + 16, 0U);
  }
  TransposeWordByWord(from, first, rows, first_word, words, to_stride, to);
}

#endif

// Transposes a square block, for callers whose blocks are always complete. The side of the block is
// as many words as a vector holds where a fast transpose exists, else one.
#if HWY_TARGET <= HWY_AVX3
inline constexpr size_t kSquareSide = 16;
HWY_INLINE void TransposeSquare(const WordRows& from, size_t first, size_t first_word,
                                size_t to_stride, uint32_t* HWY_RESTRICT to) {
  TransposeBlock(from, first, first_word, to_stride, to);
}
#elif HWY_TARGET == HWY_AVX2
inline constexpr size_t kSquareSide = 8;
HWY_INLINE void TransposeSquare(const WordRows& from, size_t first, size_t first_word,
                                size_t to_stride, uint32_t* HWY_RESTRICT to) {
  TransposeEight(from, first, first_word, to_stride, to);
}
#else
inline constexpr size_t kSquareSide = 1;
HWY_INLINE void TransposeSquare(const WordRows& from, size_t first, size_t first_word,
                                size_t to_stride, uint32_t* HWY_RESTRICT to) {
  TransposeWordByWord(from, first, 1, first_word, 1, to_stride, to);
}
#endif

// Moves word w of row r to element (w, r) of `to` [words, padded]. `padded` is a multiple of 16 and
// at least the number of rows; columns after the last row become zero.
HWY_INLINE void Transpose(const WordRows& from, size_t padded, uint32_t* HWY_RESTRICT to) {
  for (size_t r = 0; r < padded; r += 16) {
    for (size_t w = 0; w < from.words; w += 16) {
      TransposeBlock(from, r, w, padded, to + w * padded + r);
    }
  }
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
