#include "search/scoring/cross_encoder_scores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/progress.h"
#include "eval/calibration/calibration.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/memory/page_arena.h"
#include "tensor/packed_tokens.h"

namespace tandem::search {
namespace {

// Query and document of each pair, as numbers of the data set's texts.
struct PairTexts {
  std::vector<uint32_t> queries;  // [P]
  const std::vector<uint32_t>& documents;

  explicit PairTexts(const data::JudgedPairs& pairs) : documents(pairs.document_of) {
    for (size_t q = 0; q < pairs.query_of.size(); ++q) {
      queries.insert(queries.end(), pairs.starts[q + 1] - pairs.starts[q], pairs.query_of[q]);
    }
  }
  size_t size() const { return documents.size(); }
};

// The pairs of a batch, packed with their token types.
tensor::PackedTokens PackBatch(const text::EncodedPairs& encoded, std::span<const size_t> batch,
                               bool types) {
  std::vector<std::span<const int32_t>> spans;
  for (const size_t pair : batch) spans.push_back(encoded.texts[pair]);
  tensor::PackedTokens packed = tensor::Pack(spans);
  if (!types) return packed;
  packed.types = tensor::Empty({packed.tokens()}, tensor::kInt);
  auto* to = packed.types.data_ptr<int32_t>();
  for (const size_t pair : batch) {
    const auto begin = encoded.types.begin() + encoded.texts.starts[pair];
    const auto end = encoded.types.begin() + encoded.texts.starts[pair + 1];
    to = begin == end ? std::fill_n(to, 1, 0) : std::copy(begin, end, to);
  }
  return packed;
}

class Scoring {
 public:
  Scoring(const model::CrossEncoder& model, const data::Dataset& dataset, const PairTexts& pairs,
          const CrossEncoderOptions& options)
      : model_(model), dataset_(dataset), pairs_(pairs), options_(options) {
    found_.labels = model.labels().size();
    found_.pairs = pairs.size();
    found_.logits.resize(pairs.size() * found_.labels);
    if (!options.label.empty()) {
      progress_.emplace(
          ProgressOptions{.label = options.label, .unit = "pairs", .total = pairs.size()});
    }
  }

  void Window(size_t first, size_t count) {
    const text::EncodedPairs encoded = Tokenize(first, count);
    found_.tokens += encoded.texts.ids.size();
    found_.truncated += encoded.texts.truncated;
    size_t tokens_done = 0;
    std::mutex mutex;  // of progress and between_batches
    const auto score = [&](std::span<const size_t> batch, size_t tokens) {
      Keep(first, batch,
           model_.Logits(PackBatch(encoded, batch, model_.token_types()), options_.precision));
      const std::lock_guard lock(mutex);
      tokens_done += tokens;
      if (options_.between_batches) options_.between_batches();
      // Long pairs come first: the share of tokens is the share of the work.
      if (progress_) progress_->Update(first + count * tokens_done / encoded.texts.ids.size());
    };
    ForLengthBatches(encoded.texts, options_.batch_tokens, score);
  }

  CrossEncoderLogits Take() {
    const auto broken = std::find_if(found_.logits.begin(), found_.logits.end(),
                                     [](float logit) { return !std::isfinite(logit); });
    if (broken == found_.logits.end()) return std::move(found_);
    throw NumericError("a score is not finite: the model's weights are broken");
  }

 private:
  text::EncodedPairs Tokenize(size_t first, size_t count) const {
    std::deque<std::string> prompted;  // whose strings stay where they are
    std::vector<text::TextPair> texts;
    texts.reserve(count);
    for (size_t p = first; p < first + count; ++p) {
      const std::string_view plain = dataset_.queries.text(pairs_.queries[p]);
      const std::string_view query =
          model_.prompt().empty() ? plain : prompted.emplace_back(model_.prompt()).append(plain);
      texts.push_back({query, dataset_.documents.text(pairs_.documents[p])});
    }
    return model_.tokenizer().EncodeAllPairs(texts, model_.max_tokens(), options_.threads);
  }

  void Keep(size_t first, std::span<const size_t> batch, const tensor::Tensor& logits) {
    const float* from = logits.data_ptr<float>();
    for (size_t i = 0; i < batch.size(); ++i) {
      std::copy_n(
          from + i * found_.labels, found_.labels,
          found_.logits.begin() + static_cast<std::ptrdiff_t>((first + batch[i]) * found_.labels));
    }
  }

  const model::CrossEncoder& model_;
  const data::Dataset& dataset_;
  const PairTexts& pairs_;
  const CrossEncoderOptions& options_;
  std::optional<Progress> progress_;
  CrossEncoderLogits found_;
};

double Softmax(std::span<const float> logits, size_t label) {
  const auto most = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - most);
  return std::exp(static_cast<double>(logits[label]) - most) / sum;
}

// " of label NAME" where there are others.
std::string OfLabel(const model::CrossEncoder& model, size_t label) {
  return model.labels().size() == 1 ? "" : fmt::format(" of label {}", model.labels()[label]);
}

}  // namespace

CrossEncoderLogits ScoreByCrossEncoder(model::CrossEncoder& model, const data::Dataset& dataset,
                                       const data::JudgedPairs& pairs,
                                       const CrossEncoderOptions& options) {
  const tensor::NoGradGuard no_gradient;
  model.Prepare(options.precision);
  const PairTexts texts(pairs);
  Scoring scoring(model, dataset, texts, options);
  for (size_t first = 0; first < texts.size(); first += options.window_pairs) {
    scoring.Window(first, std::min(options.window_pairs, texts.size() - first));
  }
  tensor::TrimTensorArena();
  return scoring.Take();
}

LabelScore LogitOf(const model::CrossEncoder& model, size_t label) {
  return {.score = [label](std::span<const float> logits) { return logits[label]; },
          .text = "logit" + OfLabel(model, label)};
}

LabelScore GradeOf(const model::CrossEncoder& model, size_t label) {
  const bool sigmoid = model.activation() == "Sigmoid";
  if (!sigmoid && model.activation() != "Identity") {
    throw UsageError(
        fmt::format("{}: its activation is {}, whose values are no grades; Sigmoid and Identity "
                    "are supported: give --as teacher, which writes the logits",
                    model.folder().path.native(), model.activation()));
  }
  if (sigmoid || model.labels().size() == 1) {
    return {.score =
                [label](std::span<const float> logits) {
                  return eval::Logistic(static_cast<double>(logits[label]));
                },
            .text = "1 / (1 + exp(-logit))" + OfLabel(model, label)};
  }
  return {.score = [label](std::span<const float> logits) { return Softmax(logits, label); },
          .text = "softmax of the logits," + OfLabel(model, label)};
}

size_t FindLabel(const model::CrossEncoder& model, const std::string& given) {
  const std::vector<std::string>& labels = model.labels();
  if (given.empty() && labels.size() == 1) return 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (given == labels[i] || given == fmt::format("{}", i)) return i;
  }
  const std::string& path = model.folder().path.native();
  if (given.empty()) {
    throw UsageError(
        fmt::format("{}: has {} labels ({}), and a pair gets one score: give --label with one of "
                    "them",
                    path, labels.size(), fmt::join(labels, ", ")));
  }
  throw UsageError(fmt::format("--label is {}; {} has {}", given, path, fmt::join(labels, ", ")));
}

}  // namespace tandem::search
