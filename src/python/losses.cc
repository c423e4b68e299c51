// Objectives on given embeddings, with gradients.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/param.h"
#include "objective/catalogue.h"
#include "objective/embedding_loss.h"
#include "python/computing.h"
#include "python/module.h"

namespace tandem::python {
namespace {

namespace nb = nanobind;
using objective::EmbeddingBatch;
using objective::Matrix;

template <typename T>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <typename T>
using OutArray = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::object PyText(std::string_view text) { return nb::str(text.data(), text.size()); }

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

EmbeddingBatch BatchOf(const std::string& name, const nb::dict& arrays,
                       const nb::dict& parameters) {
  EmbeddingBatch batch;
  batch.objective = &objective::FindObjective(name);
  batch.params = config::Params(batch.objective->params);
  for (const auto [key, value] : parameters) {
    ThrowIf(objective::SetParameter(batch, nb::cast<std::string>(key), ValueOf(value)));
  }
  ThrowIf(objective::ParametersProblem(batch));
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
  return batch;
}

template <typename T>
void CopyTo(const OutArray<T>& out, const tensor::Tensor& gradient) {
  if (out.nbytes() != gradient.nbytes()) throw std::logic_error("a gradient of another shape");
  std::memcpy(out.data(), gradient.data_ptr<T>(), gradient.nbytes());
}

// Writes the gradients to arrays of the shapes and the type of the embeddings; returns the loss and
// that of each query.
template <typename T>
nb::tuple Evaluate(const std::string& name, const nb::dict& arrays, const nb::dict& parameters,
                   const OutArray<T>& grad_queries, const OutArray<T>& grad_documents) {
  const EmbeddingBatch batch = BatchOf(name, arrays, parameters);
  objective::EmbeddingLoss loss;
  {
    const nb::gil_scoped_release without_gil;
    Compute([&] { loss = objective::EvaluateEmbeddings(batch, tensor::kTypeOf<T>); });
  }
  CopyTo<T>(grad_queries, loss.grad_queries);
  CopyTo<T>(grad_documents, loss.grad_documents);
  return nb::make_tuple(loss.loss, loss.losses);
}

nb::object PyDefaultOf(const config::ParamInfo& info) {
  const config::Value value = config::DefaultOf(info);
  if (const auto* flag = std::get_if<bool>(&value)) return nb::bool_(*flag);
  if (const auto* number = std::get_if<int64_t>(&value)) return nb::int_(*number);
  if (const auto* number = std::get_if<double>(&value)) return nb::float_(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return PyText(*text);
  return nb::none();
}

nb::list ParametersOf(const objective::ObjectiveInfo& info) {
  nb::list parameters;
  for (const config::ParamInfo& param : info.params) {
    nb::dict one;
    one["name"] = PyText(param.name);
    one["kind"] = PyText(config::KindName(param.kind));
    one["doc"] = PyText(param.doc);
    one["range"] = PyText(config::FormatRange(param));
    one["default"] = PyDefaultOf(param);
    one["unset"] = PyText(param.unset_doc);
    parameters.append(one);
  }
  return parameters;
}

// Descriptions of all objectives, in the order of the catalogue.
nb::list DescribeObjectives() {
  nb::list all;
  for (const objective::ObjectiveInfo* info : objective::Objectives()) {
    nb::dict one;
    one["name"] = PyText(info->name);
    one["summary"] = PyText(info->summary);
    one["source"] = PyText(info->source);
    one["purpose"] = PyText(info->purpose);
    one["formula"] = PyText(info->formula);
    one["parameters"] = ParametersOf(*info);
    all.append(one);
  }
  return all;
}

template <typename T>
void AddEvaluate(nb::module_& module) {
  module.def("loss", Evaluate<T>, nb::arg("objective"), nb::arg("arrays"), nb::arg("parameters"),
             nb::arg("grad_queries").noconvert(), nb::arg("grad_documents").noconvert());
}

}  // namespace

void AddLosses(nb::module_& module) {
  module.def("objectives", DescribeObjectives);
  AddEvaluate<float>(module);
  AddEvaluate<double>(module);
}

}  // namespace tandem::python
