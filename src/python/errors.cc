#include "python/errors.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <exception>
#include <string>
#include <variant>

#include "base/error.h"
#include "base/error_facts.h"
#include "base/process/interrupt.h"

namespace tandem::python {
namespace {

namespace nb = nanobind;

nb::object PythonOf(const std::string& text) { return nb::str(text.c_str(), text.size()); }
nb::object PythonOf(int64_t number) { return nb::int_(number); }

// Facts that are not known stay None, as the classes of tandem_retrieval._errors have them.
void Raise(const Error& error) {
  const ErrorFacts facts = FactsOf(error);
  const nb::object classes = nb::module_::import_("tandem_retrieval._errors");
  const nb::object text = classes.attr("in_words_of_python")(PythonOf(std::string(error.what())));
  const nb::object made = classes.attr(std::string(facts.class_name).c_str())(text);
  made.attr("exit_code") = static_cast<int>(error.exit_code());
  for (const ErrorFact& fact : facts.known) {
    made.attr(std::string(fact.name).c_str()) =
        std::visit([](const auto& value) { return PythonOf(value); }, fact.value);
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

void Translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Interrupted& error) {
    PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
  } catch (const Error& error) {
    Raise(error);
  }
}

}  // namespace

void TranslateErrors() { nb::register_exception_translator(Translate); }

}  // namespace tandem::python
