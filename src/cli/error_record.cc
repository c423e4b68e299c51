#include "cli/error_record.h"

#include <cstdint>
#include <string>

#include "base/process/interrupt.h"

namespace tandem::app {
namespace {

// Adds the facts of an error to the record: those that are not known are left out.
class ErrorFacts {
 public:
  explicit ErrorFacts(Json& record) : record_(record) {}

  void Class(const char* name) { record_["class"] = name; }
  void Text(const char* name, const std::string& value) {
    if (!value.empty()) record_[name] = value;
  }
  void Number(const char* name, int64_t value) {
    if (value > 0) record_[name] = value;
  }

 private:
  Json& record_;
};

void AddFacts(const RecipeError& error, ErrorFacts facts) {
  facts.Class("RecipeError");
  facts.Text("file", error.file());
  facts.Number("line", error.line());
  facts.Number("column", error.column());
  facts.Text("key", error.key());
}

void AddFacts(const DataError& error, ErrorFacts facts) {
  facts.Class("DataError");
  facts.Text("file", error.file());
  facts.Number("line", error.line());
  facts.Text("id", error.id());
}

void AddFacts(const ModelError& error, ErrorFacts facts) {
  facts.Class("ModelError");
  facts.Text("file", error.file());
  facts.Text("tensor", error.tensor());
}

void AddFacts(const OutputError& error, ErrorFacts facts) {
  facts.Class("OutputError");
  facts.Text("file", error.path());
  facts.Number("errno", error.error_number());
}

void AddFacts(const UsageError&, ErrorFacts facts) { facts.Class("UsageError"); }
void AddFacts(const NumericError&, ErrorFacts facts) { facts.Class("NumericError"); }
void AddFacts(const CheckFailed&, ErrorFacts facts) { facts.Class("CheckFailed"); }
void AddFacts(const PeerLost&, ErrorFacts facts) { facts.Class("PeerLost"); }
void AddFacts(const MemoryError&, ErrorFacts facts) { facts.Class("MemoryError"); }
void AddFacts(const Interrupted&, ErrorFacts facts) { facts.Class("Interrupted"); }

// Adds the facts of the first of the classes that the error is of.
template <typename... Classes>
bool AddFactsOf(const Error& error, ErrorFacts facts) {
  const auto add = [&]<typename Class>(const Class* found) {
    if (found != nullptr) AddFacts(*found, facts);
    return found != nullptr;
  };
  return (add(dynamic_cast<const Classes*>(&error)) || ...);
}

}  // namespace

Json ErrorRecord(std::string_view text, const Error& error) {
  Json record = {{"message", "error"},
                 {"text", text},
                 {"class", "Error"},
                 {"exit_code", static_cast<int>(error.exit_code())}};
  AddFactsOf<RecipeError, DataError, ModelError, OutputError, UsageError, NumericError, CheckFailed,
             PeerLost, MemoryError, Interrupted>(error, ErrorFacts(record));
  return record;
}

}  // namespace tandem::app
