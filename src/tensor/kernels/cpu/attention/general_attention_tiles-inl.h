// General attention on AMX (attention_tiles-inl.h says how its products work). The backward pass
// takes the queries in stretches: for each stretch, keys are in the outer loop, so that the sums
// over the stretch's queries that are gradients of keys and values stay in tile registers. Included
// once per target by general_attention.cc.
#if defined(TANDEM_TENSOR_GENERAL_ATTENTION_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_GENERAL_ATTENTION_TILES_INL_H_
#undef TANDEM_TENSOR_GENERAL_ATTENTION_TILES_INL_H_
#else
#define TANDEM_TENSOR_GENERAL_ATTENTION_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/attention/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention/attention_tiles-inl.h"
#include "tensor/kernels/cpu/attention/attention_tiles_backward-inl.h"
#include "tensor/kernels/cpu/attention/general_attention_backward-inl.h"
#include "tensor/kernels/cpu/attention/general_attention_rows-inl.h"
#include "tensor/kernels/cpu/attention/general_attention_task.h"
#include "tensor/kernels/cpu/rows/row_pairs-inl.h"
#include "tensor/kernels/cpu/scratch.h"
#include "tensor/kernels/cpu/products/tile_product-inl.h"
#include "tensor/kernels/cpu/rows/transpose-inl.h"

#if HWY_TARGET <= HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

static_assert(kKeyUnit == kTileBlock);

// The products of the forward pass with a chunk of keys and values, as VectorProducts.
class TileProducts {
 public:
  using Activation = Bf16;
  using Element = uint32_t;
  using Probability = Bf16;
  static constexpr bool kForBf16 = true;
  static constexpr bool kFuses = false;
  static constexpr size_t kForwardRows = kTileBlock;

  // Explicit, so that they are compiled for this target.
  HWY_INLINE TileProducts() {}   // NOLINT(modernize-use-equals-default)
  HWY_INLINE ~TileProducts() {}  // NOLINT(modernize-use-equals-default)
  TileProducts(const TileProducts&) = delete;
  TileProducts& operator=(const TileProducts&) = delete;

  static HWY_INLINE void PackPanels(const StridedRows<const Bf16>& from, size_t rows, size_t padded,
                                    uint32_t* to) {
    PackTokenTiles(from, rows, padded, to);
  }
  static HWY_INLINE void PackRows(const StridedRows<const Bf16>& from, size_t rows, size_t padded,
                                  uint32_t* to) {
    PackPaddedPairs(from, rows, padded, to);
  }
  static HWY_INLINE void PackLeft(const StridedRows<const Bf16>& from, size_t rows, uint32_t* to) {
    CopyRows(from, rows, kTileBlock, reinterpret_cast<Bf16*>(to));
  }
  static HWY_INLINE void StoreProbability(FloatVec v, Bf16* to) { StoreRounded(v, to); }

  HWY_INLINE void MultiplyKeys(const SmallShape& shape, const uint32_t* queries,
                               const uint32_t* keys, size_t first, Output c) {
    const size_t words = shape.depth / 2;
    for (size_t key = 0; key < shape.columns; key += kKeyUnit) {
      ProductOfTiles(tiles_, {RowTiles(shape.rows), words / kTileSide},
                     TileOperandOf(RowMajor<uint32_t>{queries, words}),
                     TokenTiles(keys, first + key, words), {c.data + key, c.stride, false});
    }
  }
  // The tiles also multiply rows of probabilities after the block's last one, which hold anything.
  // They only reach the same rows of the result, which nobody reads.
  HWY_INLINE void MultiplyValues(const SmallShape& shape, const Bf16* probabilities, size_t stride,
                                 const uint32_t* values, size_t first, Output c) {
    TileProduct(tiles_, {RowTiles(shape.rows), shape.columns / kTileSide, shape.depth / kTileBlock},
                RowMajor<uint32_t>{AsWords(probabilities), stride / 2},
                Rows<uint32_t>{values + first / 2 * shape.columns, shape.columns}, c);
  }

