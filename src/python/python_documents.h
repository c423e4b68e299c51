// Documents that a Python iterator gives, for building an index.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/input/text_input.h"
#include "data/texts/metadata.h"
#include "index/folder/staged_documents.h"
#include "python/computing.h"

namespace tandem::python {

// Reads block by block, so that the GIL is taken once for many documents.
class PythonDocuments {
 public:
  // `next_block` returns a list of (id, text, title, metadata) or, at the end, an empty one; title
  // is a str or None, metadata a dict with a value for some of `fields`, which must outlive this.
  PythonDocuments(nanobind::object next_block, const std::vector<data::MetadataField>& fields)
      : next_block_(std::move(next_block)), fields_(fields) {}
  ~PythonDocuments();
  PythonDocuments(const PythonDocuments&) = delete;
  PythonDocuments& operator=(const PythonDocuments&) = delete;

  // To be called without the GIL, during Run. Throws DataError for a document that is none.
  index::NextDocument source() {
    return [this](data::InputText* text) { return Next(text); };
  }

  // Runs `work` under the supervision. What the iterator has raised is rethrown as it was.
  template <typename Work>
  void Run(Supervision& supervision, const Work& work) {
    try {
      supervision.Run(work);
    } catch (const IteratorRaised&) {
      nanobind::python_error error = std::move(*raised_);
      raised_.reset();
      throw error;
    }
  }

 private:
  struct IteratorRaised {};  // the work unwinds without the GIL
  struct Document {
    std::string id;
    std::string text;  // title + " " + text where there is a title
    size_t title_bytes = 0;
    std::vector<data::MetadataValue> metadata;
    std::vector<std::string> strings;  // of metadata
  };

  bool Next(data::InputText* text);
  void ReadBlock();
  Document ReadDocument(nanobind::handle tuple) const;
  void ReadMetadata(nanobind::handle dict, Document* document) const;
  std::string Place() const;

  nanobind::object next_block_;
  const std::vector<data::MetadataField>& fields_;
  std::vector<Document> block_;
  size_t at_ = 0;     // in the block
  size_t count_ = 0;  // documents before the block
  std::optional<nanobind::python_error> raised_;
};

}  // namespace tandem::python
