// Training and encoding speed of a real model on real texts, as tokens per second and as a share of
// the processor's matrix-product rate measured in the same run.
//
//   encoder_bench MODEL DATASET [--batch 64] [--steps 8] [--max-tokens 256] [--documents 2000]
//                 [--write-texts FILE]
//
// Share = FLOPs of the encoder's matrix products for one token (three times that in training) x
// tokens/s / rate of oneDNN at the encoder's own shapes and precision. All time counts: tokenising
// is done before, everything else (attention, normalisation, loss, optimizer) is inside.
// --write-texts writes the pairs as JSON lines for the same measurement in another tool.
#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/eye.h>
#include <fmt/format.h>
#include <omp.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "data/beir.h"
#include "model/dual_encoder.h"
#include "objective/catalogue.h"
#include "objective/objective.h"
#include "objective/similarity.h"
#include "optim/catalogue.h"
#include "search/encode.h"
#include "tensor/kernels/cpu/products.h"
#include "tensor/precision.h"
#include "weights/model_folder.h"

namespace tandem {
namespace {

struct BenchOptions {
  std::string model;
  std::string dataset;
  std::string split = "train";
  size_t batch = 64;
  size_t steps = 8;
  size_t max_tokens = 256;
  size_t documents = 2000;
  std::string write_texts;
};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Products of one encoder layer as (depth, columns), forward and for the gradient of the input.
std::vector<std::pair<int64_t, int64_t>> LayerShapes(const weights::EncoderConfig& config) {
  const int64_t h = config.hidden_size, f = config.intermediate_size;
  return {{h, 3 * h}, {h, h}, {h, f}, {f, h}, {3 * h, h}};
}

// FLOP/s of oneDNN over the shapes above, all threads at tiles of 64 rows, best of three.
double ProductRate(const weights::EncoderConfig& config, tensor::cpu::Type type) {
  constexpr int64_t kRows = 64;
  constexpr int kRepeats = 40;
  double best = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {
    double flops = 0, seconds = 0;
    for (const auto& [depth, columns] : LayerShapes(config)) {
      tensor::cpu::PackedMatrix packed(depth, columns, type);
      const std::vector<float> weights(static_cast<size_t>(depth * columns), 0.01F);
      packed.Pack(weights.data(), columns, 1);
      const int threads = at::get_num_threads();
      double start = 0;
#pragma omp parallel num_threads(threads)
      {
        const std::vector<float> x(static_cast<size_t>(kRows * depth));
        std::vector<float> out(static_cast<size_t>(kRows * columns));
        const auto multiply = [&] {
          tensor::cpu::MultiplyPacked({x.data(), depth}, kRows, packed, nullptr,
                                      {out.data(), columns}, type);
        };
        multiply();  // makes the primitive
#pragma omp barrier
#pragma omp single
        start = Now();
        for (int i = 0; i < kRepeats; ++i) multiply();
      }
      seconds += Now() - start;
      flops += 2.0 * kRows * static_cast<double>(depth * columns) * kRepeats * threads;
    }
    best = std::max(best, flops / seconds);
  }
  return best;
}

struct Pair {
  uint32_t query;
  uint32_t document;
};

std::vector<Pair> ShuffledPairs(const data::Dataset& dataset, size_t count) {
  std::vector<Pair> pairs;
  for (const data::JudgedQuery& judged : dataset.judged) {
    pairs.push_back({judged.query, judged.judgements.front().document});
  }
  RandomStream stream({.seed = 1, .purpose = "encoder_bench"});
  stream.Shuffle<Pair>(pairs);
  if (pairs.size() < count) {
    throw UsageError(fmt::format("the split has {} queries; this needs {}", pairs.size(), count));
  }
  pairs.resize(count);
  return pairs;
}

void WriteTexts(const std::string& path, const data::Dataset& dataset,
                const std::vector<Pair>& pairs) {
  std::ofstream file(path);
  for (const Pair& pair : pairs) {
    file << nlohmann::json{{"query", dataset.queries.text(pair.query)},
                           {"document", dataset.documents.text(pair.document)}}
                .dump()
         << "\n";
  }
}

text::EncodedTexts Tokenize(const model::DualEncoder& model, const std::vector<Pair>& pairs,
                            const data::Dataset& dataset, size_t max_tokens, bool queries) {
  std::vector<std::string_view> texts;
  for (const Pair& pair : pairs) {
    texts.push_back(queries ? dataset.queries.text(pair.query)
                            : dataset.documents.text(pair.document));
  }
  return model.tokenizer().EncodeAll(texts, max_tokens, at::get_num_threads());
}

// One training step on `batch` pairs from `first` on; returns its tokens.
int64_t TrainStep(model::DualEncoder& model, optim::Optimizer& optimizer,
                  const objective::Objective& objective, const text::EncodedTexts& queries,
                  const text::EncodedTexts& documents, size_t first, size_t batch,
                  tensor::Precision precision) {
  std::vector<std::span<const int32_t>> texts;
  for (size_t i = 0; i < batch; ++i) texts.push_back(queries[first + i]);
  for (size_t i = 0; i < batch; ++i) texts.push_back(documents[first + i]);
  const tensor::PackedTokens tokens = tensor::Pack(texts);
  const at::Tensor rows =
      model.Encode(tokens, {.precision = precision, .training = true, .seed = 1, .step = first});
  const auto count = static_cast<int64_t>(batch);
  objective::Labels labels;
  labels.positive = at::arange(count, at::kLong);
  labels.negative = at::eye(count, at::kBool).logical_not();
  const objective::Scores scores =
      objective::SimilarityScores(rows.narrow(0, 0, count), rows.narrow(0, count, count), "cosine");
  objective.Evaluate(scores, labels).value.backward();
  optimizer.Step(2e-5, 1.0);
  for (model::NamedParameter& parameter : model.Parameters()) {
    parameter.value.mutable_grad().reset();
  }
  return tokens.tokens();
}

void PrintRow(const char* what, const char* precision, double tokens_per_second, double flops,
              double rate) {
  fmt::print("{:<10}{:<6}{:>10.0f} tokens/s{:>9.0f} GFLOP/s of {:>5.0f}{:>8.1f} %\n", what,
             precision, tokens_per_second, tokens_per_second * flops / 1e9, rate / 1e9,
             100 * tokens_per_second * flops / rate);
  std::fflush(stdout);
}

void BenchTraining(model::DualEncoder& model, const data::Dataset& dataset,
                   const std::vector<Pair>& pairs, const BenchOptions& options,
                   tensor::Precision precision, double rate) {
  const text::EncodedTexts queries = Tokenize(model, pairs, dataset, options.max_tokens, true);
  const text::EncodedTexts documents = Tokenize(model, pairs, dataset, options.max_tokens, false);
  const auto optimizer = optim::kAdamW.make(model.Parameters(), {});
  const auto objective =
      objective::MakeObjective("infonce", config::Params(objective::kInfoNce.params));
  double start = 0;
  int64_t tokens = 0;
  for (size_t step = 0; step <= options.steps; ++step) {
    if (step == 1) start = Now();  // the first step warms up
    const int64_t done = TrainStep(model, *optimizer, *objective, queries, documents,
                                   step * options.batch, options.batch, precision);
    if (step > 0) tokens += done;
  }
  PrintRow("training", tensor::PrecisionName(precision).data(),
           static_cast<double>(tokens) / (Now() - start), 3 * model.flops_per_token(), rate);
}

void BenchEncoding(model::DualEncoder& model, const data::Dataset& dataset,
                   const BenchOptions& options, tensor::Precision precision, double rate) {
  const size_t count = std::min(options.documents, dataset.documents.size());
  const double start = Now();
  const search::EncodeCounts counts = search::EncodeTexts(
      model, model::TextKind::kDocument, count, [&](size_t i) { return dataset.documents.text(i); },
      {.precision = precision, .threads = at::get_num_threads()}, [](size_t, const at::Tensor&) {});
  PrintRow("encoding", tensor::PrecisionName(precision).data(),
           static_cast<double>(counts.tokens) / (Now() - start), model.flops_per_token(), rate);
}

void Run(const BenchOptions& options) {
  tensor::SetThreads(0);
  const weights::EncoderConfig config = weights::ReadModelFolder(options.model).config;
  const auto model = model::DualEncoder::Load(
      options.model,
      {.max_query_tokens = options.max_tokens, .max_document_tokens = options.max_tokens});
  const data::Dataset dataset = data::LoadBeir(options.dataset, options.split);
  const std::vector<Pair> pairs = ShuffledPairs(dataset, options.batch * (options.steps + 1));
  if (!options.write_texts.empty()) WriteTexts(options.write_texts, dataset, pairs);
  fmt::print("{} threads, {}, {}; {} pairs a step, at most {} tokens a text\n",
             at::get_num_threads(), tensor::IsaName(), tensor::cpu::ProductLibraryVersion(),
             options.batch, options.max_tokens);
  std::vector<tensor::Precision> precisions = {tensor::Precision::kFp32};
  if (tensor::ResolvePrecision("auto") == tensor::Precision::kBf16) {
    precisions.push_back(tensor::Precision::kBf16);
  }
  for (const tensor::Precision precision : precisions) {
    const double rate =
        ProductRate(config, precision == tensor::Precision::kFp32 ? tensor::cpu::Type::kFloat
                                                                  : tensor::cpu::Type::kBf16);
    BenchTraining(*model, dataset, pairs, options, precision, rate);
    BenchEncoding(*model, dataset, options, precision, rate);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("peak memory {:.2f} GB\n", static_cast<double>(usage.ru_maxrss) / 1e6);
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  CLI::App app("Training and encoding speed against the processor's matrix-product rate");
  tandem::BenchOptions options;
  app.add_option("model", options.model, "Model folder")->required();
  app.add_option("dataset", options.dataset, "BEIR folder")->required();
  app.add_option("--split", options.split, "Split whose pairs are trained on")
      ->capture_default_str();
  app.add_option("--batch", options.batch, "Pairs a step")->capture_default_str();
  app.add_option("--steps", options.steps, "Training steps that count")->capture_default_str();
  app.add_option("--max-tokens", options.max_tokens, "Length limit")->capture_default_str();
  app.add_option("--documents", options.documents, "Documents to encode")->capture_default_str();
  app.add_option("--write-texts", options.write_texts, "Write the pairs here as JSON lines");
  CLI11_PARSE(app, argc, argv);
  try {
    tandem::Run(options);
  } catch (const tandem::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  }
  return 0;
}
