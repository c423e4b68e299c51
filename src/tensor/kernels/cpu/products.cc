#include "tensor/kernels/cpu/products.h"

#include <hwy/aligned_allocator.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <dnnl.hpp>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/isa.h"
#include "tensor/kernels/cpu/panel_products.h"
#include "tensor/kernels/cpu/rows.h"
#include "tensor/kernels/cpu/tiled_products.h"

namespace tandem::tensor::cpu {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

dnnl::engine& Engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::data_type DataType(Type type) {
  return type == Type::kFloat ? memory::data_type::f32 : memory::data_type::bf16;
}

memory::desc Strided(int64_t rows, int64_t columns, Type type, int64_t row_stride,
                     int64_t column_stride) {
  return {{rows, columns}, DataType(type), memory::dims{row_stride, column_stride}};
}

struct ProductOptions {
  const memory::desc* bias = nullptr;
  bool add = false;  // to the destination
};

// A product's primitive with its operands' memory objects. These are made once and pointed to the
// data of each call: made anew, they and the map of arguments that oneDNN's C++ interface asks for
// show in the profile of small products.
struct Product {
  dnnl::matmul primitive;
  memory a, b, c, bias, scratchpad;
  size_t scratch_bytes;
};

memory WithoutData(const memory::desc& description) { return {description, Engine(), nullptr}; }

dnnl::matmul::primitive_desc DescribeProduct(const memory::desc& a, const memory::desc& b,
                                             const memory::desc& c, const ProductOptions& options) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (options.add) {
    dnnl::post_ops operations;
    operations.append_sum(1.0F);
    attributes.set_post_ops(operations);
  }
#if DNNL_VERSION_MAJOR >= 3
  return options.bias ? dnnl::matmul::primitive_desc(Engine(), a, b, *options.bias, c, attributes)
                      : dnnl::matmul::primitive_desc(Engine(), a, b, c, attributes);
#else
  const dnnl::matmul::desc operation =
      options.bias ? dnnl::matmul::desc(a, b, *options.bias, c) : dnnl::matmul::desc(a, b, c);
  return {operation, attributes, Engine()};
#endif
}

Product MakeProduct(const memory::desc& a, const memory::desc& b, const memory::desc& c,
                    const ProductOptions& options) {
  const dnnl::matmul::primitive_desc description = DescribeProduct(a, b, c, options);
  Product product;
  product.primitive = dnnl::matmul(description);
  product.a = WithoutData(description.src_desc());
  product.b = WithoutData(description.weights_desc());
  product.c = WithoutData(description.dst_desc());
  if (options.bias) product.bias = WithoutData(*options.bias);
  product.scratchpad = WithoutData(description.scratchpad_desc());
  product.scratch_bytes = description.scratchpad_desc().get_size();
  return product;
}

// Everything that tells one product from another.
using ProductKey = std::array<int64_t, 12>;

// Primitives cost 0.2 to 2 ms to make, so each thread keeps the ones it has used. A thread meets
// few shapes: tiles have one height but for the last of a batch.
Product& FindProduct(const ProductKey& key, const auto& make) {
  thread_local std::map<ProductKey, Product> products;
  const auto found = products.find(key);
  if (found != products.end()) return found->second;
  constexpr size_t kMostProducts = 4096;  // a bound on memory; far above what a model needs
  if (products.size() >= kMostProducts) products.clear();
  return products.emplace(key, make()).first->second;
}

// Where the operands of a call lie; oneDNN only reads what is const here.
struct Operands {
  const void* a;
  const void* b;  // null: `packed`
  void* c;
  const float* bias = nullptr;
  const memory* packed = nullptr;  // as it is: pointing an object to it would pad it once more
};

