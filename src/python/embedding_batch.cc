#include "python/embedding_batch.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/param.h"
#include "objective/catalogue.h"

namespace tandem::python {
namespace {

namespace nb = nanobind;
using objective::EmbeddingBatch;
using objective::Matrix;

template <typename T>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

// The fields of a batch: arrays of the types that the package has made of what users gave.
class Fields {
 public:
  explicit Fields(const nb::dict& arrays) : arrays_(arrays) {}

  bool Has(const char* name) const { return arrays_.contains(name); }

  // -1: any number of rows or columns above 0.
  template <typename T>
  Matrix<T> Read(const char* name, int64_t rows, int64_t columns) const {
    const Array<T> array = nb::cast<Array<T>>(arrays_[name]);
    if (array.ndim() != 2) {
      throw UsageError(fmt::format("{} has {} dimensions; expected a matrix", name, array.ndim()));
    }
    Matrix<T> matrix{.rows = static_cast<int64_t>(array.shape(0)),
                     .columns = static_cast<int64_t>(array.shape(1))};
    const bool fits = (rows < 0 || matrix.rows == rows) &&
                      (columns < 0 || matrix.columns == columns) && matrix.rows > 0 &&
                      matrix.columns > 0;
    if (!fits) {
      throw UsageError(fmt::format("{} has the shape [{}, {}]; expected [{}, {}]", name,
                                   matrix.rows, matrix.columns, Side(rows), Side(columns)));
    }
    matrix.values.assign(array.data(), array.data() + array.size());
    return matrix;
  }

  template <typename T>
  Matrix<T> ReadIfThere(const char* name, bool needed, int64_t rows, int64_t columns,
                        std::string_view objective) const {
    if (Has(name)) return Read<T>(name, rows, columns);
    if (!needed) return {};
    throw UsageError(fmt::format("{} is missing: the objective {} needs it, of the shape [{}, {}]",
                                 name, objective, rows, columns));
  }

  // -1: any number.
  template <typename T>
  std::vector<T> ReadVector(const char* name, int64_t size) const {
    if (!Has(name)) return {};
    const Array<T> array = nb::cast<Array<T>>(arrays_[name]);
    if (array.ndim() != 1 || (size >= 0 && static_cast<int64_t>(array.size()) != size)) {
      throw UsageError(fmt::format("{} must be a list of {} numbers, found {} dimensions and {}",
                                   name, size < 0 ? "some" : std::to_string(size), array.ndim(),
                                   array.size()));
    }
    return {array.data(), array.data() + array.size()};
  }

 private:
  static std::string Side(int64_t size) { return size < 0 ? "1 or more" : std::to_string(size); }

  const nb::dict& arrays_;
};

void ThrowIf(const objective::BatchProblem& problem) {
  constexpr std::string_view kParameters = "parameters.";
  if (problem.text.empty()) return;
  std::string_view field = problem.field;  // keyword arguments have no table
  if (field.starts_with(kParameters)) field.remove_prefix(kParameters.size());
  throw UsageError(fmt::format("{} {}", field, problem.text));
}

config::Value ValueOf(const nb::handle& value) {
  if (PyBool_Check(value.ptr())) return nb::cast<bool>(value);
  if (PyLong_Check(value.ptr())) return nb::cast<int64_t>(value);
  if (PyFloat_Check(value.ptr())) return nb::cast<double>(value);
  if (PyUnicode_Check(value.ptr())) return nb::cast<std::string>(value);
  return {};
}

}  // namespace

EmbeddingBatch BatchWithParameters(const std::string& name, const nb::dict& parameters) {
  EmbeddingBatch batch;
  batch.objective = &objective::FindObjective(name);
  batch.params = config::Params(batch.objective->params);
  for (const auto [key, value] : parameters) {
    ThrowIf(objective::SetParameter(batch, nb::cast<std::string>(key), ValueOf(value)));
  }
  ThrowIf(objective::ParametersProblem(batch));
  return batch;
}

void ReadArrays(const nb::dict& arrays, EmbeddingBatch& batch) {
  const std::string_view name = batch.objective->name;
  const objective::Needs needs = batch.objective->needs(batch.params);
  const Fields fields(arrays);
  batch.queries = fields.Read<double>("queries", -1, -1);
  batch.documents = fields.Read<double>("documents", -1, batch.queries.columns);
  const int64_t q = batch.queries.rows, d = batch.documents.rows;
  batch.positive = fields.ReadVector<int64_t>("positive", q);
  batch.weights = fields.ReadVector<double>("weights", q);
  batch.bank_positives = fields.ReadVector<double>("bank_positives", -1);
  batch.bank_negatives = fields.ReadVector<double>("bank_negatives", -1);
  batch.negative = fields.Read<uint8_t>("negative_mask", q, d);
  const bool labelled = needs.grades || needs.teacher;
  batch.relevance = fields.ReadIfThere<double>("relevance", needs.grades, q, d, name);
  batch.teacher = fields.ReadIfThere<double>("teacher", needs.teacher, q, d, name);
  batch.labelled = fields.ReadIfThere<uint8_t>("labelled", labelled, q, d, name);
  batch.query_negative = fields.ReadIfThere<uint8_t>("query_mask", needs.query_query, q, q, name);
  batch.document_negative =
      fields.ReadIfThere<uint8_t>("document_mask", needs.document_document, q, q, name);
  ThrowIf(objective::ValuesProblem(batch));
}

}  // namespace tandem::python
