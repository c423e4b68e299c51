// Device forms against host forms, on the device of tests.
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/log.h"
#include "config/catalogue_half.h"
#include "libtorch/bridge.h"
#include "libtorch/objective/asked_forms.h"
#include "libtorch/objective/device_batch.h"
#include "libtorch/objective/device_form.h"
#include "libtorch/objective/use_objective_forms.h"
#include "objective/objective.h"
#include "tensor/core/gradients/tape.h"

namespace tandem::objective {
namespace {

// The name of its file leads to an objective's form, so that a wrong name would go unnoticed.
TEST(DeviceForms, AreThoseOfTheirObjectives) {
  const std::span<const ObjectiveInfo* const> objectives = Objectives();
  EXPECT_EQ(AllForms().size(), 10u);
  for (const DeviceFormInfo* form : AllForms()) {
    EXPECT_EQ(std::count(objectives.begin(), objectives.end(), form->info), 1);
    EXPECT_EQ(config::FindHalf(AllForms(), *form->info), form);
  }
}

class CountNotes final : public MessageSink {
 public:
  CountNotes() : before_(SetMessageSink(this)) {}
  ~CountNotes() override { SetMessageSink(before_); }
  void Note(std::string_view message) override { notes.emplace_back(message); }
  void Warn(std::string_view) override {}

  std::vector<std::string> notes;

