#include "objective/device_form.h"

#include <mutex>

#include "config/catalogue_half.h"
#include "tensor/core/device_functions.h"

namespace tandem::objective {
namespace {

struct Table {
  std::mutex mutex;  // of what is below
  bool set = false;
  std::span<const DeviceFormInfo* const> forms;
};

Table& DeviceForms() {
  static Table table;
  return table;
}

bool AreSet() {
  Table& table = DeviceForms();
  const std::lock_guard lock(table.mutex);
  return table.set;
}

}  // namespace

void SetDeviceForms(std::span<const DeviceFormInfo* const> forms) {
  Table& table = DeviceForms();
  const std::lock_guard lock(table.mutex);
  table.forms = forms;
  table.set = true;
}

std::unique_ptr<const DeviceForm> MakeDeviceForm(const ObjectiveInfo& info,
                                                 const config::Params& params) {
  if (!AreSet()) tensor::LoadBackEnd();
  Table& table = DeviceForms();
  const std::lock_guard lock(table.mutex);
  const DeviceFormInfo* form = config::FindHalf(table.forms, info);
  return form == nullptr ? nullptr : form->make(params);
}

}  // namespace tandem::objective
