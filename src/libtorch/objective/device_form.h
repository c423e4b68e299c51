// The forms of objectives for scores on a device, as the room `objective` asks for them.
#pragma once

#include <memory>
#include <utility>

#include "config/params.h"
#include "libtorch/objective/batch_form.h"
#include "objective/catalogue.h"
#include "objective/device_form.h"

namespace tandem::libtorch {

// Computes on the scores and labels of a batch by means of a form that takes them as libtorch's
// tensors.
class FormOnScores final : public objective::DeviceForm {
 public:
  FormOnScores(std::unique_ptr<const BatchForm> form, const objective::Needs& needs)
      : form_(std::move(form)), needs_(needs) {}

  objective::Evaluation Evaluate(const objective::Scores& scores, const objective::Labels& labels,
                                 const objective::States& states,
                                 objective::DeviceGradient* gradient) const override;
  double StartingBias(const objective::Scores& scores, const objective::Labels& labels,
                      const objective::States& states) const override;

  const BatchForm& form() const { return *form_; }

 private:
  std::unique_ptr<const BatchForm> form_;
  objective::Needs needs_;
};

// The entry of an objective's form T, whose constructor takes the parameters.
template <typename T, const objective::ObjectiveInfo& info>
constexpr objective::DeviceFormInfo DeviceFormOf() {
  return {&info, [](const config::Params& params) -> std::unique_ptr<const objective::DeviceForm> {
            return std::make_unique<FormOnScores>(std::make_unique<T>(params), info.needs(params));
          }};
}

}  // namespace tandem::libtorch
