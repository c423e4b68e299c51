// An objective as a back end computes it where scores are on a device and too many to be copied to
// the host (objective.h, Forms). An objective need not have such a form: without one scores are
// copied to the host however many they are.
//
// The formulas are those of formula.h, with the same analytic gradients and also in double. Sums
// may run in another order than on the host, so that results agree up to rounding.
#pragma once

#include <memory>
#include <span>

#include "config/params.h"
#include "objective/batch.h"
#include "objective/catalogue.h"
#include "objective/objective.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {

// d loss / d score of a batch, float64 on the scores' device, as in Gradient. Undefined where the
// batch lacks the scores.
struct DeviceGradient {
  tensor::Tensor query_document;     // [Q, D]
  tensor::Tensor query_query;        // [Q, S]
  tensor::Tensor document_document;  // [Q, S]
  double scale = 0;
  double bias = 0;
};

// Computes on the device of the scores what Formula computes on the host, which says what the
// functions mean. Both throw as Objective::Evaluate does, and record nothing in the graph.
class DeviceForm {
 public:
  virtual ~DeviceForm() = default;
  // Where `gradient` is given, sets it.
  virtual Evaluation Evaluate(const Scores& scores, const Labels& labels, const States& states,
                              DeviceGradient* gradient) const = 0;
  virtual double StartingBias(const Scores& scores, const Labels& labels,
                              const States& states) const = 0;
};

// The entry of a device form. `params` are the parameters of `info`.
struct DeviceFormInfo {
  const ObjectiveInfo* info;
  std::unique_ptr<const DeviceForm> (*make)(const config::Params& params);
};

// Sets the forms of the back end: of the objectives that have one. They outlive all objectives.
void SetDeviceForms(std::span<const DeviceFormInfo* const> forms);

// Makes the form of an objective; null where it has none. Where no forms are set, the back end is
// loaded first (tensor/core/back_end/device_functions.h); throws UsageError where it cannot be.
std::unique_ptr<const DeviceForm> MakeDeviceForm(const ObjectiveInfo& info,
                                                 const config::Params& params);

}  // namespace tandem::objective
