#include "tensor/kernels/cpu/products/onednn_products.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tensor/kernels/cpu/products/onednn_library.h"
#include "tensor/kernels/cpu/products/products.h"

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

// A product's primitive, with memory objects for its operands, which are pointed to the data of
// each call. Making them anew, and the map of arguments that oneDNN's C++ interface takes, would
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

// Everything that a primitive depends on; the first number is the kind of product.
using ProductKey = std::array<int64_t, 12>;

// A primitive takes 0.2 to 2 ms to make, so each thread keeps those that it has used. A thread
// needs few shapes: all tiles of rows have the same height, except the last one of a batch.
Product& FindProduct(const ProductKey& key, const auto& make) {
  thread_local std::map<ProductKey, Product> products;
  const auto found = products.find(key);
  if (found != products.end()) return found->second;
  constexpr size_t kMostProducts = 4096;  // a bound on memory; far above what a model needs
  if (products.size() >= kMostProducts) products.clear();
  return products.emplace(key, make()).first->second;
}

// The operands of a call. oneDNN takes pointers to data that are not const, but does not write to
// the sources.
struct Operands {
  const void* a;
  const void* b;  // null: the factor is `packed`
  void* c;
  const float* bias = nullptr;
  // The packed factor's own memory object. Pointing another object to its data would make oneDNN
  // write its padding again.
  const memory* packed = nullptr;
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

// The layout of packed weights is what oneDNN prefers for this many rows; products of other heights
// read the same layout.
constexpr int64_t kLayoutRows = 64;

}  // namespace

struct OneDnnMatrix::Storage {
  memory weights;
};

OneDnnMatrix::OneDnnMatrix(int64_t depth, int64_t columns, Type type)
    : storage_(std::make_unique<Storage>()) {
  const memory::desc any({depth, columns}, DataType(type), Tag::any);
  const dnnl::matmul::primitive_desc product =
      DescribeProduct(Strided(kLayoutRows, depth, type, depth, 1), any,
                      Strided(kLayoutRows, columns, type, columns, 1), {});
  storage_->weights = memory(product.weights_desc(), Engine());
}

OneDnnMatrix::OneDnnMatrix(OneDnnMatrix&&) noexcept = default;
OneDnnMatrix& OneDnnMatrix::operator=(OneDnnMatrix&&) noexcept = default;
OneDnnMatrix::~OneDnnMatrix() = default;

namespace {

void PackFrom(const void* source, Type type, const FloatFactor& b, memory* weights) {
  memory from =
      View(Strided(static_cast<int64_t>(b.depth), static_cast<int64_t>(b.columns), type,
                   static_cast<int64_t>(b.depth_stride), static_cast<int64_t>(b.column_stride)),
           source);
  dnnl::stream stream(Engine());
  dnnl::reorder(from, *weights).execute(stream, from, *weights);
  stream.wait();
}

}  // namespace

void OneDnnMatrix::Pack(const FloatFactor& b) {
  PackFrom(b.source, Type::kFloat, b, &storage_->weights);
}

void OneDnnMatrix::PackBf16(const void* source, const FloatFactor& b) {
  PackFrom(source, Type::kBf16, b, &storage_->weights);
}

void MultiplyByOneDnn(const OneDnnProduct& p) {
  const memory& weights = p.b.storage().weights;
  const memory::desc bias_desc({1, p.columns}, memory::data_type::f32, Tag::ab);
  const ProductKey key{0,
                       p.rows,
                       p.depth,
                       p.columns,
                       p.x.stride,
                       p.out.stride,
                       static_cast<int64_t>(p.type),
                       static_cast<int64_t>(p.out_type),
                       p.bias != nullptr};
  Product& product = FindProduct(key, [&] {
    return MakeProduct(Strided(p.rows, p.depth, p.type, p.x.stride, 1), weights.get_desc(),
                       Strided(p.rows, p.columns, p.out_type, p.out.stride, 1),
                       {.bias = p.bias ? &bias_desc : nullptr});
  });
  Execute(product, {p.x.data, nullptr, p.out.data, p.bias, &weights});
}

void MultiplyTransposedByOneDnn(const WeightGradient& p) {
  // A batch may end at any row. This computes the rows beyond a multiple of 128 as a product of
  // their own, so that a thread needs few different depths, and with them few primitives.
  constexpr int64_t kDepthStep = 128;
  if (const int64_t rest = p.depth % kDepthStep; rest > 0 && rest < p.depth) {
    const int64_t whole = p.depth - rest, size = p.type == Type::kFloat ? 4 : 2;
    WeightGradient part = p;
    part.depth = whole;
    MultiplyTransposedByOneDnn(part);
    part.depth = rest;
    part.add = true;
    part.a.data = static_cast<const std::byte*>(p.a.data) + whole * p.a.stride * size;
    part.b.data = static_cast<const std::byte*>(p.b.data) + whole * p.b.stride * size;
    MultiplyTransposedByOneDnn(part);
    return;
  }
  const ProductKey key{
      1, p.depth, p.m, p.n, p.a.stride, p.b.stride, static_cast<int64_t>(p.type), p.add};
  Product& product = FindProduct(key, [&] {
    return MakeProduct(Strided(p.m, p.depth, p.type, 1, p.a.stride),
                       Strided(p.depth, p.n, p.type, p.b.stride, 1),
                       Strided(p.m, p.n, Type::kFloat, p.n, 1), {.add = p.add});
  });
  Execute(product, {p.a.data, p.b.data, p.sum});
}

void MultiplyRowsByRowsByOneDnn(const RowsByRows& p) {
  const ProductKey key{2, p.m, p.n, p.depth};
  Product& product = FindProduct(key, [&] {
    return MakeProduct(Strided(p.m, p.depth, Type::kFloat, p.depth, 1),
                       Strided(p.depth, p.n, Type::kFloat, 1, p.depth),
                       Strided(p.m, p.n, Type::kFloat, p.n, 1), {});
  });
  Execute(product, {p.a, p.b, p.out});
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
