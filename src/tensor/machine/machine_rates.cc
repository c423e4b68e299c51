#include "tensor/machine/machine_rates.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "tensor/core/parallel.h"
#include "tensor/kernels/cpu/arithmetic.h"
#include "tensor/kernels/cpu/rows/rows.h"

namespace tandem::tensor {
namespace {

constexpr int kAttempts = 4;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Normally distributed values, like those that encoders multiply. The fewer bits change from one
// factor to the next, the less power a product takes and the faster a processor may run: products
// of zeros on AMX were a quarter faster.
std::vector<float> RandomValues(int64_t count) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  std::ranges::generate(values, [&] { return normal(generator); });
  return values;
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
    constants.back().packed.Pack(RandomValues(shape.depth * shape.columns).data(), shape.columns,
                                 1);
  }
  return constants;
}

// A cache line. Tensors of an encoder begin at one, so the operands here do too.
struct alignas(64) Line {
  char bytes[64];
};

// Elements of the largest tile that any of the products reads or writes.
int64_t TileElements(std::span<const ProductShape> shapes, int64_t rows) {
  int64_t widest = 0;
  for (const ProductShape& shape : shapes) widest = std::max({widest, shape.depth, shape.columns});
  return rows * widest;
}

// `values` converted to `type`, as bytes.
std::vector<Line> LinesOf(const std::vector<float>& values, cpu::Type type) {
  std::vector<Line> lines(values.size() * sizeof(float) / sizeof(Line) + 1);
  if (type == cpu::Type::kFloat) {
    std::memcpy(lines.data(), values.data(), values.size() * sizeof(float));
  } else {
    cpu::ToBf16(values.data(), reinterpret_cast<cpu::Bf16*>(lines.data()), values.size());
  }
  return lines;
}

// Seconds until every thread has multiplied `rows` rows with all constants `repeats` times.
double SecondsOf(const std::vector<Constant>& constants, int64_t rows, int64_t elements,
                 int repeats, cpu::Type type) {
  const int threads = ThreadCount();
  double start = 0;
#pragma omp parallel num_threads(threads)
  {
    const std::vector<Line> x = LinesOf(RandomValues((elements + 15) / 16 * 16), type);
    std::vector<Line> out(x.size());
    const auto multiply = [&] {
      for (const Constant& c : constants) {
        cpu::MultiplyPacked({{x.data(), c.shape.depth},
                             rows,
                             c.packed,
                             nullptr,
                             {out.data(), c.shape.columns},
                             type});
      }
    };
    multiply();  // oneDNN makes its primitives here
#pragma omp barrier
#pragma omp single
    start = Now();
    for (int i = 0; i < repeats; ++i) multiply();
  }
  return Now() - start;
}

cpu::Type TypeOf(Precision precision) {
  return ActivationPrecision(precision) == Precision::kFp32 ? cpu::Type::kFloat : cpu::Type::kBf16;
}

}  // namespace

double ProductRate(std::span<const ProductShape> shapes, Precision precision,
                   cpu::Multiplier multiplier) {
  const cpu::Type type = TypeOf(precision);
  if (precision == Precision::kInt8 && multiplier == cpu::Multiplier::kFastest) {
    multiplier = cpu::Multiplier::kInt8;
  }
  const std::vector<Constant> constants = PackConstants(shapes, type, multiplier);
  double weights = 0;
  for (const ProductShape& shape : shapes) {
    weights += static_cast<double>(shape.depth) * static_cast<double>(shape.columns);
  }
  double best = 0;
  for (const int64_t rows : {64, 128, 256}) {
    const double flops = 2.0 * static_cast<double>(rows) * weights * ThreadCount();
    constexpr double kFlopsOfAttempt = 1e10;  // long against a barrier, short for a person
    const int repeats = std::clamp(static_cast<int>(kFlopsOfAttempt / std::max(flops, 1.0)), 1, 64);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const double seconds = SecondsOf(constants, rows, TileElements(shapes, rows), repeats, type);
      best = std::max(best, flops * repeats / seconds);
    }
  }
  return best;
}

double ArithmeticRate(Precision precision) {
  const int threads = ThreadCount();
  double best = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    double start = 0, flops = 0;
#pragma omp parallel num_threads(threads) reduction(+ : flops)
    {
      constexpr size_t kSteps = 1 << 20;  // 3 to 20 milliseconds
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
  const int threads = ThreadCount();
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
