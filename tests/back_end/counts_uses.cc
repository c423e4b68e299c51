// A back end that counts how often it is asked to register itself.
#include "back_end/interface.h"
#include "back_end/table.h"

namespace {

int uses = 0;

}  // namespace

extern "C" int UsesOfBackEnd() { return uses; }

extern "C" const tandem::back_end::Table* TandemBackEnd() {
  static constexpr tandem::back_end::Table kTable = {
      .version = tandem::back_end::kBackEndVersion,
      .release = TANDEM_VERSION,
      .interface = tandem::back_end::kInterface,
      .use = [] { ++uses; },
  };
  return &kTable;
}
