#include "objective/device_form.h"

#include "config/catalogue_half.h"
#include "tensor/core/back_end/back_end_part.h"

namespace tandem::objective {
namespace {

constinit tensor::BackEndPart<std::span<const DeviceFormInfo* const>> forms_part(
    "forms of objectives");

}  // namespace

void SetDeviceForms(std::span<const DeviceFormInfo* const> forms) { forms_part.Set(forms); }

std::unique_ptr<const DeviceForm> MakeDeviceForm(const ObjectiveInfo& info,
                                                 const config::Params& params) {
  const DeviceFormInfo* form = config::FindHalf(forms_part.Get(), info);
  return form == nullptr ? nullptr : form->make(params);
}

}  // namespace tandem::objective
