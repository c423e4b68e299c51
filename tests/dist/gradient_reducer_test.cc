#include "dist/gradient_reducer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "dist/ranks.h"
#include "support/tensors.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/sparse_rows.h"

namespace tandem::dist {
namespace {

using tensor::Full;
using tensor::kFloat;
using tensor::kLong;
using tensor::Tensor;
using ::testing::Each;
using ::testing::IsEmpty;

std::vector<model::NamedParameter> Parameters() {
  std::vector<model::NamedParameter> parameters;
  for (const char* name : {"a", "b", "c"}) {
    parameters.push_back({name, Full({3, 4}, 1, kFloat).set_requires_grad(true)});
  }
  return parameters;
}

// A pass whose gradient of parameter i is `factor` (i + 1) everywhere.
void Pass(const std::vector<model::NamedParameter>& parameters, double factor) {
  Tensor loss = tensor::Zeros({}, kFloat);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor sum = tensor::Sum(parameters[i].value);
    loss = tensor::Add(loss, tensor::Mul(sum, factor * static_cast<double>(i + 1)));
  }
  loss.backward();
}

class GradientReducerTest : public ::testing::TestWithParam<ReducerOptions> {};

TEST_P(GradientReducerTest, AddsUpWhatAllPassesOfAStepMake) {
  const auto errors = RunRanks(3, [](ProcessGroup& group) {
    const auto parameters = Parameters();
    GradientReducer reducer(group, parameters, GetParam());
    for (int step = 0; step < 3; ++step) {
      for (const auto& parameter : parameters) parameter.value.set_grad(Tensor());
      Pass(parameters, 1);
      reducer.BeginLastPass();
      Pass(parameters, group.rank());
      reducer.Finish();
      for (size_t i = 0; i < parameters.size(); ++i) {
        // 1 + 0, 1 + 1 and 1 + 2.
        EXPECT_TRUE(AreEqual(parameters[i].value.grad(),
                             Full({3, 4}, 6 * static_cast<double>(i + 1), kFloat)))
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
      for (const auto& parameter : parameters) parameter.value.set_grad(Tensor());
      reducer.BeginLastPass();
      // Nobody has a gradient of "c", and rank 1 has none of anything.
      if (group.rank() != 1) Pass({parameters[0], parameters[1]}, 1);
      reducer.Finish();
      EXPECT_TRUE(AreEqual(parameters[0].value.grad(), Full({3, 4}, 2, kFloat)));
      EXPECT_TRUE(AreEqual(parameters[1].value.grad(), Full({3, 4}, 4, kFloat)));
      EXPECT_FALSE(parameters[2].value.grad().defined());
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_P(GradientReducerTest, RowsOfATableTravelAsRows) {
  const auto errors = RunRanks(3, [](ProcessGroup& group) {
    auto parameters = Parameters();
    const Tensor table = Full({1000, 2}, 1, kFloat).set_requires_grad(true);
    parameters.push_back({"table", table});
    GradientReducer reducer(group, parameters, GetParam());
    for (int step = 0; step < 2; ++step) {
      for (const auto& parameter : parameters) parameter.value.set_grad(Tensor());
      reducer.BeginLastPass();
      Pass({parameters[0], parameters[1], parameters[2]}, 1);
      // Rank 0 reads rows 5 and 7, rank 1 rows 6 and 7, rank 2 none.
      if (group.rank() < 2) {
        const Tensor rows = MakeTensor({2}, {5.0 + group.rank(), 7}, kLong);
        tensor::AddRowGradient(table, {rows, Full({2, 2}, group.rank() + 1, kFloat)});
      }
      reducer.TakeBytes();
      reducer.Finish();
      const tensor::SparseRows* sum = table.row_grad();
      ASSERT_NE(sum, nullptr);
      EXPECT_TRUE(AreEqual(sum->rows, MakeTensor({3}, {5, 6, 7}, kLong)));
      EXPECT_TRUE(AreEqual(sum->values, MakeTensor({3, 2}, {1, 1, 2, 2, 3, 3})));
      if (step > 0) {
        EXPECT_LT(reducer.TakeBytes(), 1000);  // the whole table has 8,000
      }
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_P(GradientReducerTest, ATableWithoutRowsHasNoGradient) {
  const auto errors = RunRanks(2, [](ProcessGroup& group) {
    const Tensor table = Full({10, 2}, 1, kFloat).set_requires_grad(true);
    GradientReducer reducer(group, {{"table", table}}, GetParam());
    for (int step = 0; step < 2; ++step) {
      table.set_grad(Tensor());
      reducer.BeginLastPass();
      if (step == 0) {
        tensor::AddRowGradient(table, {MakeTensor({1}, {3}, kLong), Full({1, 2}, 1, kFloat)});
      }
      reducer.Finish();
      EXPECT_EQ(table.row_grad() != nullptr, step == 0);
    }
    EXPECT_FALSE(table.grad().defined());
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_P(GradientReducerTest, AParameterThatBecomesATableIsAnError) {
  const auto errors = RunRanks(2, [](ProcessGroup& group) {
    const auto parameters = Parameters();
    GradientReducer reducer(group, parameters, GetParam());
    reducer.BeginLastPass();
    Pass(parameters, 1);
    reducer.Finish();
    for (const auto& parameter : parameters) parameter.value.set_grad(Tensor());
    reducer.BeginLastPass();
    tensor::AddRowGradient(parameters[1].value,
                           {MakeTensor({1}, {0}, kLong), Full({1, 4}, 1, kFloat)});
    EXPECT_THROW(reducer.Finish(), std::logic_error);
    throw std::logic_error("ends");  // buckets may be on their way
  });
  EXPECT_EQ(errors[0], "ends");
}

INSTANTIATE_TEST_SUITE_P(Ways, GradientReducerTest,
                         ::testing::Values(ReducerOptions{}, ReducerOptions{.bucket_bytes = 60},
                                           ReducerOptions{.bucket_bytes = 60,
                                                          .type = ReduceType::kBf16}));

}  // namespace
}  // namespace tandem::dist
