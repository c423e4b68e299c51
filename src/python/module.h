// The parts of the extension module tandem_retrieval._tandem, a file each.
#pragma once

#include <nanobind/nanobind.h>

namespace tandem::python {

void AddModel(nanobind::module_& module);
void AddLosses(nanobind::module_& module);
void AddTrainedLoss(nanobind::module_& module);
void AddMasks(nanobind::module_& module);
void AddMeasures(nanobind::module_& module);
void AddIndex(nanobind::module_& module);

}  // namespace tandem::python
