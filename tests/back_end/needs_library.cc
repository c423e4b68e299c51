// A back end that needs a library which is not found (missing_library.cc).
#include "back_end/table.h"

extern "C" int TandemMissingFunction();

extern "C" const tandem::back_end::Table* TandemBackEnd() {
  static constexpr tandem::back_end::Table kTable = {
      .version = tandem::back_end::kBackEndVersion,
      .release = TANDEM_VERSION,
      .use = [] { TandemMissingFunction(); },
  };
  return &kTable;
}
