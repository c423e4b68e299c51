#include "eval/significance/significance.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/process/threads.h"
#include "base/random.h"

namespace tandem::eval {
namespace {

// Sums of signed differences are read from tables: a byte of random bits is the signs of eight
// differences, and the table of these has their sum for each of its 256 values. A pattern then
// costs one addition for eight queries. Sixteen tables (32 KB) stay in the first-level cache and
// take the 16 bytes of one call of the generator.
constexpr size_t kBits = 8;
constexpr size_t kTables = 16;
constexpr size_t kValues = size_t{1} << kBits;
using SumTable = std::array<double, kValues>;

// Patterns that a thread takes at a time; their sums stay in the second-level cache.
constexpr size_t kPatterns = 4096;
constexpr double kTieRoom = 1e-12;

// table[bits] = sum of +difference where the bit is set and -difference elsewhere.
void FillTable(std::span<const double> differences, SumTable& table) {
  table.fill(0);
  for (size_t bits = 0; bits < kValues; ++bits) {
    for (size_t i = 0; i < differences.size(); ++i) {
      table[bits] += (bits >> i & 1) != 0 ? differences[i] : -differences[i];
    }
  }
}

std::vector<SumTable> TablesOf(std::span<const double> differences) {
  const size_t needed = (differences.size() + kBits - 1) / kBits;
  std::vector<SumTable> tables((needed + kTables - 1) / kTables * kTables);
  for (size_t t = 0; t < tables.size(); ++t) {
    const size_t first = std::min(t * kBits, differences.size());
    FillTable(differences.subspan(first, std::min(kBits, differences.size() - first)), tables[t]);
  }
  return tables;
}

double SumOf(std::span<const SumTable> tables, const std::array<uint32_t, 4>& random) {
  std::array<double, 4> sums{};
  for (size_t word = 0; word < 4; ++word) {
    for (size_t byte = 0; byte < 4; ++byte) {
      sums[word] += tables[word * 4 + byte][random[word] >> (byte * 8) & 0xFF];
    }
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Says how many of patterns begin to end - 1 have a sum at least as far from 0 as `limit`.
size_t CountFar(std::span<const SumTable> tables, std::array<uint32_t, 2> key, size_t begin,
                size_t end, double limit) {
  std::vector<double> sums(end - begin, 0.0);
  for (size_t first = 0; first < tables.size(); first += kTables) {
    const auto group = tables.subspan(first, kTables);
    const auto index = static_cast<uint32_t>(first / kTables);
    for (size_t pattern = begin; pattern < end; ++pattern) {
      sums[pattern - begin] +=
          SumOf(group, Philox4x32({static_cast<uint32_t>(pattern),
                                   static_cast<uint32_t>(pattern >> 32), index, 0},
                                  key));
    }
  }
  return static_cast<size_t>(std::count_if(sums.begin(), sums.end(),
                                           [limit](double sum) { return std::abs(sum) >= limit; }));
}

// All sign patterns of few differences.
TestResult Enumerate(std::span<const double> differences, double limit) {
  const size_t patterns = size_t{1} << differences.size();
  size_t far = 0;
  for (size_t bits = 0; bits < patterns; ++bits) {
    double sum = 0;
    for (size_t i = 0; i < differences.size(); ++i) {
      sum += (bits >> i & 1) != 0 ? differences[i] : -differences[i];
    }
    far += std::abs(sum) >= limit;
  }
  return {static_cast<double>(far) / static_cast<double>(patterns), patterns, true};
}

}  // namespace

TestResult SignFlipTest(std::span<const double> differences, const TestOptions& options) {
  std::vector<double> changed;
  double sum = 0, size = 0;
  for (const double difference : differences) {
    if (!std::isfinite(difference)) {
      throw NumericError("a difference of two systems is not a finite number");
    }
    if (difference != 0) changed.push_back(difference);
    sum += difference;
    size += std::abs(difference);
  }
  const double limit = std::abs(sum) - kTieRoom * size;
  if (changed.size() < 32 && size_t{1} << changed.size() <= options.permutations) {
    return Enumerate(changed, limit);
  }
  const std::vector<SumTable> tables = TablesOf(changed);
  RandomStream names({.seed = options.seed, .purpose = "sign flips"});
  const uint64_t name = names.Next();
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(name),
                                       static_cast<uint32_t>(name >> 32)};
  std::atomic<size_t> far{0};
  ParallelFor(options.permutations, kPatterns, options.threads,
              [&](size_t begin, size_t end) { far += CountFar(tables, key, begin, end, limit); });
  return {static_cast<double>(1 + far) / static_cast<double>(1 + options.permutations),
          options.permutations, false};
}

std::optional<double> CohensDz(std::span<const double> differences) {
  if (differences.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(differences.size());
  const double mean = std::accumulate(differences.begin(), differences.end(), 0.0) / count;
  double squares = 0;
  for (const double difference : differences) squares += (difference - mean) * (difference - mean);
  const auto [least, most] = std::minmax_element(differences.begin(), differences.end());
  if (*least == *most) return std::nullopt;
  return mean / std::sqrt(squares / (count - 1));
}

std::vector<double> HolmAdjusted(std::span<const double> p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double highest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const double scaled = p_values[order[i]] * static_cast<double>(order.size() - i);
    highest = std::max(highest, std::min(1.0, scaled));
    adjusted[order[i]] = highest;
  }
  return adjusted;
}

}  // namespace tandem::eval
