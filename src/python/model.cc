// Models: opening, encoding, tokenising, saving.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/dual_encoder.h"
#include "python/computing.h"
#include "python/model_state.h"
#include "python/module.h"
#include "python/texts.h"
#include "search/encode.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/precision.h"

namespace tandem::python {

namespace nb = nanobind;

ModelLock::ModelLock(ModelState& state, const StopRequest& stop) : state_(state) {
  const std::thread::id self = std::this_thread::get_id();
  if (state.owner == self) {
    throw UsageError(fmt::format(
        "the model {} is encoding in this thread, which has called this code meanwhile (as a "
        "signal "
        "handler, a progress bar or a handler of logging): encode with it once the call has "
        "returned, or open it twice",
        state.folder));
  }
  while (!state.mutex.try_lock_for(std::chrono::milliseconds(50))) ThrowIfStopped(stop);
  state.owner = self;
}

ModelLock::~ModelLock() {
  state_.owner = std::thread::id();
  state_.mutex.unlock();
}

model::TextKind KindOf(const std::string& name) {
  if (name == "query") return model::TextKind::kQuery;
  if (name == "document") return model::TextKind::kDocument;
  throw UsageError(fmt::format("kind is \"{}\"; expected query or document", name));
}

search::EncodeOptions EncodeOptionsOf(const std::string& precision) {
  const tensor::Precision resolved = tensor::ResolvePrecision(precision);
  tensor::ApplyPrecision(resolved);
  return {.precision = resolved, .threads = ThreadsNow()};
}

namespace {

using Rows = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OptionalText = std::optional<std::string>;
using OptionalSize = std::optional<size_t>;

std::unique_ptr<PythonModel> OpenModel(const std::string& folder, OptionalSize max_query_tokens,
                                       OptionalSize max_document_tokens, OptionalText query_prompt,
                                       OptionalText document_prompt,
                                       std::optional<int64_t> dimensions) {
  model::LoadOptions options{.max_query_tokens = max_query_tokens,
                             .max_document_tokens = max_document_tokens,
                             .training = {.what = model::Trained::kNothing}};
  options.chosen_query_prompt = std::move(query_prompt);
  options.chosen_document_prompt = std::move(document_prompt);
  options.dimensions = dimensions;
  auto state = std::make_shared<ModelState>();
  {
    const nb::gil_scoped_release without_gil;
    Compute([&] { state->model = model::DualEncoder::Load(folder, options); });
  }
  state->folder = folder;
  state->dimensions = dimensions;
  return std::make_unique<PythonModel>(std::move(state));
}

struct EncoderOptions {
  std::string kind;
  std::string precision;
  OptionalText prompt;  // a name or a text; none: the model's
  std::optional<int64_t> dimensions;
  size_t total = 0;
};

// Encodes texts block by block, and counts them.
class Encoder {
 public:
  Encoder(SharedModel state, const EncoderOptions& options, nb::object progress)
      : state_(std::move(state)),
        kind_(KindOf(options.kind)),
        total_(options.total),
        dimensions_(options.dimensions),
        encode_(EncodeOptionsOf(options.precision)),
        progress_(std::move(progress)) {
    if (options.prompt) {
      prompt_ = model().ChoosePrompt(kind_, *options.prompt);
      encode_.prompt = [this](size_t) -> std::string_view { return prompt_; };
    }
    if (dimensions_) model().Cut(tensor::Zeros({0, whole_width()}, tensor::kFloat), kind_, width());
  }

  int64_t width() const { return dimensions_.value_or(whole_width()); }

  // Writes the embeddings of `texts` to `out`, [texts, width].
  void Encode(const nb::list& texts, const Rows& out) {
    const std::vector<std::string> copies = TextsOf(texts, counts_.texts);
    if (out.shape(0) != copies.size() || out.shape(1) != static_cast<size_t>(width())) {
      throw UsageError(fmt::format("out has the shape [{}, {}]; expected [{}, {}]", out.shape(0),
                                   out.shape(1), copies.size(), width()));
    }
    Supervision supervision(progress_);
    encode_.stop = supervision.stop();
    encode_.progress = [&](size_t done) { supervision.SetDone(done); };
    supervision.Run([&] {
      const ModelLock lock(*state_, encode_.stop);
      EncodeInto(copies, out.data());
    });
  }

  // Warns of texts that lost something.
  void Report(const std::string& what) const {
    search::ReportCounts(counts_, what, model().max_tokens(kind_));
  }
  nb::dict Counts() const {
    nb::dict counts;
    counts["texts"] = counts_.texts;
    counts["tokens"] = counts_.tokens;
    counts["truncated"] = counts_.truncated;
    counts["empty"] = counts_.empty + counts_.tokenless;
    return counts;
  }

 private:
  model::DualEncoder& model() const { return *state_->model; }
  int64_t whole_width() const { return model().embedding_width(); }

