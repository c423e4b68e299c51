// What objectives say of a batch, computed in a form of one's choice, and comparisons of that.
// Forms of devices compute on the device of tests (support/test_device.h).
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/catalogue_half.h"
#include "libtorch/objective/use_objective_forms.h"
#include "objective/central_differences.h"
#include "objective/objective.h"
#include "objective/random_tensors.h"
#include "support/tensors.h"
#include "support/test_device.h"
#include "tensor/core/functions/functions.h"

namespace tandem::objective {

// What an objective says of a batch, in plain numbers.
struct Said {
  double loss = 0;
  double count = 0;
  std::vector<double> losses;
  std::vector<std::vector<double>> gradients;  // of the three matrices, scale and bias
};

inline std::vector<double> Numbers(const tensor::Tensor& tensor) {
  return tensor.defined() ? tandem::ElementsOf(tensor) : std::vector<double>();
}

inline tensor::Tensor State(std::optional<double> value) {
  if (!value) return {};
  return MakeTensor({1}, {*value}, tensor::kDouble).set_requires_grad(true);
}

inline tensor::Tensor Bank(const std::vector<double>& scores) {
  if (scores.empty()) return {};
  return MakeTensor({std::ssize(scores)}, scores, tensor::kDouble);
}

// Of the back end.
inline std::span<const DeviceFormInfo* const> AllForms() { return libtorch::ObjectiveForms(); }

inline States StatesOf(const RandomBatch& batch) {
  return {.scale = State(batch.scale),
          .bias = State(batch.bias),
          .bank_positives = Bank(batch.bank_positives),
          .bank_negatives = Bank(batch.bank_negatives)};
}

// Scores and masks where the form computes.
inline Tensors TensorsFor(Forms forms, RandomBatch& batch, tensor::DType dtype = tensor::kDouble) {
  Tensors tensors(batch, dtype);
  if (forms != Forms::kDevice) return tensors;
  for (tensor::Tensor* each :
       {&tensors.scores.query_document, &tensors.scores.query_query,
        &tensors.scores.document_document, &tensors.labels.positive, &tensors.labels.negative,
        &tensors.labels.query_negative, &tensors.labels.document_negative}) {
    *each = OnTestDevice(*each);
  }
  return tensors;
}

inline Said Ask(const Variant& variant, Forms forms, RandomBatch batch,
                tensor::DType dtype = tensor::kDouble) {
  const Tensors tensors = TensorsFor(forms, batch, dtype);
  const States states = StatesOf(batch);
  const Loss loss = MakeObjective(variant.info->name, variant.params, forms)
                        ->Evaluate(tensors.scores, tensors.labels, states);
  // Three times the loss, so that its gradient must have the factor 3.
  tensor::Mul(loss.value, 3).backward();
  Said said{loss.value.item<double>(), loss.count, loss.losses, {}};
  for (const tensor::Tensor& input :
       {tensors.scores.query_document, tensors.scores.query_query, tensors.scores.document_document,
        states.scale, states.bias}) {
    said.gradients.push_back(input.defined() ? Numbers(input.grad()) : std::vector<double>());
  }
  return said;
}

inline void ExpectNear(const std::vector<double>& got, const std::vector<double>& want,
                       double relative) {
  ASSERT_EQ(got.size(), want.size());
  const double bound = relative * LargestMagnitude(want);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], bound) << i;
}

inline void ExpectSame(const Said& got, const Said& want, double relative = 1e-12) {
  EXPECT_EQ(got.count, want.count);
  ExpectNear({got.loss}, {want.loss}, relative);
  ExpectNear(got.losses, want.losses, relative);
  ASSERT_EQ(got.gradients.size(), want.gradients.size());
  for (size_t i = 0; i < want.gradients.size(); ++i) {
    SCOPED_TRACE(i);
    ExpectNear(got.gradients[i], want.gradients[i], relative);
  }
}

inline void ForEveryForm(const std::function<void(const Variant&)>& body) {
  for (const Variant& variant : AllVariants()) {
    if (config::FindHalf(AllForms(), *variant.info) == nullptr) continue;
    SCOPED_TRACE(variant.name);
    body(variant);
  }
}

inline void ExpectFormsAgree(const Variant& variant, const RandomBatch& batch) {
  ExpectSame(Ask(variant, Forms::kDevice, batch), Ask(variant, Forms::kHost, batch));
}

inline std::string ErrorOf(const Variant& variant, Forms forms, const RandomBatch& batch) {
  try {
    Ask(variant, forms, batch);
  } catch (const NumericError& error) {
    return error.what();
  }
  return "";
}

}  // namespace tandem::objective
