// Indexes of documents: building, changing, searching.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/texts/metadata.h"
#include "index/building/build.h"
#include "index/building/index_model.h"
#include "index/building/merge.h"
#include "index/choose.h"
#include "index/document_index.h"
#include "index/folder/removal.h"
#include "index/query/answers.h"
#include "index/query/filter.h"
#include "python/computing.h"
#include "python/model_state.h"
#include "python/module.h"
#include "python/python_documents.h"
#include "python/texts.h"

namespace tandem::python {
namespace {

namespace nb = nanobind;

// An open index; closed, it holds nothing.
class PythonIndex {
 public:
  PythonIndex(std::string folder, bool verify) : folder_(std::move(folder)) {
    const nb::gil_scoped_release without_gil;
    index_ = index::DocumentIndex::Open(folder_, verify);
  }

  const std::string& folder() const { return folder_; }
  bool closed() const { return index_ == nullptr; }
  void Close() { index_.reset(); }
  // Held by a search, so that another thread may close the index meanwhile.
  std::shared_ptr<const index::DocumentIndex> Get() const {
    if (index_ == nullptr) throw UsageError(fmt::format("the index {} is closed", folder_));
    return index_;
  }

 private:
  std::string folder_;
  std::shared_ptr<const index::DocumentIndex> index_;
};

nb::dict InfoOf(const PythonIndex& python) {
  const auto index = python.Get();
  const index::IndexInfo& info = index->info();
  nb::dict fields;
  for (const data::MetadataField& field : info.fields) {
    const std::string_view type = data::MetadataTypeName(field.type);
    fields[field.name.c_str()] = nb::str(type.data(), type.size());
  }
  nb::dict out;
  out["documents"] = info.documents;
  out["removed"] = info.removed;
  out["segments"] = info.segments;
  out["kind"] = info.kind;
  out["parameters"] = info.parameters;
  out["fields"] = fields;
  out["texts"] = info.texts;
  out["min_probability"] = info.min_probability;
  out["similarity"] = info.model.similarity;
  out["width"] = info.model.width;
  out["model"] = info.model.path;
  out["file_bytes"] = info.file_bytes;
  return out;
}

std::unique_ptr<PythonModel> OpenIndexModel(const PythonIndex& python, const std::string& folder) {
  const auto index = python.Get();
  const index::IndexModel& described = index->info().model;
  auto state = std::make_shared<ModelState>();
  {
    const nb::gil_scoped_release without_gil;
    Compute([&] {
      state->model = index::LoadIndexModel(index->info(), index::LoadOptionsOf(described), folder);
    });
  }
  state->folder = folder.empty() ? described.path : folder;
  state->dimensions = described.dimensions;
  return std::make_unique<PythonModel>(std::move(state));
}

nb::object MetadataOf(const index::DocumentIndex& index, uint32_t document) {
  nb::dict metadata;
  const auto& fields = index.info().fields;
  for (size_t field = 0; field < fields.size(); ++field) {
    const data::MetadataValue value = index.metadata(document, field);
    if (!value.present) continue;
    const char* const name = fields[field].name.c_str();
    if (fields[field].type == data::MetadataType::kNumber) {
      metadata[name] = value.number;
    } else {
      metadata[name] = nb::str(value.text.data(), value.text.size());
    }
  }
  return metadata;
}

nb::tuple HitOf(const index::DocumentIndex& index, const index::Answer& answer) {
  const auto text = [](std::string_view bytes) {  // a cut may have left half a character
    return nb::steal(
        PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
  };
  return nb::make_tuple(text(index.id(answer.document)), answer.score, answer.probability,
                        text(index.text(answer.document)), text(index.title(answer.document)),
                        MetadataOf(index, answer.document));
}

struct SearchOptions {
  size_t k = 10;
  std::string filter;  // JSON; empty: none
  std::optional<double> min_score;
  std::optional<double> min_probability;
  size_t effort = 0;
};

const weights::Calibration* CalibrationFor(const PythonModel* model,
                                           const std::optional<double>& min_probability) {
  if (model != nullptr) {
    const auto& calibration = model->model().calibration();
    if (calibration && calibration->similarity == model->model().similarity()) return &*calibration;
  }
  if (!min_probability) return nullptr;
  throw UsageError(
      "min_probability needs a model whose scores are known to be probabilities; fit them to "
      "judgements: tandem_retrieval.calibrate(model, data)");
}

// Hits of each query: (id, score, probability, text, title, metadata).
nb::list SearchVectors(const PythonIndex& python,
                       nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu> queries,
                       const PythonModel* model, const SearchOptions& options) {
  const auto index = python.Get();
  const index::IndexInfo& info = index->info();
  if (queries.shape(1) != info.model.width) {
    throw UsageError(fmt::format("queries have the shape [{}, {}]; expected [any, {}], the index's",
                                 queries.shape(0), queries.shape(1), info.model.width));
  }
  for (size_t i = 0; i < queries.size(); ++i) {
    if (std::isfinite(queries.data()[i])) continue;
    throw NumericError(
        fmt::format("queries[{}] has a number that is not finite", i / queries.shape(1)));
  }
  index::AnswerOptions answers{.k = options.k,
                               .min_score = options.min_score,
                               .min_probability = options.min_probability,
                               .effort = options.effort,
                               .threads = ThreadsNow()};
  if (!options.filter.empty()) answers.filter = index::FilterFromJson(options.filter, info.fields);
  const weights::Calibration* calibration = CalibrationFor(model, options.min_probability);
  std::vector<std::vector<index::Answer>> found;
  {
    const nb::gil_scoped_release without_gil;
    Compute([&] {
      found =
          index::FindAnswers(*index, queries.data(), queries.shape(0), answers, calibration, {});
    });
  }
  nb::list all;
  for (const auto& of_query : found) {
    nb::list hits;
    for (const index::Answer& answer : of_query) hits.append(HitOf(*index, answer));
    all.append(hits);
  }
  return all;
}

// The model belongs to others but while it encodes: what gives the documents may encode with it.
index::IndexEncoder IndexEncoderOf(const PythonModel& python, const std::string& path,
                                   const std::string& precision, const StopRequest& stop) {
  ModelState& state = *python.state();
  search::EncodeOptions encode = EncodeOptionsOf(precision);
  encode.stop = stop;
  const ModelLock lock(state, stop);
  return {
      .model = python.model(),
      .encode = encode,
      .description = index::DescribeModel(python.model(), path, encode.precision, state.dimensions),
      .hold = [&state, stop] { return std::make_shared<ModelLock>(state, stop); }};
}

struct BuildOptions {
  std::vector<std::string> fields;  // "year:number"
  bool texts = true;
  std::optional<double> min_probability;
  std::string kind;  // empty: chosen
  double recall = 0.95;
  uint64_t memory = 0;
  bool copy_model = false;
  bool replace = false;
};

index::KindChoice ChooseKind(const BuildOptions& options, size_t rows, size_t width) {
  if (options.kind.empty()) {
    const index::Choice choice = index::Choose(
        {.rows = rows, .width = width, .recall = options.recall, .memory = options.memory},
        index::IndexKinds());
    return {choice.kind, choice.params};
  }
  const index::IndexKindInfo& kind = index::FindIndexKind(options.kind);
  config::Params params(kind.params);
  if (!params.Knows("recall")) return {&kind, params};
  const std::string problem = params.Set("recall", options.recall);
  if (!problem.empty()) throw UsageError(fmt::format("recall of {} {}", kind.name, problem));
  return {&kind, params};
}

// How many documents the index has now, and how many took the place of others.
nb::tuple Report(const index::BuildReport& report, const PythonModel& model) {
  search::ReportCounts(report.counts, "documents",
                       model.model().max_tokens(model::TextKind::kDocument));
  return nb::make_tuple(report.documents, report.updated);
}

nb::tuple BuildIndex(const std::string& folder, const PythonModel& model, nb::object next_block,
                     const std::string& precision, const BuildOptions& options) {
  const index::NewIndex wanted{
      .fields = data::ParseMetadataFields(options.fields),
      .texts = options.texts,
      .min_probability = options.min_probability,
      .choose = [&](size_t rows, size_t width) { return ChooseKind(options, rows, width); },
      .copy_model = options.copy_model,
      .replace = options.replace};
  if (!options.kind.empty()) ChooseKind(options, 1, 1);  // its errors come before the work
  CalibrationFor(&model, options.min_probability);
  Supervision supervision{nb::none()};
  PythonDocuments documents(std::move(next_block), wanted.fields);
  index::BuildReport report;
  documents.Run(supervision, [&] {
    report = index::BuildIndex(
        IndexEncoderOf(model, model.state()->folder, precision, supervision.stop()), folder,
        {documents.source(), 0}, wanted,
        {.threads = ThreadsNow(), .memory = options.memory, .stop = supervision.stop()});
  });
  return Report(report, model);
}

nb::tuple AddDocuments(const PythonIndex& python, const PythonModel& model, nb::object next_block,
                       const std::string& precision, bool update) {
  const auto index = python.Get();
  Supervision supervision{nb::none()};
  PythonDocuments documents(std::move(next_block), index->info().fields);
  index::BuildReport report;
  documents.Run(supervision, [&] {
    const index::ChangeOptions change{.threads = ThreadsNow(), .stop = supervision.stop()};
    report = index::AddDocuments(
        IndexEncoderOf(model, index->info().model.path, precision, supervision.stop()),
        python.folder(), {documents.source(), 0}, update, change);
    index::JoinSmallSegments(python.folder(), index::kMostSmallSegments, change);
  });
  return Report(report, model);
}

size_t RemoveDocuments(const std::string& folder, const nb::list& ids, bool ignore_missing) {
  const std::vector<std::string> copies = TextsOf(ids, 0);
  const nb::gil_scoped_release without_gil;
  return index::RemoveDocuments(folder, copies, ignore_missing).removed;
}

void AddOptions(nb::module_& module) {
  nb::class_<SearchOptions>(module, "SearchOptions")
      .def(nb::init<>())
      .def_rw("k", &SearchOptions::k)
      .def_rw("filter", &SearchOptions::filter)
      .def_rw("min_score", &SearchOptions::min_score, nb::arg().none())
      .def_rw("min_probability", &SearchOptions::min_probability, nb::arg().none())
      .def_rw("effort", &SearchOptions::effort);
  nb::class_<BuildOptions>(module, "BuildOptions")
      .def(nb::init<>())
      .def_rw("fields", &BuildOptions::fields)
      .def_rw("texts", &BuildOptions::texts)
      .def_rw("min_probability", &BuildOptions::min_probability, nb::arg().none())
      .def_rw("kind", &BuildOptions::kind)
      .def_rw("recall", &BuildOptions::recall)
      .def_rw("memory", &BuildOptions::memory)
      .def_rw("copy_model", &BuildOptions::copy_model)
      .def_rw("replace", &BuildOptions::replace);
}

}  // namespace

void AddIndex(nb::module_& module) {
  AddOptions(module);
  nb::class_<PythonIndex>(module, "Index")
      .def(nb::init<std::string, bool>(), nb::arg("folder"), nb::arg("verify"))
      .def("close", &PythonIndex::Close)
      .def_prop_ro("closed", &PythonIndex::closed)
      .def_prop_ro("folder", &PythonIndex::folder)
      .def("info", InfoOf)
      .def("open_model", OpenIndexModel, nb::arg("folder"))
      .def("search", SearchVectors, nb::arg("queries"), nb::arg("model").none(), nb::arg("options"))
      .def("add", AddDocuments, nb::arg("model"), nb::arg("next_block"), nb::arg("precision"),
           nb::arg("update"));
  module.def("build_index", BuildIndex, nb::arg("folder"), nb::arg("model"), nb::arg("next_block"),
             nb::arg("precision"), nb::arg("options"));
  module.def("remove_documents", RemoveDocuments, nb::arg("folder"), nb::arg("ids"),
             nb::arg("ignore_missing"));
}

}  // namespace tandem::python