 private:
  static size_t RowTiles(size_t rows) { return (rows + kTileSide - 1) / kTileSide; }

  AmxTiles tiles_;
};

class GeneralBackwardOnTiles {
 public:
  explicit GeneralBackwardOnTiles(const GeneralTask<Bf16>& task)
      : task_(task),
        length_(task.length),
        padded_(RoundUp(task.length, kTileBlock)),
        stretch_(std::min(padded_, kQueries)),
        width_(task.width),
        m_(Allocate()) {}

  void Run() {
    const size_t stride = task_.qkv_stride;
    PackTokenTiles({task_.keys, stride, width_}, length_, padded_, m_.keys);
    PackTokenTiles({task_.values, stride, width_}, length_, padded_, m_.values);
    PackPaddedPairs({task_.keys, stride, width_}, length_, padded_, m_.key_pairs);
    SaveRows(task_, m_.saved);
    std::fill_n(m_.grad_keys, padded_ * width_, 0.0F);
    std::fill_n(m_.grad_values, padded_ * width_, 0.0F);
    if (task_.grad_bias != nullptr) {
      std::fill_n(m_.grad_bias, task_.group * DistancesOf(length_), 0.0F);
    }
    for (size_t head = 0; head < task_.group; ++head) {
      for (size_t query = 0; query < length_; query += stretch_) {
        AddStretch(head, {query, std::min(query + stretch_, length_)});
      }
      if (task_.grad_bias != nullptr) {
        SumBuckets(task_, head, m_.grad_bias + head * DistancesOf(length_));
      }
    }
    StoreSums(m_.grad_keys, task_.scale, task_.grad_keys);
    StoreSums(m_.grad_values, 1.0F, task_.grad_values);
  }

 private:
  // The queries of a stretch: so many that loading and storing the sums of tile registers costs
  // little, so few that their factors stay in the second-level cache.
  static constexpr size_t kQueries = 512;

  struct Arrays {
    uint32_t *keys, *values;         // token tiles of [padded, width]
    uint32_t* key_pairs;             // [padded / 2, width]
    float *grad_keys, *grad_values;  // of 32 keys each: [padded / 32][width, 32]
    SavedRow* saved;                 // [group, length]
    float* grad_bias;                // [group, DistancesOf(length)]
    // The factors of a stretch:
    QueryFactors queries, grads;
    float* grad_queries;      // [stretch, width]
    uint32_t* probabilities;  // [stretch / 2, 32], of the current keys
    uint32_t* grad_products;  // [stretch / 2, 32], of the current keys
    float* rows;              // [32, width]
  };

  Arrays Allocate() const {
    return AllocateScratch<GeneralAttentionScratch>([this](Scratch& scratch) {
      const size_t whole = padded_ * width_, part = stretch_ * width_;
      return Arrays{.keys = scratch.Allocate<uint32_t>(whole / 2),
                    .values = scratch.Allocate<uint32_t>(whole / 2),
                    .key_pairs = scratch.Allocate<uint32_t>(whole / 2),
                    .grad_keys = scratch.Allocate<float>(whole),
                    .grad_values = scratch.Allocate<float>(whole),
                    .saved = scratch.Allocate<SavedRow>(task_.group * length_),
                    .grad_bias = scratch.Allocate<float>(
                        task_.grad_bias == nullptr ? 0 : task_.group * DistancesOf(length_)),
                    .queries = AllocateQueryFactors(scratch, stretch_, width_),
                    .grads = AllocateQueryFactors(scratch, stretch_, width_),
                    .grad_queries = scratch.Allocate<float>(part),
                    .probabilities = scratch.Allocate<uint32_t>(stretch_ / 2 * kTileBlock),
                    .grad_products = scratch.Allocate<uint32_t>(stretch_ / 2 * kTileBlock),
                    .rows = scratch.Allocate<float>(kTileBlock * width_)};
    });
  }