void Execute(Product& product, const Operands& operands) {
  thread_local dnnl::stream stream(Engine());
  thread_local std::vector<char> scratchpad;
  if (product.scratch_bytes > scratchpad.size()) scratchpad.resize(product.scratch_bytes);
  std::array<dnnl_exec_arg_t, 5> arguments;
  size_t count = 0;
  const auto point = [&](int name, memory& operand, const void* data) {
    operand.set_data_handle(const_cast<void*>(data));
    arguments[count++] = {name, operand.get()};
  };
  point(DNNL_ARG_SRC, product.a, operands.a);
  if (operands.packed) {
    arguments[count++] = {DNNL_ARG_WEIGHTS, operands.packed->get()};
  } else {
    point(DNNL_ARG_WEIGHTS, product.b, operands.b);
  }
  point(DNNL_ARG_DST, product.c, operands.c);
  if (operands.bias) point(DNNL_ARG_BIAS, product.bias, operands.bias);
  point(DNNL_ARG_SCRATCHPAD, product.scratchpad, scratchpad.data());
  dnnl::error::wrap_c_api(dnnl_primitive_execute(product.primitive.get(), stream.get(),
                                                 static_cast<int>(count), arguments.data()),
                          "a matrix product failed");
  stream.wait();
}

memory View(const memory::desc& description, const void* data) {
  return memory(description, Engine(), const_cast<void*>(data));  // oneDNN reads sources only
}

// The height that decides the layout of packed weights; other heights take the same layout.
constexpr int64_t kLayoutRows = 64;

// Whether our own kernels multiply by matrices [depth, columns]: those for floats, and those for
// bf16.
bool TakesPanels(int64_t depth, int64_t columns, Type type) {
  return type == Type::kFloat && depth > 0 && columns > 0 && columns % 16 == 0 &&
         CurrentIsa() >= Isa::kAvx2;
}

bool TakesTiles(int64_t depth, int64_t columns, Type type) {
  constexpr auto kUnit = static_cast<int64_t>(kTiledUnit);
  return type == Type::kBf16 && depth > 0 && columns > 0 && depth % kUnit == 0 &&
         columns % kUnit == 0 && CurrentIsa() >= Isa::kAmx;
}

}  // namespace

// One of the three.
struct PackedMatrix::Storage {
  memory weights;
  hwy::AlignedFreeUniquePtr<float[]> panels;
  hwy::AlignedFreeUniquePtr<Bf16[]> tiles;
};

PackedMatrix::PackedMatrix(int64_t depth, int64_t columns, Type type, Multiplier multiplier)
    : depth_(depth), columns_(columns), type_(type), storage_(std::make_unique<Storage>()) {
  if (multiplier == Multiplier::kFastest && TakesPanels(depth, columns, type)) {
    storage_->panels = hwy::AllocateAligned<float>(static_cast<size_t>(depth * columns));
    if (!storage_->panels) throw std::bad_alloc();
    return;
  }
  if (multiplier == Multiplier::kFastest && TakesTiles(depth, columns, type)) {
    storage_->tiles = hwy::AllocateAligned<Bf16>(static_cast<size_t>(depth * columns));
    if (!storage_->tiles) throw std::bad_alloc();
    return;
  }
  const memory::desc any({depth, columns}, DataType(type), Tag::any);
  const dnnl::matmul::primitive_desc product =
      DescribeProduct(Strided(kLayoutRows, depth, type, depth, 1), any,
                      Strided(kLayoutRows, columns, type, columns, 1), {});
  storage_->weights = memory(product.weights_desc(), Engine());
}

PackedMatrix::PackedMatrix(PackedMatrix&&) noexcept = default;
PackedMatrix& PackedMatrix::operator=(PackedMatrix&&) noexcept = default;
PackedMatrix::~PackedMatrix() = default;

void PackedMatrix::Pack(const float* source, int64_t depth_stride, int64_t column_stride) {
  if (storage_->panels) {
    PackPanels(source, static_cast<size_t>(depth_stride), static_cast<size_t>(column_stride),
               static_cast<size_t>(depth_), static_cast<size_t>(columns_), storage_->panels.get());
    return;
  }
  if (storage_->tiles) {
    PackTiles(source, static_cast<size_t>(depth_stride), static_cast<size_t>(column_stride),
              static_cast<size_t>(depth_), static_cast<size_t>(columns_), storage_->tiles.get());
    return;
  }
  memory from = View(Strided(depth_, columns_, Type::kFloat, depth_stride, column_stride), source);
  dnnl::stream stream(Engine());
  dnnl::reorder(from, storage_->weights).execute(stream, from, storage_->weights);
  stream.wait();
}

