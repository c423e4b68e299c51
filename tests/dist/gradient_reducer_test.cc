#include "dist/gradient_reducer.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dist/ranks.h"
#include "tensor/row_gradient.h"

namespace tandem::dist {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;

std::vector<model::NamedParameter> Parameters() {
  std::vector<model::NamedParameter> parameters;
  for (const char* name : {"a", "b", "c"}) {
    parameters.push_back({name, at::ones({3, 4}).requires_grad_(true)});
  }
  return parameters;
}

// A pass whose gradient of parameter i is `factor` (i + 1) everywhere.
void Pass(const std::vector<model::NamedParameter>& parameters, double factor) {
  at::Tensor loss = at::zeros({});
  for (size_t i = 0; i < parameters.size(); ++i) {
    loss = loss.add(parameters[i].value.sum().mul(factor * static_cast<double>(i + 1)));
  }
  loss.backward();
}

class GradientReducerTest : public ::testing::TestWithParam<ReducerOptions> {};

TEST_P(GradientReducerTest, AddsUpWhatAllPassesOfAStepMake) {
  const auto errors = RunRanks(3, [](ProcessGroup& group) {
    const auto parameters = Parameters();
    GradientReducer reducer(group, parameters, GetParam());
    for (int step = 0; step < 3; ++step) {
      for (const auto& parameter : parameters) parameter.value.mutable_grad() = at::Tensor();
      Pass(parameters, 1);
      reducer.BeginLastPass();
      Pass(parameters, group.rank());
      reducer.Finish();
      for (size_t i = 0; i < parameters.size(); ++i) {
        // 1 + 0, 1 + 1 and 1 + 2.
        EXPECT_TRUE(parameters[i].value.grad().equal(
            at::full({3, 4}, 6 * static_cast<double>(i + 1), at::kFloat)))
            << step << " " << i;
      }
    }
    EXPECT_GT(reducer.TakeBytes(), 0);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_P(GradientReducerTest, AProcessMayHaveNoGradient) {
  const auto errors = RunRanks(3, [](ProcessGroup& group) {
    const auto parameters = Parameters();
    GradientReducer reducer(group, parameters, GetParam());
    for (int step = 0; step < 2; ++step) {
      for (const auto& parameter : parameters) parameter.value.mutable_grad() = at::Tensor();
      reducer.BeginLastPass();
      // Nobody has a gradient of "c", and rank 1 has none of anything.
      if (group.rank() != 1) Pass({parameters[0], parameters[1]}, 1);
      reducer.Finish();
      EXPECT_TRUE(parameters[0].value.grad().equal(at::full({3, 4}, 2, at::kFloat)));
      EXPECT_TRUE(parameters[1].value.grad().equal(at::full({3, 4}, 4, at::kFloat)));
      EXPECT_FALSE(parameters[2].value.grad().defined());
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_P(GradientReducerTest, RowsOfATableTravelAsRows) {
  const auto errors = RunRanks(3, [](ProcessGroup& group) {
    auto parameters = Parameters();
    const at::Tensor table = at::ones({1000, 2}).requires_grad_(true);
    parameters.push_back({"table", table});
    GradientReducer reducer(group, parameters, GetParam());
    for (int step = 0; step < 2; ++step) {
      for (const auto& parameter : parameters) parameter.value.mutable_grad() = at::Tensor();
      reducer.BeginLastPass();
      Pass({parameters[0], parameters[1], parameters[2]}, 1);
      // Rank 0 reads rows 5 and 7, rank 1 rows 6 and 7, rank 2 none.
      if (group.rank() < 2) {
        const at::Tensor rows =
            at::arange(2, at::kLong).mul(2 - group.rank()).add(5 + group.rank());
        tensor::AddRowGradient(table, {rows, at::full({2, 2}, group.rank() + 1, at::kFloat)});
      }
      reducer.TakeBytes();
      reducer.Finish();
      ASSERT_TRUE(table.grad().is_sparse());
      const tensor::RowGradient sum = tensor::RowsOf(table.grad());
      EXPECT_TRUE(sum.rows.equal(at::arange(5, 8, at::kLong)));
      EXPECT_TRUE(sum.values.equal(at::arange(1, 4, at::kFloat).unsqueeze(1).expand({3, 2})));
      if (step > 0) {
        EXPECT_LT(reducer.TakeBytes(), 1000);  // the whole table has 8,000
      }
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

INSTANTIATE_TEST_SUITE_P(Ways, GradientReducerTest,
                         ::testing::Values(ReducerOptions{}, ReducerOptions{.bucket_bytes = 60},
                                           ReducerOptions{.bucket_bytes = 60,
                                                          .type = ReduceType::kBf16}));

}  // namespace
}  // namespace tandem::dist
