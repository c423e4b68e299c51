// The extension module tandem_retrieval._tandem: thin functions over the rooms, which the package's
// Python files make into what users see. Arguments have been checked and converted there.
#include "python/module.h"

#include "python/computing.h"
#include "python/errors.h"
#include "python/messages.h"
#include "tensor/machine/precision.h"

NB_MODULE(_tandem, module) {
  namespace nb = nanobind;
  using namespace tandem::python;
  module.doc() = "Tandem's rooms for Python; use the package tandem_retrieval.";
  // At exit objects that modules or threads still hold are no leak.
  nb::set_leak_warnings(false);
  TranslateErrors();
  LogMessages();
  module.def("set_threads", SetThreads, nb::arg("threads"),
             "Sets the threads that this process computes with; 0: all that it may use, by its "
             "affinity and its cgroup's quota. Raises UsageError for fewer.");
  module.def("threads", ThreadsNow, "The threads that this process computes with.");
  module.def("isa", [] {
    const std::string_view name = tandem::tensor::IsaName();
    return nb::str(name.data(), name.size());
  });
  module.attr("__version__") = TANDEM_VERSION;
  AddModel(module);
  AddLosses(module);
  AddTrainedLoss(module);
  AddMasks(module);
  AddMeasures(module);
  AddIndex(module);
}