namespace {

// By a matrix in tiles.
TiledProduct TiledProductOf(ConstMatrix x, const PackedMatrix& packed, const float* bias) {
  if (x.stride % 2 != 0) throw std::logic_error("rows of bf16 factors need an even stride");
  return {static_cast<const Bf16*>(x.data),
          static_cast<size_t>(x.stride),
          static_cast<size_t>(packed.depth()),
          packed.storage().tiles.get(),
          bias,
          static_cast<size_t>(packed.columns())};
}

}  // namespace

void MultiplyPacked(ConstMatrix x, int64_t rows, const PackedMatrix& packed, const float* bias,
                    Matrix out, Type out_type) {
  if (rows == 0) return;
  const int64_t depth = packed.depth(), columns = packed.columns();
  if (const float* panels = packed.storage().panels.get()) {
    MultiplyPanels({static_cast<const float*>(x.data), static_cast<size_t>(x.stride),
                    static_cast<size_t>(depth), panels, bias, static_cast<float*>(out.data),
                    static_cast<size_t>(out.stride), static_cast<size_t>(columns)},
                   static_cast<size_t>(rows));
    return;
  }
  if (packed.storage().tiles) {
    const TiledProduct product = TiledProductOf(x, packed, bias);
    const auto stride = static_cast<size_t>(out.stride);
    if (out_type == Type::kFloat) {
      MultiplyTiled(product, static_cast<size_t>(rows), {static_cast<float*>(out.data), stride});
    } else {
      MultiplyTiled(product, static_cast<size_t>(rows), {static_cast<Bf16*>(out.data), stride});
    }
    return;
  }
  const memory& weights = packed.storage().weights;
  const memory::desc bias_desc({1, columns}, memory::data_type::f32, Tag::ab);
  const ProductKey key{0,
                       rows,
                       depth,
                       columns,
                       x.stride,
                       out.stride,
                       static_cast<int64_t>(packed.type()),
                       static_cast<int64_t>(out_type),
                       bias != nullptr};
  Product& product = FindProduct(key, [&] {
    return MakeProduct(Strided(rows, depth, packed.type(), x.stride, 1), weights.get_desc(),
                       Strided(rows, columns, out_type, out.stride, 1),
                       {.bias = bias ? &bias_desc : nullptr});
  });
  Execute(product, {x.data, nullptr, out.data, bias, &weights});
}

template <typename A>
void MultiplyToGelu(const A* x, size_t rows, const PackedMatrix& packed, const float* bias,
                    A* before, A* activated) {
  const ConstMatrix factor{x, packed.depth()};
  if constexpr (std::is_same_v<A, Bf16>) {
    if (packed.storage().tiles) {
      MultiplyTiled(TiledProductOf(factor, packed, bias), rows, GeluResult{before, activated});
      return;
    }
  }
  A* product = before ? before : activated;
  MultiplyPacked(factor, static_cast<int64_t>(rows), packed, bias, {product, packed.columns()},
                 packed.type());
  RunGeluForward(product, activated, rows * static_cast<size_t>(packed.columns()));
}

template <typename A>
void MultiplyToGeluGradient(const A* x, size_t rows, const PackedMatrix& packed, const A* before,
                            A* grad, A* activated, float* column_sums) {
  const ConstMatrix factor{x, packed.depth()};
  if constexpr (std::is_same_v<A, Bf16>) {
    if (packed.storage().tiles) {
      MultiplyTiled(TiledProductOf(factor, packed, nullptr), rows,
                    GeluGradientResult{before, grad, activated, column_sums});
      return;
    }
  }
  const auto columns = static_cast<size_t>(packed.columns());
  MultiplyPacked(factor, static_cast<int64_t>(rows), packed, nullptr, {grad, packed.columns()},
                 packed.type());
  RunGeluBackward(before, grad, activated, rows * columns);
  if (column_sums) AddColumnSums(grad, column_sums, rows, columns);
}

