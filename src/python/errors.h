// Errors of the libraries as Python exceptions.
#pragma once

namespace tandem::python {

// Makes Python raise the class of tandem_retrieval._errors that has the name of the C++ class, with
// the same message, and file, line, id and the like as attributes where they are known. Interrupted
// becomes KeyboardInterrupt.
void TranslateErrors();

}  // namespace tandem::python
