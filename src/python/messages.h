// Messages of the libraries as records of Python's logging.
#pragma once

namespace tandem::python {

// Gives notes to the logger `tandem_retrieval` as INFO and warnings as WARNING, from any thread.
void LogMessages();

}  // namespace tandem::python
