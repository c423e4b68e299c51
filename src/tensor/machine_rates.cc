#include "tensor/machine_rates.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "tensor/kernels/cpu/arithmetic.h"

namespace tandem::tensor {
namespace {

constexpr int kAttempts = 4;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Constant {
  ProductShape shape;
  cpu::PackedMatrix packed;
};

std::vector<Constant> PackConstants(std::span<const ProductShape> shapes, cpu::Type type,
                                    cpu::Multiplier multiplier) {
  std::vector<Constant> constants;
  for (const ProductShape& shape : shapes) {
    constants.push_back({shape, cpu::PackedMatrix(shape.depth, shape.columns, type, multiplier)});
    const std::vector<float> values(static_cast<size_t>(shape.depth * shape.columns), 0.01F);
    constants.back().packed.Pack(values.data(), shape.columns, 1);
  }
  return constants;
}

// What rows of an encoder's tensors begin with.
struct alignas(64) Line {
  char bytes[64];
};

// Bytes of the largest tile that any of the products reads or writes.
size_t TileBytes(std::span<const ProductShape> shapes, int64_t rows) {
  int64_t widest = 0;
  for (const ProductShape& shape : shapes) widest = std::max({widest, shape.depth, shape.columns});
  return static_cast<size_t>(rows * widest) * sizeof(float);
}

// Seconds that all threads together take for `rows` rows each, `repeats` times.
double SecondsOf(const std::vector<Constant>& constants, int64_t rows, size_t tile_bytes,
                 int repeats, cpu::Type type) {
  const int threads = at::get_num_threads();
  double start = 0;
#pragma omp parallel num_threads(threads)
  {
    const std::vector<Line> x(tile_bytes / sizeof(Line) + 1);  // zeros of either type
    std::vector<Line> out(x.size());
    const auto multiply = [&] {
      for (const Constant& c : constants) {
        cpu::MultiplyPacked({x.data(), c.shape.depth}, rows, c.packed, nullptr,
                            {out.data(), c.shape.columns}, type);
      }
    };
    multiply();  // makes the primitives
#pragma omp barrier
#pragma omp single
    start = Now();
    for (int i = 0; i < repeats; ++i) multiply();
  }
  return Now() - start;
}

cpu::Type TypeOf(Precision precision) {
  return precision == Precision::kFp32 ? cpu::Type::kFloat : cpu::Type::kBf16;
}

}  // namespace

double ProductRate(std::span<const ProductShape> shapes, Precision precision,
                   cpu::Multiplier multiplier) {
  const cpu::Type type = TypeOf(precision);
  const std::vector<Constant> constants = PackConstants(shapes, type, multiplier);
  double weights = 0;
  for (const ProductShape& shape : shapes) {
    weights += static_cast<double>(shape.depth) * static_cast<double>(shape.columns);
  }
  double best = 0;
  for (const int64_t rows : {64, 128, 256}) {
    const double flops = 2.0 * static_cast<double>(rows) * weights * at::get_num_threads();
    constexpr double kFlopsOfAttempt = 1e10;  // long against a barrier, short for a person
    const int repeats = std::clamp(static_cast<int>(kFlopsOfAttempt / std::max(flops, 1.0)), 1, 64);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const double seconds = SecondsOf(constants, rows, TileBytes(shapes, rows), repeats, type);
      best = std::max(best, flops * repeats / seconds);
    }
  }
  return best;
}

double ArithmeticRate(Precision precision) {
  const int threads = at::get_num_threads();
  double best = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    double start = 0, flops = 0;
#pragma omp parallel num_threads(threads) reduction(+ : flops)
    {
      constexpr size_t kSteps = 1 << 20;  // some milliseconds
#pragma omp barrier
#pragma omp single
      start = Now();
      flops += cpu::MultiplyRegisters(TypeOf(precision), kSteps);
    }
    best = std::max(best, flops / (Now() - start));
  }
  return best;
}

double MemoryRate() {
  constexpr int64_t kElements = int64_t{1} << 24;  // 64 MiB of each array
  const auto a = std::make_unique<float[]>(kElements);
  const auto b = std::make_unique<float[]>(kElements);
  const auto c = std::make_unique<float[]>(kElements);
  const int threads = at::get_num_threads();
  double best = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const double start = Now();
    float* to = a.get();
    const float* from = b.get();
    const float* other = c.get();
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < kElements; ++i) to[i] = from[i] + 0.5F * other[i];
    best = std::max(best, 3.0 * sizeof(float) * static_cast<double>(kElements) / (Now() - start));
  }
  return best;
}

}  // namespace tandem::tensor