 private:
  MessageSink* before_;
};

// An objective that is not in the table of device forms.
TEST(DeviceForms, AreReplacedByTheHostFormWhereThereIsNone) {
  const Variant pair = AllVariants()[2];
  ObjectiveInfo without = *pair.info;
  without.name = "without";
  RandomBatch batch(21, {});
  const Tensors tensors = TensorsFor(Forms::kDevice, batch);
  CountNotes sink;
  const auto objective = MakeObjective(without, pair.params, Forms::kDevice);
  const auto host = MakeObjective(*pair.info, pair.params, Forms::kHost);
  for (int i = 0; i < 2; ++i) {
    const Loss got = objective->Evaluate(tensors.scores, tensors.labels);
    const Loss want = host->Evaluate(tensors.scores, tensors.labels);
    EXPECT_EQ(got.value.item<double>(), want.value.item<double>());
    EXPECT_EQ(got.losses, want.losses);
    EXPECT_EQ(objective->StartingBias(tensors.scores, tensors.labels, {}), 0);
  }
  ASSERT_EQ(sink.notes.size(), 1u);  // once, however many batches
  EXPECT_EQ(sink.notes[0],
            "objective without has no form for devices: its scores are copied to the host, and "
            "their gradient back");
}

// Chosen by size, scores on the CPU stay on the host however many they are, unless TANDEM_FORMS
// says otherwise.
TEST(Forms, BySizeAreTheHostsOnTheCpu) {
  const char* wanted = std::getenv("TANDEM_FORMS");  // NOLINT(concurrency-mt-unsafe)
  const bool portable = wanted != nullptr && std::string(wanted) == "portable";
  const RandomBatch batch(3, {.queries = 256, .documents = 300});
  ASSERT_GT(batch.query_document.size(), static_cast<size_t>(kDeviceCells));
  const Variant infonce = AllVariants().front();
  const Said host = Ask(infonce, Forms::kHost, batch);
  const Said device = Ask(infonce, Forms::kDevice, batch);
  EXPECT_NE(host.gradients, device.gradients);  // they round otherwise
  EXPECT_EQ(Ask(infonce, Forms::kBySize, batch).gradients,
            portable ? device.gradients : host.gradients);
}

TEST(EveryDeviceForm, AgreesWithTheHostForm) {
  ForEveryForm([](const Variant& variant) {
    for (const BatchShape shape : {BatchShape{5, 11}, BatchShape{1, 1}, BatchShape{1, 5},
                                   BatchShape{2, 2}, BatchShape{40, 310}}) {
      for (uint64_t seed = 0; seed < 4; ++seed) {
        SCOPED_TRACE(seed);
        ExpectFormsAgree(variant, RandomBatch(seed, shape));
      }
    }
  });
}

TEST(EveryDeviceForm, AgreesWithTheHostFormUnderWeightsStatesAndBanks) {
  ForEveryForm([](const Variant& variant) {
    RandomBatch batch(7, {.queries = 6, .documents = 13});
    batch.weights = {2, 0, 0.5, 1, 3, 0.1};
    batch.bank_positives = {0.2, -0.4};
    batch.bank_negatives = {0.1, 0.3, -0.2, 0.8};
    ExpectFormsAgree(variant, batch);
    batch.scale = 3;
    ExpectFormsAgree(variant, batch);
    batch.bias = -0.5;
    ExpectFormsAgree(variant, batch);
  });
}

TEST(EveryDeviceForm, AgreesWithTheHostFormOnFloatScores) {
  ForEveryForm([](const Variant& variant) {
    const RandomBatch batch(8, {});
    // The gradients are rounded to the scores' type at the end.
    ExpectSame(Ask(variant, Forms::kDevice, batch, tensor::kFloat),
               Ask(variant, Forms::kHost, batch, tensor::kFloat), 2e-7);
  });
}

TEST(EveryDeviceForm, AgreesWithTheHostFormOnTiesAndExtremeScores) {
  ForEveryForm([](const Variant& variant) {
    for (const double step : {0.25, 2.0, 1e4}) {
      RandomBatch batch(9, {.queries = 7, .documents = 17});
      for (std::vector<double>* scores :
           {&batch.query_document, &batch.query_query, &batch.document_document}) {
        for (double& score : *scores) {
          score = step > 1 ? (score < 0 ? -step : step) : std::round(score / step) * step;
        }
      }
      SCOPED_TRACE(step);
      // soft_infonce on the host adds logits of up to 2e5, of which 2e-11 is rounding.
      const double relative = step == 1e4 ? 2e-11 : 1e-12;
      ExpectSame(Ask(variant, Forms::kDevice, batch), Ask(variant, Forms::kHost, batch), relative);
    }
  });
}

TEST(EveryDeviceForm, AgreesWithTheHostFormWhereQueriesShareADocument) {
  ForEveryForm([](const Variant& variant) {
    RandomBatch batch(19, {.queries = 6, .documents = 9});
    batch.positive = {2, 2, 5, 2, 5, 0};
    for (size_t row = 0; row < batch.q; ++row) {
      batch.labelled[batch.Own(row)] = true;
      batch.negative[batch.Own(row)] = false;
    }
    ExpectFormsAgree(variant, batch);
  });
}

// Rows without candidates, and a batch of them: exactly 0, as on the host.
TEST(EveryDeviceForm, SaysNothingOfRowsWithoutCandidates) {
  ForEveryForm([](const Variant& variant) {
    for (const bool all : {false, true}) {
      RandomBatch batch(10, {.queries = 4, .documents = 9});
      const size_t rows = all ? batch.q : 2;
      for (size_t row = 0; row < rows; ++row) {
        for (size_t j = 0; j < batch.d; ++j) {
          batch.negative[row * batch.d + j] = false;
          batch.labelled[row * batch.d + j] = false;
        }
        for (size_t j = 0; j < batch.q; ++j) {
          batch.query_negative[row * batch.q + j] = false;
          batch.document_negative[row * batch.q + j] = false;
        }
      }
      const Said got = Ask(variant, Forms::kDevice, batch);
      ExpectSame(got, Ask(variant, Forms::kHost, batch));
      if (!all) continue;
      EXPECT_EQ(got.loss, 0);
      EXPECT_EQ(got.losses, std::vector<double>(batch.q, 0));
      for (const double value : got.gradients[0]) EXPECT_EQ(value, 0);
    }
  });
}

// Masked scores, whatever they are, change nothing and get no gradient.
TEST(EveryDeviceForm, IsNotMovedByMaskedCells) {
  ForEveryForm([](const Variant& variant) {
    RandomBatch batch(11, {});
    const Said before = Ask(variant, Forms::kDevice, batch);
    size_t masked = 0;
    for (size_t row = 0; row < batch.q; ++row) {
      for (size_t cell = row * batch.d; cell < (row + 1) * batch.d; ++cell) {
        if (cell == batch.Own(row) || batch.negative[cell] || batch.labelled[cell]) continue;
        EXPECT_EQ(before.gradients[0][cell], 0);
        batch.query_document[cell] = masked % 2 == 0 ? 1e300 : -1e300;
        ++masked;
      }
    }
    ASSERT_GT(masked, 0u);
    const Said after = Ask(variant, Forms::kDevice, batch);
    EXPECT_EQ(after.loss, before.loss);
    EXPECT_EQ(after.losses, before.losses);
    EXPECT_EQ(after.gradients, before.gradients);
  });
}

std::vector<double> NumbersOf(const at::Tensor& tensor) {
  return Numbers(libtorch::FromTorch(tensor));
}

Evaluation InParts(const Variant& variant, const libtorch::DeviceBatch& batch,
                   libtorch::BatchGradient& gradient) {
  gradient = {.query_document = at::zeros_like(batch.query_document),
              .query_query = at::zeros_like(batch.query_query),
              .document_document = at::zeros_like(batch.document_document)};
  const auto form = config::FindHalf(AllForms(), *variant.info)->make(variant.params);
  return dynamic_cast<const libtorch::FormOnScores&>(*form).form().Evaluate(batch, &gradient);
}

TEST(EveryDeviceForm, GivesTheSameInAnyPartsOfABatch) {
  ForEveryForm([](const Variant& variant) {
    RandomBatch random(12, {.queries = 9, .documents = 14});
    random.weights = {1, 2, 0, 0.5, 1, 1, 3, 0.25, 1};
    random.bank_negatives = {0.1, 0.3, -0.2, 0.8};
    const Tensors tensors = TensorsFor(Forms::kDevice, random);
    libtorch::DeviceBatch batch = libtorch::MakeDeviceBatch(tensors.scores, tensors.labels,
                                                            StatesOf(random), variant.needs());
    libtorch::BatchGradient whole_gradient, gradient;
    const Evaluation whole = InParts(variant, batch, whole_gradient);
    for (const int64_t cells : {1, 40, 100}) {
      SCOPED_TRACE(cells);
      batch.cells_at_a_time = cells;
      const Evaluation parts = InParts(variant, batch, gradient);
      EXPECT_EQ(parts.count, whole.count);
      ExpectNear({parts.loss}, {whole.loss}, 1e-13);
      ExpectNear(parts.losses, whole.losses, 1e-13);
      ExpectNear(NumbersOf(gradient.query_document), NumbersOf(whole_gradient.query_document),
                 1e-13);
      ExpectNear(NumbersOf(gradient.query_query), NumbersOf(whole_gradient.query_query), 1e-13);
      ExpectNear(NumbersOf(gradient.document_document), NumbersOf(whole_gradient.document_document),
                 1e-13);
      ExpectNear({gradient.scale, gradient.bias}, {whole_gradient.scale, whole_gradient.bias},
                 1e-13);
    }
  });
}

TEST(EveryDeviceForm, GivesTheSameWithoutGradient) {
  ForEveryForm([](const Variant& variant) {
    RandomBatch batch(13, {});
    const Said with = Ask(variant, Forms::kDevice, batch);
    const tensor::NoGradGuard no_gradient;
    const Tensors tensors = TensorsFor(Forms::kDevice, batch);
    const Loss without = MakeObjective(variant.info->name, variant.params, Forms::kDevice)
                             ->Evaluate(tensors.scores, tensors.labels, StatesOf(batch));
    EXPECT_FALSE(without.value.requires_grad());
    EXPECT_EQ(without.value.item<double>(), with.loss);
    EXPECT_EQ(without.losses, with.losses);
  });
}

// A process of several judges some rows: their same-tower scores have a column for each query.
TEST(EveryDeviceForm, TakesSomeRowsOfABatch) {
  ForEveryForm([](const Variant& variant) {
    if (!variant.needs().separable_by_row) return;
    RandomBatch batch(14, {.queries = 6, .documents = 8});
    const auto ask = [&](Forms forms) {
      Tensors tensors = TensorsFor(forms, batch);
      const auto some = [](tensor::Tensor& of) { of = of.detach().narrow(0, 1, 3); };
      for (tensor::Tensor* matrix :
           {&tensors.scores.query_document, &tensors.scores.query_query,
            &tensors.scores.document_document, &tensors.labels.positive, &tensors.labels.negative,
            &tensors.labels.query_negative, &tensors.labels.document_negative}) {
        some(*matrix);
      }
      tensors.scores.query_document.set_requires_grad(true);
      LabelledCells& labelled = tensors.labels.labelled;
      const auto first = labelled.row_starts[1], last = labelled.row_starts[4];
      labelled.cells = {labelled.cells.begin() + first, labelled.cells.begin() + last};
      labelled.row_starts = {0, labelled.row_starts[2] - first, labelled.row_starts[3] - first,
                             last - first};
      labelled.own_grades = {labelled.own_grades.begin() + 1, labelled.own_grades.begin() + 4};
      labelled.own_teachers = {labelled.own_teachers.begin() + 1,
                               labelled.own_teachers.begin() + 4};
      const Loss loss = MakeObjective(variant.info->name, variant.params, forms)
                            ->Evaluate(tensors.scores, tensors.labels);
      loss.value.backward();
      return Said{loss.value.item<double>(),
                  loss.count,
                  loss.losses,
                  {Numbers(tensors.scores.query_document.grad())}};
    };
    ExpectSame(ask(Forms::kDevice), ask(Forms::kHost));
  });
}

TEST(EveryDeviceForm, StartsTheBiasWhereTheHostFormDoes) {
  ForEveryForm([](const Variant& variant) {
    RandomBatch batch(15, {});
    const auto start = [&](Forms forms) {
      const Tensors tensors = TensorsFor(forms, batch);
      return MakeObjective(variant.info->name, variant.params, forms)
          ->StartingBias(tensors.scores, tensors.labels, {});
    };
    EXPECT_NEAR(start(Forms::kDevice), start(Forms::kHost), 1e-13);
    EXPECT_EQ(start(Forms::kHost) != 0, variant.info->StatesOf(variant.params).logistic);
  });
}

TEST(EveryDeviceForm, RefusesScoresThatAreNotFiniteAsTheHostFormDoes) {
  ForEveryForm([](const Variant& variant) {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      RandomBatch batch(16, {});
      batch.query_document[14] = bad;
      const std::string message = ErrorOf(variant, Forms::kDevice, batch);
      EXPECT_NE(message.find("query 1 and document 3"), std::string::npos) << message;
      EXPECT_EQ(message, ErrorOf(variant, Forms::kHost, batch));
      for (std::vector<double> RandomBatch::*same_tower :
           {&RandomBatch::query_query, &RandomBatch::document_document}) {
        RandomBatch other(16, {});
        (other.*same_tower)[13] = bad;
        EXPECT_NE(ErrorOf(variant, Forms::kDevice, other), "");
        EXPECT_EQ(ErrorOf(variant, Forms::kDevice, other), ErrorOf(variant, Forms::kHost, other));
      }
    }
  });
}

// Masks may have any type.
TEST(EveryDeviceForm, TakesMasksOfBytes) {
  const tensor::NoGradGuard no_gradient;
  ForEveryForm([](const Variant& variant) {
    RandomBatch batch(20, {});
    const auto losses = [&](tensor::DType type) {
      Tensors tensors = TensorsFor(Forms::kDevice, batch);
      for (tensor::Tensor* mask : {&tensors.labels.negative, &tensors.labels.query_negative,
                                   &tensors.labels.document_negative}) {
        *mask = mask->to(type);
      }
      return MakeObjective(variant.info->name, variant.params, Forms::kDevice)
          ->Evaluate(tensors.scores, tensors.labels)
          .losses;
    };
    EXPECT_EQ(losses(tensor::kByte), losses(tensor::kBool));
  });
}

TEST(EveryDeviceForm, TakesBrokenColumnsAndWeightsForABug) {
  ForEveryForm([](const Variant& variant) {
    RandomBatch far(17, {});
    const Tensors tensors = TensorsFor(Forms::kDevice, far);
    tensors.labels.positive[0].fill_(static_cast<double>(far.d));
    const auto form = MakeObjective(variant.info->name, variant.params, Forms::kDevice);
    EXPECT_THROW(form->Evaluate(tensors.scores, tensors.labels), std::logic_error);
    RandomBatch light(17, {});
    light.weights = {1, 1, 1, 1, -1};
    EXPECT_THROW(Ask(variant, Forms::kDevice, light), std::logic_error);
  });
}

}  // namespace
}  // namespace tandem::objective
