#include "python/python_documents.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "python/numbers.h"
#include "python/texts.h"

namespace tandem::python {

namespace nb = nanobind;

PythonDocuments::~PythonDocuments() = default;

std::string PythonDocuments::Place() const {
  return fmt::format("documents[{}]", count_ + block_.size());
}

void PythonDocuments::ReadMetadata(nb::handle dict, Document* document) const {
  document->metadata.resize(fields_.size());
  document->strings.resize(fields_.size());
  const nb::dict values = nb::cast<nb::dict>(dict);
  for (size_t field = 0; field < fields_.size(); ++field) {
    const std::string& name = fields_[field].name;
    if (!values.contains(name.c_str())) continue;
    const nb::object value = values[name.c_str()];
    if (value.is_none()) continue;
    data::MetadataValue& out = document->metadata[field];
    if (fields_[field].type == data::MetadataType::kString) {
      document->strings[field] =
          Utf8Of(value, [&] { return fmt::format("{}: {}", Place(), name); });
    } else {
      out.number = NumberOf(value, [&] { return fmt::format("{}: {}", Place(), name); });
      if (!std::isfinite(out.number)) {
        throw DataError("documents", 0, document->id,
                        fmt::format("{} is {}; expected a finite number", name, out.number));
      }
    }
    out.present = true;
  }
}

PythonDocuments::Document PythonDocuments::ReadDocument(nb::handle handle) const {
  const nb::tuple parts = nb::cast<nb::tuple>(handle);
  Document document;
  document.id = Utf8Of(parts[0], [&] { return Place() + ": its id"; });
  if (document.id.empty()) throw DataError("documents", 0, "", Place() + " has an empty id");
  if (!nb::object(parts[2]).is_none())
    document.text = Utf8Of(parts[2], [&] { return Place() + ": its title"; });
  if (!document.text.empty()) {
    document.title_bytes = document.text.size();
    document.text += ' ';
  }
  document.text += Utf8Of(parts[1], [&] { return Place() + ": its text"; });
  ReadMetadata(parts[3], &document);
  return document;
}

void PythonDocuments::ReadBlock() {
  count_ += block_.size();
  block_.clear();
  at_ = 0;
  const nb::gil_scoped_acquire gil;
  try {
    const nb::list items = nb::cast<nb::list>(next_block_());
    for (const nb::handle item : items) block_.push_back(ReadDocument(item));
  } catch (nb::python_error& error) {
    raised_.emplace(std::move(error));
  } catch (nb::builtin_exception& error) {  // TypeError
    PyErr_SetString(PyExc_TypeError, error.what());
    raised_.emplace();
  }
  if (raised_) throw IteratorRaised();
}

bool PythonDocuments::Next(data::InputText* text) {
  if (at_ == block_.size()) ReadBlock();
  if (block_.empty()) return false;
  Document& document = block_[at_++];
  for (size_t field = 0; field < fields_.size(); ++field) {
    document.metadata[field].text = document.strings[field];
  }
  *text = {.id = document.id,
           .text = document.text,
           .title_bytes = document.title_bytes,
           .metadata = document.metadata,
           .file = "documents",
           .file_number = 0,
           .line = static_cast<int64_t>(count_ + at_)};
  return true;
}

}  // namespace tandem::python
