// Objectives on given embeddings, with gradients.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/param.h"
#include "objective/catalogue.h"
#include "objective/embedding_loss.h"
#include "python/computing.h"
#include "python/embedding_batch.h"
#include "python/module.h"

namespace tandem::python {
namespace {

namespace nb = nanobind;

nb::object PyText(std::string_view text) { return nb::str(text.data(), text.size()); }

// Writes the gradients to arrays of the shapes and the type of the embeddings; returns the loss and
// that of each query.
template <typename T>
nb::tuple Evaluate(const std::string& name, const nb::dict& arrays, const nb::dict& parameters,
                   const OutArray<T>& grad_queries, const OutArray<T>& grad_documents) {
  objective::EmbeddingBatch batch = BatchWithParameters(name, parameters);
  ReadArrays(arrays, batch);
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
