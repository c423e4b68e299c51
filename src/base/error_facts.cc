#include "base/error_facts.h"

#include <utility>

#include "base/process/interrupt.h"

namespace tandem {
namespace {

class KnownFacts {
 public:
  explicit KnownFacts(std::string_view class_name) : facts_{class_name, {}} {}

  KnownFacts& Text(std::string_view name, const std::string& value) {
    if (!value.empty()) facts_.known.push_back({name, value});
    return *this;
  }
  KnownFacts& Number(std::string_view name, int64_t value) {
    if (value > 0) facts_.known.push_back({name, value});
    return *this;
  }
  ErrorFacts Take() { return std::move(facts_); }

 private:
  ErrorFacts facts_;
};

ErrorFacts FactsOfClass(const RecipeError& error) {
  return KnownFacts("RecipeError")
      .Text("file", error.file())
      .Number("line", error.line())
      .Number("column", error.column())
      .Text("key", error.key())
      .Take();
}
ErrorFacts FactsOfClass(const DataError& error) {
  return KnownFacts("DataError")
      .Text("file", error.file())
      .Number("line", error.line())
      .Text("id", error.id())
      .Take();
}
ErrorFacts FactsOfClass(const ModelError& error) {
  return KnownFacts("ModelError").Text("file", error.file()).Text("tensor", error.tensor()).Take();
}
ErrorFacts FactsOfClass(const OutputError& error) {
  return KnownFacts("OutputError")
      .Text("file", error.path())
      .Number("errno", error.error_number())
      .Take();
}
ErrorFacts FactsOfClass(const UsageError&) { return {"UsageError", {}}; }
ErrorFacts FactsOfClass(const NumericError&) { return {"NumericError", {}}; }
ErrorFacts FactsOfClass(const CheckFailed&) { return {"CheckFailed", {}}; }
ErrorFacts FactsOfClass(const PeerLost&) { return {"PeerLost", {}}; }
ErrorFacts FactsOfClass(const MemoryError&) { return {"MemoryError", {}}; }
ErrorFacts FactsOfClass(const Interrupted&) { return {"Interrupted", {}}; }

// The facts of the first of the classes that the error is of.
template <typename... Classes>
ErrorFacts FactsOfFirst(const Error& error) {
  ErrorFacts facts{"Error", {}};
  const auto take = [&]<typename Class>(const Class* found) {
    if (found != nullptr) facts = FactsOfClass(*found);
    return found != nullptr;
  };
  (take(dynamic_cast<const Classes*>(&error)) || ...);
  return facts;
}

}  // namespace

ErrorFacts FactsOf(const Error& error) {
  return FactsOfFirst<RecipeError, DataError, ModelError, OutputError, UsageError, NumericError,
                      CheckFailed, PeerLost, MemoryError, Interrupted>(error);
}

}  // namespace tandem
