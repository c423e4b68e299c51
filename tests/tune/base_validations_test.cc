// Which trials have the base's value in common.
#include "tune/trials/base_validations.h"

#include <gtest/gtest.h>

namespace tandem::tune {
namespace {

using config::Assignment;

TEST(BaseValidations, AreOfTextsModelAndSimilarity) {
  EXPECT_EQ(BaseKeys({{"data.masks.copies", "false"},
                      {"data.negatives", "2"},
                      {"optimizer.learning_rate", "1e-05"},
                      {"train.epochs", "2"}}),
            Assignment());
  const Assignment all = {{"data.minimum_grade", "1"},
                          {"model.max_query_tokens", "8"},
                          {"objective.name", "\"bixse\""},
                          {"objective.similarity_kind", "\"dot\""},
                          {"validation.pool", "100"}};
  EXPECT_EQ(BaseKeys(all), all);
}

TEST(BaseValidations, AreCountedOnceForTheSameKeys) {
  const Assignment rate = {{"optimizer.learning_rate", "1e-05"}};
  const Assignment short_texts = {{"model.max_query_tokens", "8"}};
  const Assignment both = {{"model.max_query_tokens", "8"}, {"train.epochs", "2"}};
  const Assignment shorter = {{"model.max_query_tokens", "4"}};
  EXPECT_EQ(CountBaseValidations({{}, rate, short_texts, both, shorter}),
            (std::vector<int64_t>{1, 1, 2, 2, 3}));
}

}  // namespace
}  // namespace tandem::tune