  void AddStretch(size_t head, TokenRange stretch) {
    // The gradients of queries are summed later; until then their memory is free to work in.
    auto* pairs = reinterpret_cast<uint32_t*>(m_.grad_queries);
    const size_t in_qkv = stretch.begin * task_.qkv_stride + head * width_;
    const size_t in_out = stretch.begin * task_.out_stride + head * width_;
    PackQueryFactors({task_.queries + in_qkv, task_.qkv_stride, width_}, stretch.size(), stretch_,
                     pairs, m_.queries);
    PackQueryFactors({task_.grad_out + in_out, task_.out_stride, width_}, stretch.size(), stretch_,
                     pairs, m_.grads);
    const TokenRange keys = task_.mask.KeysOf(stretch, length_);
    {
      AmxTiles tiles;
      for (size_t key = keys.begin / kTileBlock * kTileBlock; key < keys.end; key += kTileBlock) {
        AddKeys(tiles, head, stretch, key);
      }
    }
    StoreRows<true>(m_.grad_queries, stretch.size(), task_.scale,
                    StridedRows<Bf16>{task_.grad_queries + in_qkv, task_.qkv_stride, width_});
  }

  // Adds what the stretch and the 32 keys from `key` on give to each other's gradients.
  HWY_INLINE void AddKeys(AmxTiles& tiles, size_t head, TokenRange stretch, size_t key) {
    HWY_ALIGN float products[2][kTileBlock * kTileBlock];
    HWY_ALIGN float grads[2][kTileBlock * kTileBlock];
    const TokenRange readers =
        task_.mask.QueriesOf({key, std::min(key + kTileBlock, length_)}, length_);
    const size_t begin = std::max(readers.begin, stretch.begin) / kTileBlock * kTileBlock;
    const size_t end = std::min(readers.end, stretch.end), in_stretch = begin - stretch.begin;
    size_t turn = 0;
    MultiplyTile(tiles, in_stretch, key, products[0], grads[0]);
    for (size_t query = begin; query < end; query += kTileBlock, turn = 1 - turn) {
      // The next block's products are issued first, so that they run beside this one's
      // exponentials.
      const size_t place = query - stretch.begin;
      if (query + kTileBlock < end) {
        MultiplyTile(tiles, place + kTileBlock, key, products[1 - turn], grads[1 - turn]);
      }
      HWY_ALIGN Bf16 grad_rows[kTileBlock * kTileBlock];
      MakeGradients({head, {query, std::min(query + kTileBlock, stretch.end)}, key, place},
                    products[turn], grads[turn], grad_rows);
      if (key == 0) PrefetchUpcoming(task_, head, query, query + kTileBlock);
      const bool fresh = task_.mask.KeysOf(query, length_).begin / kTileBlock * kTileBlock == key;
      TileProduct(tiles, {2, width_ / kTileSide, 1},
                  RowMajor<uint32_t>{AsWords(grad_rows), kTileSide},
                  Rows<uint32_t>{m_.key_pairs + key / 2 * width_, width_},
                  {m_.grad_queries + place * width_, width_, !fresh});
    }
    const size_t blocks = (end - begin + kTileBlock - 1) / kTileBlock;
    AddSums(tiles, m_.queries, m_.grad_products, {in_stretch, blocks}, m_.grad_keys + key * width_);
    AddSums(tiles, m_.grads, m_.probabilities, {in_stretch, blocks}, m_.grad_values + key * width_);
  }

  // Products of 32 queries, from `place` of the stretch on, with 32 keys, and the gradients of
  // their probabilities.
  HWY_INLINE void MultiplyTile(AmxTiles& tiles, size_t place, size_t key, float* products,
                               float* grads) const {
    const size_t words = width_ / 2;
    const TileCounts counts{2, words / kTileSide};
    ProductOfTiles(
        tiles, counts,
        TileOperandOf(RowMajor<uint32_t>{AsWords(m_.queries.rows + place * width_), words}),
        TokenTiles(m_.keys, key, words), {products, kTileBlock, false});
    ProductOfTiles(
        tiles, counts,
        TileOperandOf(RowMajor<uint32_t>{AsWords(m_.grads.rows + place * width_), words}),
        TokenTiles(m_.values, key, words), {grads, kTileBlock, false});
  }

