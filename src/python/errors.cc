#include "python/errors.h"

#include <nanobind/nanobind.h>

#include <exception>
#include <string>

#include "base/error.h"
#include "base/process/interrupt.h"

namespace tandem::python {
namespace {

namespace nb = nanobind;

nb::object TextOrNone(const std::string& text) {
  return text.empty() ? nb::none() : nb::cast(nb::str(text.c_str(), text.size()));
}

nb::object NumberOrNone(int64_t number) {
  return number > 0 ? nb::object(nb::int_(number)) : nb::none();
}

void Raise(const char* name, const Error& error, const nb::dict& facts) {
  const nb::object made = nb::module_::import_("tandem_retrieval._errors").attr(name)(error.what());
  made.attr("exit_code") = static_cast<int>(error.exit_code());
  for (const auto [fact, value] : facts) nb::setattr(made, fact, value);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

void RaiseRecipeError(const RecipeError& error) {
  nb::dict facts;
  facts["file"] = TextOrNone(error.file());
  facts["line"] = NumberOrNone(error.line());
  facts["column"] = NumberOrNone(error.column());
  facts["key"] = TextOrNone(error.key());
  Raise("RecipeError", error, facts);
}

void RaiseDataError(const DataError& error) {
  nb::dict facts;
  facts["file"] = TextOrNone(error.file());
  facts["line"] = NumberOrNone(error.line());
  facts["id"] = TextOrNone(error.id());
  Raise("DataError", error, facts);
}

void RaiseModelError(const ModelError& error) {
  nb::dict facts;
  facts["file"] = TextOrNone(error.file());
  facts["tensor"] = TextOrNone(error.tensor());
  Raise("ModelError", error, facts);
}

void RaiseOutputError(const OutputError& error) {
  nb::dict facts;
  facts["file"] = TextOrNone(error.path());
  facts["errno"] = nb::int_(error.error_number());
  Raise("OutputError", error, facts);
}

void Translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Interrupted& error) {
    PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
  } catch (const RecipeError& error) {
    RaiseRecipeError(error);
  } catch (const DataError& error) {
    RaiseDataError(error);
  } catch (const ModelError& error) {
    RaiseModelError(error);
  } catch (const OutputError& error) {
    RaiseOutputError(error);
  } catch (const UsageError& error) {
    Raise("UsageError", error, {});
  } catch (const NumericError& error) {
    Raise("NumericError", error, {});
  } catch (const CheckFailed& error) {
    Raise("CheckFailed", error, {});
  } catch (const PeerLost& error) {
    Raise("PeerLost", error, {});
  } catch (const MemoryError& error) {
    Raise("MemoryError", error, {});
  } catch (const Error& error) {
    Raise("Error", error, {});
  }
}

}  // namespace

void TranslateErrors() { nb::register_exception_translator(Translate); }

}  // namespace tandem::python