  void EncodeInto(const std::vector<std::string>& texts, float* out) {
    if (!stream_) stream_.emplace(model(), kind_, encode_, total_);
    // Somebody else may have prepared the model for another precision since the last block.
    model().Prepare(kind_, encode_.precision, tensor::Passes::kForward);
    const tensor::NoGradGuard no_gradient;
    search::EncodeCounts counts;
    tensor::Tensor rows = stream_->Encode(texts, &counts);
    if (dimensions_) rows = model().Cut(rows, kind_, width());
    std::memcpy(out, rows.data_ptr<float>(), rows.nbytes());
    counts_ += counts;
  }

  SharedModel state_;
  model::TextKind kind_;
  size_t total_;
  std::optional<int64_t> dimensions_;
  std::string prompt_;
  search::EncodeOptions encode_;
  nb::object progress_;
  std::optional<search::StreamEncoder> stream_;
  search::EncodeCounts counts_;
};

std::unique_ptr<Encoder> MakeEncoder(const PythonModel& model, std::string kind,
                                     std::string precision, OptionalText prompt,
                                     std::optional<int64_t> dimensions, size_t total,
                                     nb::object progress) {
  BeginComputing();
  return std::make_unique<Encoder>(
      model.state(),
      EncoderOptions{std::move(kind), std::move(precision), std::move(prompt), dimensions, total},
      std::move(progress));
}

// An array of numpy that owns the values.
template <typename T>
nb::object ArrayOf(std::vector<T> values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owned->data();
  const size_t size = owned->size();
  const nb::capsule owner(owned.release(),
                          [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

// (ids int32 [T], starts int64 [B + 1], how many texts were cut).
nb::tuple Tokenize(const PythonModel& python, const nb::list& texts, const OptionalText& kind,
                   OptionalSize max_tokens) {
  const model::DualEncoder& model = python.model();
  if (!kind && !model.shared()) {
    throw UsageError("the model has two encoders; give kind=\"query\" or kind=\"document\"");
  }
  const model::TextKind of = KindOf(kind.value_or("document"));
  std::vector<std::string> copies = TextsOf(texts, 0);
  text::EncodedTexts encoded;
  {
    const nb::gil_scoped_release without_gil;
    if (kind) {
      for (std::string& text : copies) text.insert(0, model.prompt(of));
    }
    const std::vector<std::string_view> views(copies.begin(), copies.end());
    encoded = model.tokenizer(of).EncodeAll(views, max_tokens.value_or(model.max_tokens(of)),
                                            ThreadsNow());
  }
  return nb::make_tuple(ArrayOf(std::move(encoded.ids)), ArrayOf(std::move(encoded.starts)),
                        encoded.truncated);
}

void Save(const PythonModel& python, const std::string& folder) {
  const nb::gil_scoped_release without_gil;
  const ModelLock lock(*python.state(), {});
  python.model().Save(folder);
}

// float64 of the scores' length.
nb::object Probabilities(const PythonModel& python,
                         nb::ndarray<const double, nb::ndim<1>, nb::c_contig> scores) {
  const auto& calibration = python.model().calibration();
  if (!calibration || calibration->similarity != python.model().similarity()) {
    throw UsageError(
        fmt::format("{0}: its scores are not known to be probabilities; fit them to judgements: "
                    "tandem_retrieval.calibrate({0:?}, data, split=\"dev\")",
                    python.state()->folder));
  }
  std::vector<double> values(scores.data(), scores.data() + scores.size());
  for (double& value : values) value = calibration->Probability(value);
  return ArrayOf(std::move(values));
}

}  // namespace

void AddModel(nb::module_& module) {
  nb::class_<PythonModel>(module, "Model")
      .def("encoder", MakeEncoder, nb::arg("kind"), nb::arg("precision"), nb::arg("prompt").none(),
           nb::arg("dimensions").none(), nb::arg("total"), nb::arg("progress").none())
      .def("tokenize", Tokenize, nb::arg("texts"), nb::arg("kind").none(),
           nb::arg("max_tokens").none())
      .def("probabilities", Probabilities, nb::arg("scores"))
      .def("save", Save, nb::arg("folder"))
      .def("prompt", [](const PythonModel& of,
                        const std::string& kind) { return of.model().prompt(KindOf(kind)); })
      .def("max_tokens",
           [](const PythonModel& of, const std::string& kind) {
             return of.model().max_tokens(KindOf(kind));
           })
      .def_prop_ro("folder", [](const PythonModel& of) { return of.state()->folder; })
      .def_prop_ro("similarity", [](const PythonModel& of) { return of.model().similarity(); })
      .def_prop_ro("calibrated",
                   [](const PythonModel& of) { return of.model().calibration().has_value(); })
      .def_prop_ro("width", [](const PythonModel& of) { return of.model().embedding_width(); });
  nb::class_<Encoder>(module, "Encoder")
      .def("encode", &Encoder::Encode, nb::arg("texts"), nb::arg("out").noconvert())
      .def("report", &Encoder::Report, nb::arg("what"))
      .def("counts", &Encoder::Counts)
      .def_prop_ro("width", &Encoder::width);
  module.def("open_model", OpenModel, nb::arg("folder"), nb::arg("max_query_tokens").none(),
             nb::arg("max_document_tokens").none(), nb::arg("query_prompt").none(),
             nb::arg("document_prompt").none(), nb::arg("dimensions").none());
}

}  // namespace tandem::python
