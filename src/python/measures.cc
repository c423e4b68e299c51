// Measures of runs against judgements, and of models on data sets.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/judgements/judged_data.h"
#include "data/judgements/qrels.h"
#include "data/judgements/run.h"
#include "eval/evaluate.h"
#include "eval/measure.h"
#include "eval/ranked_depth.h"
#include "eval/significance/bootstrap.h"
#include "python/computing.h"
#include "python/model_state.h"
#include "python/module.h"
#include "python/numbers.h"
#include "python/texts.h"
#include "search/retrieval/retrieve.h"
#include "search/scoring/score_samples.h"

namespace tandem::python {
namespace {

namespace nb = nanobind;

struct MeasureOptions {
  std::string measures;  // separated by commas
  double relevance_level = 1;
  std::optional<size_t> max_results;
  std::string score_precision = "double";
  bool complete = false;
};

eval::EvaluationOptions EvaluationOptionsOf(const MeasureOptions& options) {
  if (options.score_precision != "single" && options.score_precision != "double") {
    throw UsageError(fmt::format("score_precision is \"{}\"; expected single or double",
                                 options.score_precision));
  }
  return {.ranking = {.relevance_level = options.relevance_level,
                      .max_results = options.max_results.value_or(0),
                      .score_precision = options.score_precision == "single"
                                             ? eval::ScorePrecision::kSingle
                                             : eval::ScorePrecision::kDouble},
          .complete = options.complete,
          .threads = ThreadsNow()};
}

// Calls `take(key, value)` for all items of a dict whose keys are str. `name` returns the dict's
// name, for errors. The dict stays the caller's and is not changed meanwhile, since the GIL is
// held.
template <typename Name, typename Take>
void ForItems(nb::handle dict, const Name& name, const Take& take) {
  if (!PyDict_Check(dict.ptr())) {
    throw nb::type_error(fmt::format("{} must be a dict, found {}", name(),
                                     nb::str(nb::type_name(dict.type())).c_str())
                             .c_str());
  }
  Py_ssize_t at = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(dict.ptr(), &at, &key, &value) != 0) {
    // The __float__ of what is no plain number may change the dict: key and value live on
    // nevertheless.
    nb::object held_key, held_value;
    if (!PyFloat_CheckExact(value) && !PyLong_CheckExact(value)) {
      held_key = nb::borrow(key);
      held_value = nb::borrow(value);
    }
    take(Utf8Of(key, [&] { return "a key of " + name(); }), nb::handle(value));
  }
}

// Calls `take(query, document, value)` for all of a dict of dicts.
template <typename Begin, typename Take>
void ForCells(const nb::dict& dict, const char* name, const Begin& begin, const Take& take) {
  const auto outer = [name] { return std::string(name); };
  ForItems(dict, outer, [&](std::string_view query, nb::handle of_query) {
    begin(query, of_query);
    const auto inner = [&] { return fmt::format("{}[{:?}]", name, query); };
    ForItems(of_query, inner, [&](std::string_view document, nb::handle value) {
      take(query, document,
           NumberOf(value, [&] { return fmt::format("{}[{:?}][{:?}]", name, query, document); }));
    });
  });
}

data::Qrels QrelsOf(const nb::dict& dict) {
  data::Qrels qrels;
  ForCells(
      dict, "qrels", [](std::string_view, nb::handle) {},
      [&](std::string_view query, std::string_view document, double grade) {
        if (!std::isfinite(grade)) {
          throw DataError(
              "qrels", 0, std::string(document),
              fmt::format("the grade of query {} is {}; expected a finite number", query, grade));
        }
        qrels.Add(query, document, grade);
      });
  return qrels;
}

// A query with an empty dict is in the run, and found nothing.
data::Run RunOf(const nb::dict& dict) {
  data::Run run;
  std::vector<data::ScoredDocument>* results = nullptr;
  ForCells(
      dict, "run",
      [&](std::string_view query, nb::handle scores) {
        results = &run.AddQuery(query).results;
        if (PyDict_Check(scores.ptr())) {
          results->reserve(static_cast<size_t>(PyDict_Size(scores.ptr())));
        }
      },
      [&](std::string_view, std::string_view document, double score) {
        results->push_back({run.Keep(document), score});
      });
  return run;
}

double NumberOrNan(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

nb::dict ToPython(const eval::Evaluation& evaluation, const eval::EvaluationOptions& options) {
  nb::list queries, names, means, per_query, remarks;
  for (const std::string& query : evaluation.queries) {
    queries.append(nb::str(query.data(), query.size()));
  }
  for (const eval::MeasureValues& values : evaluation.measures) {
    names.append(nb::cast(values.measure.name()));
    means.append(NumberOrNan(values.mean));
    nb::list numbers;
    for (const std::optional<double>& value : values.per_query) numbers.append(NumberOrNan(value));
    per_query.append(numbers);
  }
  for (const eval::Remark& remark : eval::RemarksOn(evaluation, options)) {
    remarks.append(nb::make_tuple(remark.text, remark.is_warning));
  }
  nb::dict result;
  result["queries"] = queries;
  result["measures"] = names;
  result["means"] = means;
  result["per_query"] = per_query;
  result["remarks"] = remarks;
  return result;
}

MeasureOptions OptionsOf(std::string measures, double relevance_level,
                         std::optional<size_t> max_results, std::string score_precision,
                         bool complete) {
  return {std::move(measures), relevance_level, max_results, std::move(score_precision), complete};
}

nb::dict EvaluateDicts(const nb::dict& qrels_dict, const nb::dict& run_dict,
                       const MeasureOptions& given) {
  const std::vector<eval::Measure> measures = eval::ParseMeasures(given.measures);
  const eval::EvaluationOptions options = EvaluationOptionsOf(given);
  const data::Qrels qrels = QrelsOf(qrels_dict);
  const data::Run run = RunOf(run_dict);
  eval::Evaluation evaluation;
  {
    const nb::gil_scoped_release without_gil;
    evaluation = eval::EvaluateRun(run, qrels, measures, options);
  }
  return ToPython(evaluation, options);
}

// A BEIR folder and what to encode with.
struct JudgedFolder {
  std::string folder;
  std::string split;
  std::string precision;
};

nb::dict EvaluateModel(const PythonModel& python, const JudgedFolder& data,
                       const MeasureOptions& given) {
  const std::vector<eval::Measure> measures = eval::ParseMeasures(given.measures);
  eval::EvaluationOptions options = EvaluationOptionsOf(given);
  options.complete = true;
  BeginComputing();
  search::RetrieveOptions retrieve{.encode = EncodeOptionsOf(data.precision), .report = true};
  eval::Evaluation evaluation;
  Supervision supervision{nb::none()};
  retrieve.encode.stop = supervision.stop();
  supervision.Run([&] {
    const ModelLock lock(*python.state(), retrieve.encode.stop);
    const data::JudgedData judged = data::LoadJudgedData(data.folder, data.split);
    const size_t documents = judged.dataset.documents.size();
    retrieve.top_k = given.max_results.value_or(eval::RankedDepth(measures));
    if (retrieve.top_k == 0) retrieve.top_k = documents;
    if (eval::NeedsSamples(measures)) retrieve.relevance_level = given.relevance_level;
    search::Retrieved found = search::Retrieve(python.model(), judged.dataset, retrieve);
    if (retrieve.relevance_level > 0) {
      search::CountMissingPositives(judged.qrels, retrieve.relevance_level, found.samples);
    }
    options.samples = found.samples;
    evaluation = eval::EvaluateRun(found.run, judged.qrels, measures, options);
    options.samples = {};
  });
  return ToPython(evaluation, options);
}

// (low, high) of the mean of the values, by the bootstrap over queries.
nb::tuple MeanInterval(const std::vector<double>& values, uint64_t seed, size_t resamples,
                       double confidence) {
  const bool usable = !values.empty() && resamples > 0 && confidence > 0 && confidence < 1;
  if (!usable) {
    throw UsageError(
        "an interval needs one value or more, one resample or more, and a confidence between 0 "
        "and 1");
  }
  eval::Interval interval;
  {
    const nb::gil_scoped_release without_gil;
    interval = eval::PercentileInterval(eval::ResampledMeans(values, {.seed = seed,
                                                                      .resamples = resamples,
                                                                      .confidence = confidence,
                                                                      .threads = ThreadsNow()}),
                                        confidence);
  }
  return nb::make_tuple(interval.low, interval.high);
}

}  // namespace

void AddMeasures(nb::module_& module) {
  nb::class_<MeasureOptions>(module, "MeasureOptions");
  module.def("measure_options", OptionsOf, nb::arg("measures"), nb::arg("relevance_level"),
             nb::arg("max_results").none(), nb::arg("score_precision"), nb::arg("complete"));
  module.def("evaluate_dicts", EvaluateDicts, nb::arg("qrels"), nb::arg("run"), nb::arg("options"));
  module.def(
      "evaluate_model",
      [](const PythonModel& model, std::string folder, std::string split, std::string precision,
         const MeasureOptions& options) {
        return EvaluateModel(model, {std::move(folder), std::move(split), std::move(precision)},
                             options);
      },
      nb::arg("model"), nb::arg("folder"), nb::arg("split"), nb::arg("precision"),
      nb::arg("options"));
  module.def("mean_interval", MeanInterval, nb::arg("values"), nb::arg("seed"),
             nb::arg("resamples"), nb::arg("confidence"));
}

}  // namespace tandem::python
