#include "tensor/core/storage.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <vector>

#include "base/error.h"
#include "tensor/core/values.h"

namespace tandem::tensor {
namespace {

// Counts blocks, and gives none above a limit.
class LimitedAllocator final : public Allocator {
 public:
  explicit LimitedAllocator(size_t limit) : limit_(limit), before_(SetAllocator(*this)) {}
  ~LimitedAllocator() override { SetAllocator(before_); }

  void* Allocate(size_t bytes) override {
    if (bytes > limit_) return nullptr;
    ++blocks;
    bytes_now += bytes;
    return PlainAllocator().Allocate(bytes);
  }
  void Free(void* block, size_t bytes) noexcept override {
    --blocks;
    bytes_now -= bytes;
    PlainAllocator().Free(block, bytes);
  }

  int blocks = 0;
  size_t bytes_now = 0;

 private:
  size_t limit_;
  Allocator& before_;
};

TEST(Storage, ComesFromTheCurrentAllocatorAndGoesBackToIt) {
  LimitedAllocator allocator(1 << 20);
  {
    const Tensor tensor = Empty({100, 10}, kFloat);
    EXPECT_EQ(allocator.blocks, 1);
    EXPECT_GE(allocator.bytes_now, 4000U);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data_ptr()) % kAlignment, 0U);
    const Tensor view = tensor.narrow(0, 5, 3), copy = tensor;
    EXPECT_EQ(allocator.blocks, 1);
    SetAllocator(PlainAllocator());  // the block goes back to its own all the same
  }
  EXPECT_EQ(allocator.blocks, 0);
  EXPECT_EQ(allocator.bytes_now, 0U);
}

TEST(Storage, SaysHowManyBytesThereAreNot) {
  const LimitedAllocator allocator(1 << 20);
  try {
    Empty({1024, 1024}, kFloat);
    FAIL() << "no error";
  } catch (const MemoryError& error) {
    EXPECT_STREQ(error.what(), "out of memory: the system does not give 4194304 bytes (4.0 MiB)");
    EXPECT_EQ(error.bytes(), 4194304U);
    EXPECT_EQ(error.exit_code(), ExitCode::kUsage);
  }
}

TEST(Storage, OfTooManyBytesIsRefused) {
  const LimitedAllocator allocator(1 << 20);
  EXPECT_THROW(Empty({std::numeric_limits<int64_t>::max()}, kByte), MemoryError);
  EXPECT_EQ(Mistake([] { Empty({int64_t{1} << 62}, kDouble); }),
            "a tensor [4611686018427387904] of float64 has more bytes than can be counted");
}

TEST(Storage, IsSharedByViewsUntilTheLastOneIsGone) {
  auto owner = std::make_shared<std::vector<float>>(6, 1.0F);
  const std::weak_ptr<std::vector<float>> alive = owner;
  float* data = owner->data();
  Tensor tensor = FromBlob(data, {3, 2}, kFloat, std::move(owner));
  EXPECT_EQ(tensor.data_ptr<float>(), data);
  Tensor row = tensor[1], shape = tensor.view({6}), detached = tensor.detach();
  tensor.reset();
  shape.reset();
  detached.reset();
  EXPECT_FALSE(alive.expired());
  row.reset();
  EXPECT_TRUE(alive.expired());
}

TEST(Storage, MayBelongToTheCaller) {
  double numbers[] = {1, 2, 3};
  {
    const Tensor tensor = FromBlob(numbers, {3}, kDouble);
    tensor.fill_(4);
  }
  EXPECT_EQ(numbers[2], 4);
  auto* bytes = reinterpret_cast<std::byte*>(numbers);
  EXPECT_EQ(Mistake([&] { FromBlob(bytes + 4, {1}, kDouble); }),
            "FromBlob: expected float64 at a multiple of 8 bytes");
  EXPECT_EQ(FromBlob(bytes + 4, {1}, kFloat).numel(), 1);
}

TEST(Storage, OfADeviceIsNotRead) {
  bool freed = false;
  {
    const std::shared_ptr<void> owner(nullptr, [&freed](void*) { freed = true; });
    int handle = 0;
    const Tensor tensor =
        FromDevice(&handle, {2}, kFloat, {.kind = Device::Kind::kCuda, .index = 1}, owner);
    EXPECT_FALSE(tensor.is_cpu());
    EXPECT_EQ(tensor.data_ptr(), &handle);
    EXPECT_EQ(Mistake([&] { tensor.data_ptr<float>(); }),
              "expected a tensor of float32 on the processor, found float32 [2] on cuda:1");
    EXPECT_THROW(tensor.zero_(), UsageError);  // there is no back end
  }
  EXPECT_TRUE(freed);
}

TEST(Storage, CountsWrites) {
  const Tensor tensor = Zeros({4, 2}, kFloat), view = tensor.narrow(0, 1, 2);
  const uint64_t before = tensor.version();
  view.fill_(1);
  view.add_(view);
  view.mul_(2);
  view.copy_(Zeros({2, 2}, kFloat));
  tensor.bump_version();
  EXPECT_EQ(tensor.version(), before + 5);
  EXPECT_EQ(tensor.detach().version(), before + 5);
}

}  // namespace
}  // namespace tandem::tensor
