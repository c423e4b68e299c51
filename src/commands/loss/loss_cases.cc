#include "commands/loss/loss_cases.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json_reader.h"

namespace tandem::app {
namespace {

// Reads one case; its errors name file, case and field.
class CaseReader {
 public:
  CaseReader(std::string_view file, size_t index, const Json& object)
      : file_(file), index_(index), object_(object) {
    if (!object.is_object()) Fail("", "must be an object");
  }

  [[noreturn]] void Fail(std::string_view field, std::string_view problem) const {
    const std::string place =
        field.empty() ? fmt::format("case {}", index_) : fmt::format("case {}: {}", index_, field);
    throw DataError(file_, 0, "", fmt::format("{} {}", place, problem));
  }

  void FailOn(const objective::BatchProblem& problem) const {
    if (!problem.text.empty()) Fail(problem.field, problem.text);
  }

  // Returns "FILE: case N: MESSAGE", for errors that are not in the data.
  std::string Place(std::string_view message) const {
    return fmt::format("{}: case {}: {}", file_, index_, message);
  }

  bool Has(const char* field) const {
    const Json* const found = object_.Find(field);
    return found != nullptr && !found->is_null();
  }

  const Json& Get(const char* field) const {
    if (!Has(field)) Fail(field, "is missing");
    return object_.at(field);
  }

  std::string Text(const char* field) const {
    const Json& value = Get(field);
    if (!value.is_string()) Fail(field, fmt::format("must be a string, found {}", Kind(value)));
    return value.get<std::string>();
  }

  double Number(const char* field) const { return ToNumber(field, Get(field)); }

  std::vector<double> Numbers(std::string_view field, const Json& list) const {
    if (!list.is_array()) Fail(field, fmt::format("must be a list, found {}", Kind(list)));
    std::vector<double> numbers;
    for (const Json& value : list) numbers.push_back(ToNumber(field, value));
    return numbers;
  }

  // Reads one number for each query; none if the case does not have the field.
  std::vector<double> OptionalNumbers(const char* field, int64_t queries) const {
    if (!Has(field)) return {};
    std::vector<double> numbers = Numbers(field, Get(field));
    if (std::ssize(numbers) == queries) return numbers;
    Fail(field, fmt::format("must have {} numbers, one for each query, found {}", queries,
                            numbers.size()));
  }

  // Reads a matrix with these numbers of rows and columns; -1: any number above 0.
  template <typename T>
  Matrix<T> ReadMatrix(const char* field, int64_t rows, int64_t columns) const {
    const Json& list = Get(field);
    if (!list.is_array()) Fail(field, fmt::format("must be a list, found {}", Kind(list)));
    Matrix<T> matrix{.rows = static_cast<int64_t>(list.size()), .columns = columns};
    for (const Json& row : list) {
      if (!row.is_array()) Fail(field, fmt::format("must be a list of lists, found {}", Kind(row)));
      const auto width = static_cast<int64_t>(row.size());
      if (matrix.columns < 0) matrix.columns = width;
      if (width != matrix.columns) {
        Fail(field, fmt::format("must have {} columns, found {}", matrix.columns, width));
      }
      for (const Json& value : row) matrix.values.push_back(ToElement<T>(field, value));
    }
    if (rows >= 0 && matrix.rows != rows) {
      Fail(field, fmt::format("must have {} rows, found {}", rows, matrix.rows));
    }
    if (matrix.rows == 0 || matrix.columns == 0) Fail(field, "must not be empty");
    return matrix;
  }

  template <typename T>
  Matrix<T> ReadOptionalMatrix(const char* field, bool needed, int64_t rows,
                               int64_t columns) const {
    return needed || Has(field) ? ReadMatrix<T>(field, rows, columns) : Matrix<T>();
  }

 private:
  static std::string_view Kind(const Json& value) { return value.type_name(); }

  double ToNumber(std::string_view field, const Json& value) const {
    if (!value.is_number()) Fail(field, fmt::format("must hold numbers, found {}", Kind(value)));
    return value.get<double>();
  }

  template <typename T>
  T ToElement(std::string_view field, const Json& value) const {
    if constexpr (std::is_same_v<T, uint8_t>) {
      if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
      const double number = value.is_number() ? value.get<double>() : -1;
      if (number != 0 && number != 1) {
        Fail(field, fmt::format("must hold 0, 1, true or false, found {}", value.Dump()));
      }
      return number == 1 ? 1 : 0;
    } else {
      return ToNumber(field, value);
    }
  }