  // A block of queries and the 32 keys from `key` on; the block begins at `place` of the stretch.
  struct Pairing {
    size_t head;
    TokenRange block;
    size_t key;
    size_t place;
  };

  HWY_INLINE void MakeGradients(const Pairing& pairing, float* products, const float* grads,
                                Bf16* grad_rows) {
    const FloatTag d;
    const uint64_t site_key =
        SiteKey(task_.dropout, static_cast<uint32_t>(task_.first_head + pairing.head + 1));
    for (size_t r = 0; r < kTileBlock; r += 2) {
      HWY_ALIGN float p[2][kTileBlock], g[2][kTileBlock];
      for (size_t q = 0; q < 2; ++q) {
        const size_t row = (r + q) * kTileBlock;
        if (r + q < pairing.block.size()) {
          RowGradients(pairing, r + q, site_key, products + row, grads + row, p[q], g[q]);
        } else {
          std::fill_n(p[q], kTileBlock, 0.0F);
          std::fill_n(g[q], kTileBlock, 0.0F);
        }
      }
      for (size_t j = 0; j < kTileBlock; j += kTileSide) {
        const size_t at = (pairing.place + r) / 2 * kTileBlock + j;
        Bf16* rows = grad_rows + r * kTileBlock + j;
        StorePairs(hn::Load(d, p[0] + j), hn::Load(d, p[1] + j), m_.probabilities + at);
        StorePairs(hn::Load(d, g[0] + j), hn::Load(d, g[1] + j), m_.grad_products + at, rows,
                   rows + kTileBlock);
      }
    }
  }

  // Row `r` of the block: dropout(P) to `p` and the products' gradients to `g`, [32] each.
  HWY_INLINE void RowGradients(const Pairing& pairing, size_t r, uint64_t site_key, float* products,
                               const float* grads, float* p, float* g) {
    const size_t query = pairing.block.begin + r;
    float* grad_bias = nullptr;
    if (task_.grad_bias != nullptr) {
      grad_bias =
          m_.grad_bias + pairing.head * DistancesOf(length_) + (pairing.key + length_ - 1 - query);
    }
    SpanGradients<true>(
        RowOf(task_, pairing.head, query, {pairing.key, pairing.key + kTileBlock}, products),
        task_.units, grads, m_.saved[pairing.head * length_ + query],
        DropoutOf(task_, site_key, query), grad_bias,
        [=](size_t j, FloatVec pv, FloatVec gv) HWY_ATTR {
          hn::Store(pv, FloatTag(), p + j);
          hn::Store(gv, FloatTag(), g + j);
        });
  }

  // Blocks of 32 queries of a stretch.
  struct Blocks {
    size_t first;  // query in the stretch
    size_t count;
  };

  // sums [width, 32] += factors^T pairs, over these queries.
  HWY_INLINE void AddSums(AmxTiles& tiles, const QueryFactors& factors, const uint32_t* pairs,
                          const Blocks& blocks, float* sums) const {
    TileProduct(tiles, {width_ / kTileSide, 2, blocks.count},
                RowMajor<uint32_t>{factors.transposed + blocks.first / 2, stretch_ / 2},
                Rows<uint32_t>{pairs + blocks.first / 2 * kTileBlock, kTileBlock},
                {sums, kTileBlock, true});
  }

  void StoreSums(const float* sums, float factor, Bf16* to) const {
    for (size_t key = 0; key < length_; key += kTileBlock) {
      const size_t count = std::min(kTileBlock, length_ - key);
      Transpose({sums + key * width_, 4 * kTileBlock, width_, count}, width_,
                reinterpret_cast<uint32_t*>(m_.rows));
      StoreRows<true>(m_.rows, count, factor,
                      StridedRows<Bf16>{to + key * task_.qkv_stride, task_.qkv_stride, width_});
    }
  }

  const GeneralTask<Bf16>& task_;
  size_t length_, padded_, stretch_, width_;
  Arrays m_;
};

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET <= HWY_AVX3
#endif  // per-target include guard
