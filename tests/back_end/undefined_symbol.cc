// A back end that takes a function which no program has.
#include "back_end/table.h"

extern "C" void TandemHasNoSuchFunction();

extern "C" const tandem::back_end::Table* TandemBackEnd() {
  static constexpr tandem::back_end::Table kTable = {
      .version = tandem::back_end::kBackEndVersion,
      .release = "",
      .use = TandemHasNoSuchFunction,
  };
  return &kTable;
}
