// The entry of the plug-in libtandem-torch.so.
#include "back_end/interface.h"
#include "back_end/table.h"
#include "libtorch/use.h"

extern "C" const tandem::back_end::Table* TandemBackEnd() {
  static constexpr tandem::back_end::Table kTable = {
      .version = tandem::back_end::kBackEndVersion,
      .release = TANDEM_VERSION,
      .interface = tandem::back_end::kInterface,
      .use = tandem::libtorch::UseInThisProcess,
  };
  return &kTable;
}
