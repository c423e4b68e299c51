// One fault of each kind that the sanitizers must report, and what they must not report.
//
//   sanitizer_probe ordered | race | thread_race | leak | overrun | overflow
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 4;
constexpr int kCount = 1024;

// Threads write what others have written in the parallel region before, and what they read after a
// barrier: right, by OpenMP's rules, which a sanitizer that does not know them takes for races.
int Ordered() {
  std::vector<int> values(kCount);
  for (int round = 0; round < 100; ++round) {
#pragma omp parallel for schedule(static, 1) num_threads(kThreads)
    for (int i = 0; i < kCount; ++i) ++values[static_cast<size_t>(i)];
#pragma omp parallel for schedule(dynamic, 1) num_threads(kThreads)
    for (int i = 0; i < kCount; ++i) ++values[static_cast<size_t>(kCount - 1 - i)];
  }
  std::vector<int> firsts(kThreads);
#pragma omp parallel num_threads(kThreads)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < kCount; ++i) ++values[static_cast<size_t>(i)];
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < kThreads; ++i)
      firsts[static_cast<size_t>(i)] = values[static_cast<size_t>(i)];
  }
  const int sum = std::accumulate(values.begin(), values.end(), 0);
  return sum == kCount * 201 && firsts.back() == 201 ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Threads of one parallel region add to the same number.
int Race() {
  int sum = 0;
#pragma omp parallel for schedule(static) num_threads(kThreads)
  for (int i = 0; i < kCount; ++i) sum += i;
  std::printf("%d\n", sum);
  return EXIT_SUCCESS;
}

// The same on threads of their own.
int ThreadRace() {
  int sum = 0;
  std::thread other([&] { ++sum; });
  ++sum;
  other.join();
  std::printf("%d\n", sum);
  return EXIT_SUCCESS;
}

// An array that nothing points to when the program ends.
int Leak(int length) {
  auto array = std::make_unique<int[]>(static_cast<size_t>(length));
  array[0] = length;
  std::printf("%d\n", array.release()[0]);
  return EXIT_SUCCESS;
}

int Overrun(int length) {
  const auto array = std::make_unique<int[]>(static_cast<size_t>(length));
  std::printf("%d\n", array[static_cast<size_t>(length)]);
  return EXIT_SUCCESS;
}

int Overflow(int number) {
  std::printf("%d\n", INT_MAX - 1 + number);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view fault = argc == 2 ? argv[1] : "";
  if (fault == "ordered") return Ordered();
  if (fault == "race") return Race();
  if (fault == "thread_race") return ThreadRace();
  if (fault == "leak") return Leak(argc);
  if (fault == "overrun") return Overrun(argc);
  if (fault == "overflow") return Overflow(argc);
  std::fprintf(stderr, "sanitizer_probe: no fault \"%s\"\n", argc == 2 ? argv[1] : "");
  return 2;
}
