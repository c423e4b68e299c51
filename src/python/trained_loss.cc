// An objective with what it learns and keeps between batches, for trainers of others: they own the
// embeddings and the optimizer.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "objective/batch_arrays.h"
#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "objective/embedding_loss.h"
#include "python/computing.h"
#include "python/embedding_batch.h"
#include "python/module.h"
#include "train/objective/objective_states.h"

namespace tandem::python {
namespace {

namespace nb = nanobind;
using objective::EmbeddingBatch;

std::vector<double> NumbersOf(const tensor::Tensor& tensor) {
  const std::span<const double> numbers = objective::SpanOf(tensor);
  return {numbers.begin(), numbers.end()};
}

// Scale and bias belong to the caller, whose optimizer steps them; the score banks are kept here.
class TrainedLoss {
 public:
  TrainedLoss(const std::string& objective, const nb::dict& parameters)
      : start_(BatchWithParameters(objective, parameters)),
        plan_(start_.objective->StatesOf(start_.params)),
        states_(plan_) {}

  // What the objective asks of a batch, and what it learns.
  nb::dict Plan() const {
    const objective::Needs needs = start_.objective->needs(start_.params);
    const std::string similarity = objective::SimilarityOf(start_.params, "");
    nb::dict plan;
    plan["grades"] = needs.grades;
    plan["teacher"] = needs.teacher;
    plan["graded_own"] = needs.graded_own;
    plan["similarity"] = similarity.empty() ? nb::none() : nb::object(nb::str(similarity.c_str()));
    plan["logistic"] = plan_.logistic;
    plan["learn_scale"] = plan_.learn_scale;
    plan["learn_bias"] = plan_.learn_bias;
    plan["scale"] = plan_.scale;
    plan["bias"] = plan_.bias ? nb::object(nb::float_(*plan_.bias)) : nb::none();
    plan["learning_rate_factor"] = plan_.learning_rate_factor;
    return plan;
  }

  // Writes the gradients to arrays of the shapes and the type of the embeddings. `scale` and `bias`
  // are those learned so far; None: those of the start. A batch that is not trained on neither sees
  // the score banks nor enters them, as in validation.
  template <typename T>
  nb::dict Evaluate(const nb::dict& arrays, std::optional<double> scale, std::optional<double> bias,
                    bool training, const OutArray<T>& grad_queries,
                    const OutArray<T>& grad_documents) {
    EmbeddingBatch batch = start_;
    ReadArrays(arrays, batch);
    batch.scale = scale;
    batch.bias = bias;
    // With the GIL: what is kept between batches belongs to one call at a time.
    if (training) Compute([&] { UseBanks(batch); });
    objective::EmbeddingLoss loss;
    {
      const nb::gil_scoped_release without_gil;
      Compute([&] { loss = objective::EvaluateEmbeddings(batch, tensor::kTypeOf<T>); });
    }
    if (training) {
      Compute([&] { states_.Keep(loss.query_document, objective::LabelsOf(batch)); });
    }
    CopyTo<T>(grad_queries, loss.grad_queries);
    CopyTo<T>(grad_documents, loss.grad_documents);
    nb::dict found;
    found["value"] = loss.loss;
    found["losses"] = nb::cast(loss.losses);
    found["bias"] = loss.bias;
    found["grad_scale"] = loss.grad_scale;
    found["grad_bias"] = loss.grad_bias;
    return found;
  }

 private:
  void UseBanks(EmbeddingBatch& batch) {
    states_.BeginStep(++step_);
    const objective::States states = states_.View(true);
    batch.bank_positives = NumbersOf(states.bank_positives);
    batch.bank_negatives = NumbersOf(states.bank_negatives);
  }

  EmbeddingBatch start_;  // without arrays
  objective::StatePlan plan_;
  train::ObjectiveStates states_;
  int64_t step_ = 0;
};

template <typename T>
void AddEvaluate(nb::class_<TrainedLoss>& type) {
  type.def("evaluate", &TrainedLoss::Evaluate<T>, nb::arg("arrays"), nb::arg("scale").none(),
           nb::arg("bias").none(), nb::arg("training"), nb::arg("grad_queries").noconvert(),
           nb::arg("grad_documents").noconvert());
}

}  // namespace

void AddTrainedLoss(nb::module_& module) {
  nb::class_<TrainedLoss> type(module, "TrainedLoss");
  type.def(nb::init<const std::string&, const nb::dict&>(), nb::arg("objective"),
           nb::arg("parameters"));
  type.def_prop_ro("plan", &TrainedLoss::Plan);
  AddEvaluate<float>(type);
  AddEvaluate<double>(type);
}

}  // namespace tandem::python