  std::string_view file_;
  size_t index_;
  const Json& object_;
};

config::Value ToValue(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return {};
}

void ReadParameters(const CaseReader& reader, LossCase& out) {
  out.params = config::Params(out.objective->params);
  if (!reader.Has("parameters")) return;
  const Json parameters = reader.Get("parameters").Sorted();
  if (!parameters.is_object()) reader.Fail("parameters", "must be an object");
  for (const auto& [name, value] : parameters.items()) {
    const std::string field = "parameters." + name;
    if (value.is_null()) continue;
    if (name == "bank_positives") {
      out.bank_positives = reader.Numbers(field, value);
    } else if (name == "bank_negatives") {
      out.bank_negatives = reader.Numbers(field, value);
    } else {
      reader.FailOn(objective::SetParameter(out, name, ToValue(value)));
    }
  }
  reader.FailOn(objective::ParametersProblem(out));
}

void ReadPositive(const CaseReader& reader, LossCase& out) {
  for (const double column : reader.Numbers("positive", reader.Get("positive"))) {
    const auto index = std::fabs(column) < 1e15 ? static_cast<int64_t>(column) : int64_t{-1};
    if (static_cast<double>(index) != column) {
      reader.Fail("positive", fmt::format("must name columns from 0 to {}, found {}",
                                          out.documents.rows - 1, column));
    }
    out.positive.push_back(index);
  }
  if (out.positive.size() != static_cast<size_t>(out.queries.rows)) {
    reader.Fail("positive", fmt::format("must name {} columns, one for each query, found {}",
                                        out.queries.rows, out.positive.size()));
  }
}

void ReadLabels(const CaseReader& reader, LossCase& out) {
  const objective::Needs needs = out.objective->needs(out.params);
  const int64_t q = out.queries.rows;
  const int64_t d = out.documents.rows;
  const bool labelled = needs.grades || needs.teacher;
  out.negative = reader.ReadMatrix<uint8_t>("negative_mask", q, d);
  out.relevance = reader.ReadOptionalMatrix<double>("relevance", needs.grades, q, d);
  out.labelled = reader.ReadOptionalMatrix<uint8_t>("labelled", labelled, q, d);
  out.teacher = reader.ReadOptionalMatrix<double>("teacher", needs.teacher, q, d);
  out.query_negative = reader.ReadOptionalMatrix<uint8_t>("query_mask", needs.query_query, q, q);
  out.document_negative =
      reader.ReadOptionalMatrix<uint8_t>("document_mask", needs.document_document, q, q);
}

const objective::ObjectiveInfo& FindObjective(const CaseReader& reader, const std::string& name) {
  try {
    return objective::FindObjective(name);
  } catch (const UsageError& error) {
    throw UsageError(reader.Place(error.what()));
  }
}

LossCase ReadCase(const CaseReader& reader, bool with_expected) {
  LossCase out;
  const std::string name = reader.Text("objective");
  out.objective = &FindObjective(reader, name);
  ReadParameters(reader, out);
  out.queries = reader.ReadMatrix<double>("queries", -1, -1);
  out.documents = reader.ReadMatrix<double>("documents", -1, out.queries.columns);
  ReadPositive(reader, out);
  out.weights = reader.OptionalNumbers("weights", out.queries.rows);
  ReadLabels(reader, out);
  reader.FailOn(objective::ValuesProblem(out));
  if (with_expected) {
    const int64_t width = out.queries.columns;
    out.expected =
        ExpectedLoss{reader.Number("loss"), reader.OptionalNumbers("losses", out.queries.rows),
                     reader.ReadMatrix<double>("grad_queries", out.queries.rows, width),
                     reader.ReadMatrix<double>("grad_documents", out.documents.rows, width)};
  }
  return out;
}

Json ParseCases(std::string_view text, const std::string& file) {
  try {
    return ParseJson(text);
  } catch (const JsonTextError& error) {
    throw DataError(file, 0, "", error.what());
  }
}

}  // namespace

std::vector<LossCase> ReadLossCases(const std::string& file, bool with_expected) {
  const Json list = ParseCases(ReadFile(file), file);
  if (!list.is_array()) throw DataError(file, 0, "", "must be a list of cases");
  std::vector<LossCase> cases;
  for (size_t i = 0; i < list.size(); ++i) {
    cases.push_back(ReadCase(CaseReader(file, i, list[i]), with_expected));
  }
  return cases;
}

}  // namespace tandem::app
