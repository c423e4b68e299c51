// Gradients have the bits of libtorch's: the same random graphs, whose tensors are read several
// times each, with both.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "tensor/core/functions/functions.h"
#include "tensor/core/values.h"

namespace tandem::tensor {
namespace {

constexpr int64_t kRows = 4, kWidth = 3;

at::Tensor Theirs(const Tensor& ours) {
  const at::ScalarType type = ours.dtype() == kFloat ? at::kFloat : at::kLong;
  return at::from_blob(ours.data_ptr(), ours.sizes().vec(), type).clone();
}

bool SameBits(const Tensor& ours, const at::Tensor& theirs) {
  const at::Tensor all = theirs.contiguous();
  return all.sizes().vec() == ours.sizes().vec() &&
         std::memcmp(ours.data_ptr(), all.data_ptr(), ours.nbytes()) == 0;
}

// A tensor of both libraries.
struct Both {
  Tensor ours;
  at::Tensor theirs;
};

class Graph {
 public:
  explicit Graph(uint32_t seed) : random_(seed) {
    for (int i = 0; i < 3; ++i) {
      leaves_.push_back(Random());
      leaves_.back().ours.set_requires_grad(true);
      leaves_.back().theirs.set_requires_grad(true);
    }
  }

  const std::vector<Both>& leaves() const { return leaves_; }

  // Makes some operations on top of one another, and walks back from the sum of a few of them.
  void Pass() {
    nodes_ = leaves_;
    for (int i = 0; i < 25; ++i) nodes_.push_back(Operation());
    Both root = nodes_.back();
    for (int i = 0; i < 3; ++i) root = Sum(root, Any());
    const Both gradient = Random();
    EXPECT_TRUE(SameBits(root.ours, root.theirs));
    root.ours.backward(gradient.ours);
    root.theirs.backward(gradient.theirs);
  }

 private:
  Both Random() {
    std::normal_distribution<float> normal;
    const Tensor ours = Empty({kRows, kWidth}, kFloat);
    for (int64_t i = 0; i < ours.numel(); ++i) ours.data_ptr<float>()[i] = normal(random_);
    return {ours, Theirs(ours)};
  }
  int64_t Below(int64_t count) {
    return std::uniform_int_distribution<int64_t>(0, count - 1)(random_);
  }
  const Both& Any() { return nodes_[static_cast<size_t>(Below(std::ssize(nodes_)))]; }
  static Both Sum(const Both& a, const Both& b) {
    return {Add(a.ours, b.ours), a.theirs + b.theirs};
  }

  Both Operation() {
    const Both a = Any(), b = Any();
    switch (Below(6)) {
      case 0:
        return {Mul(a.ours, b.ours), a.theirs * b.theirs};
      case 1:
        return {Mul(a.ours, 0.37), a.theirs * 0.37};
      case 2: {
        const int64_t rows = 1 + Below(kRows - 1), from = Below(kRows - rows + 1);
        const int64_t others = kRows - rows;
        return {Cat({a.ours.narrow(0, from, rows), b.ours.narrow(0, 0, others)}),
                at::cat({a.theirs.narrow(0, from, rows), b.theirs.narrow(0, 0, others)})};
      }
      case 3: {
        const int64_t columns = 1 + Below(kWidth - 1), others = kWidth - columns;
        return {Cat({Columns(a.ours, others, columns), Columns(b.ours, 0, others)}, 1),
                at::cat({a.theirs.narrow(1, others, columns), b.theirs.narrow(1, 0, others)}, 1)};
      }
      case 4: {
        const Tensor rows = Of<int64_t>({4}, {Below(4), Below(4), Below(4), Below(4)});
        return {TakeRows(a.ours, rows), a.theirs.index_select(0, Theirs(rows))};
      }
      default:
        return Sum(a, b);
    }
  }

  std::mt19937 random_;
  std::vector<Both> leaves_;
  std::vector<Both> nodes_;
};

TEST(LibtorchOrder, GradientsHaveTheSameBits) {
  int with_gradient = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Graph graph(seed);
    for (int pass = 0; pass < 2; ++pass) {
      graph.Pass();
      for (const Both& leaf : graph.leaves()) {
        ASSERT_EQ(leaf.ours.grad().defined(), leaf.theirs.grad().defined());
        if (!leaf.ours.grad().defined()) continue;
        ++with_gradient;
        ASSERT_TRUE(SameBits(leaf.ours.grad(), leaf.theirs.grad())) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(with_gradient, 1000);
}

}  // namespace
}  // namespace tandem::tensor