#define TANDEM_INSTANTIATE(A)                                                                   \
  template void MultiplyToGelu(const A*, size_t, const PackedMatrix&, const float*, A*, A*);    \
  template void MultiplyToGeluGradient(const A*, size_t, const PackedMatrix&, const A*, A*, A*, \
                                       float*)
TANDEM_INSTANTIATE(float);
TANDEM_INSTANTIATE(Bf16);
#undef TANDEM_INSTANTIATE

void MultiplyTransposed(ConstMatrix a, ConstMatrix b, int64_t depth, int64_t m, int64_t n,
                        Type type, float* sum, bool add) {
  if (depth == 0) {
    if (!add) std::fill_n(sum, m * n, 0.0F);
    return;
  }
  if (TakesPanels(depth, n, type)) {
    MultiplyTransposedPanels({static_cast<const float*>(a.data), static_cast<size_t>(a.stride),
                              static_cast<const float*>(b.data), static_cast<size_t>(b.stride),
                              static_cast<size_t>(depth), sum, static_cast<size_t>(m),
                              static_cast<size_t>(n), add});
    return;
  }
  // Any depth will do here.
  if (TakesTiles(m, n, type)) {
    MultiplyTransposedTiled({static_cast<const Bf16*>(a.data), static_cast<size_t>(a.stride),
                             static_cast<const Bf16*>(b.data), static_cast<size_t>(b.stride),
                             static_cast<size_t>(depth), sum, static_cast<size_t>(m),
                             static_cast<size_t>(n), add});
    return;
  }
  // Batches end at any row; two products keep the depths that a thread meets few.
  constexpr int64_t kDepthStep = 128;
  if (const int64_t rest = depth % kDepthStep; rest > 0 && rest < depth) {
    const int64_t whole = depth - rest, size = type == Type::kFloat ? 4 : 2;
    MultiplyTransposed(a, b, whole, m, n, type, sum, add);
    a.data = static_cast<const std::byte*>(a.data) + whole * a.stride * size;
    b.data = static_cast<const std::byte*>(b.data) + whole * b.stride * size;
    MultiplyTransposed(a, b, rest, m, n, type, sum, true);
    return;
  }
  const ProductKey key{1, depth, m, n, a.stride, b.stride, static_cast<int64_t>(type), add};
  Product& product = FindProduct(key, [&] {
    return MakeProduct(Strided(m, depth, type, 1, a.stride), Strided(depth, n, type, b.stride, 1),
                       Strided(m, n, Type::kFloat, n, 1), {.add = add});
  });
  Execute(product, {a.data, b.data, sum});
}

void MultiplyRowsByRows(const float* a, int64_t m, const float* b, int64_t n, int64_t depth,
                        float* out) {
  if (m == 0 || n == 0) return;
  const ProductKey key{2, m, n, depth};
  Product& product = FindProduct(key, [&] {
    return MakeProduct(Strided(m, depth, Type::kFloat, depth, 1),
                       Strided(depth, n, Type::kFloat, 1, depth), Strided(m, n, Type::kFloat, n, 1),
                       {});
  });
  Execute(product, {a, b, out});
}

bool LimitProductIsa(const char* level) {
  const std::pair<const char*, dnnl::cpu_isa> levels[] = {
      {"baseline", dnnl::cpu_isa::sse41},
      {"avx2", dnnl::cpu_isa::avx2},
      {"avx512", dnnl::cpu_isa::avx512_core_vnni},
      {"avx512_bf16", dnnl::cpu_isa::avx512_core_bf16},
      {"amx", dnnl::cpu_isa::avx512_core_amx}};
  for (const auto& [name, isa] : levels) {
    if (std::strcmp(name, level) == 0) {
      return dnnl::set_max_cpu_isa(isa) == dnnl::status::success;
    }
  }
  return false;
}

const char* ProductLibraryVersion() {
  static const std::string text = [] {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }();
  return text.c_str();
}

}  // namespace tandem::tensor::cpu
