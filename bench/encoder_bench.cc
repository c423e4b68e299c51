// Measures the speed and peak memory of one job and prints one line of JSON:
//
//   encoder_bench products MODEL
//   encoder_bench training MODEL PAIRS.jsonl
//   encoder_bench encoding MODEL PAIRS.jsonl
//   encoder_bench profile MODEL PAIRS.jsonl    prints a table of where encoding spends its time
//
// with --precision fp32|bf16, or int8 except for training, and --max-tokens, and for training
// --batch, --steps, --seconds and
// --lora RANK, which trains adapters of all linear maps of the layers.
// `products` measures the limits: the rate of matrix products of the model's shapes, with the
// kernels that the encoder uses on this machine and with oneDNN; the rate of multiply-adds on
// registers; the rate of memory. A line of PAIRS is {"query": TEXT, "document": TEXT}. Training
// takes the pairs in order, `batch` a step (infonce, AdamW). It tokenises before the clock starts,
// and its first step does not count. Encoding encodes queries and documents, and its time includes
// tokenising.
//
// bench/speed.py runs this program and the same measurements of other tools, and compares.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json/json_reader.h"
#include "model/dual_encoder.h"
#include "objective/catalogue.h"
#include "objective/objective.h"
#include "objective/similarity.h"
#include "optim/optimizer.h"
#include "search/encode.h"
#include "tensor/core/make.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/products/products.h"
#include "tensor/machine/machine_rates.h"
#include "tensor/machine/precision.h"
#include "tensor/machine/process.h"
#include "tensor/profile/profile.h"
#include "train/profile/step_profile.h"
#include "weights/folders/model_folder.h"

namespace tandem {
namespace {

struct BenchOptions {
  std::string what;
  std::string model;
  std::string pairs;
  std::string precision = "fp32";
  int threads = 0;
  size_t batch = 64;
  size_t steps = 8;
  double seconds = 20;
  size_t max_tokens = 256;
  int64_t lora = 0;  // rank; 0: everything is trained
};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Texts {
  std::vector<std::string> queries;
  std::vector<std::string> documents;
};

Texts ReadPairs(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError(fmt::format("{} cannot be read", path));
  Texts texts;
  for (std::string line; std::getline(file, line);) {
    const Json pair = ParseJson(line);
    texts.queries.push_back(pair.at("query").get<std::string>());
    texts.documents.push_back(pair.at("document").get<std::string>());
  }
  return texts;
}

std::unique_ptr<model::DualEncoder> LoadModel(const BenchOptions& options,
                                              const model::TrainingOptions& training) {
  return model::DualEncoder::Load(options.model, {.max_query_tokens = options.max_tokens,
                                                  .max_document_tokens = options.max_tokens,
                                                  .training = training});
}

text::EncodedTexts Tokenize(const model::DualEncoder& model, const std::vector<std::string>& texts,
                            model::TextKind kind, size_t max_tokens) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return model.tokenizer(kind).EncodeAll(views, max_tokens, tensor::ThreadCount());
}

// The products of a layer, and the backward product of the first one, which is the widest.
std::vector<tensor::ProductShape> ProductShapes(const weights::EncoderSpec& spec) {
  const int64_t hidden = spec.hidden_size, inner = spec.intermediate_size;
  const int64_t mixed = spec.heads * spec.head_width;
  const int64_t mapped = mixed + 2 * spec.key_value_heads * spec.head_width;
  return {{hidden, mapped},
          {mixed, hidden},
          {hidden, spec.gated ? 2 * inner : inner},
          {inner, hidden},
          {mapped, hidden}};
}

// FLOPs of attention's two products in a forward pass over a text, of the pairs that it reads.
double AttentionFlops(const weights::EncoderSpec& spec, size_t length) {
  const auto n = static_cast<double>(length);
  double flops = 0;
  for (const weights::LayerSpec& layer : spec.layers) {
    const weights::AttentionSpec& attention = layer.attention;
    const double reach = attention.window > 0 ? static_cast<double>(attention.window) : n;
    // Pairs of a token and those behind it, itself included.
    const double behind = reach >= n ? n * (n + 1) / 2 : n * (reach + 1) - reach * (reach + 1) / 2;
    const double pairs = attention.causal ? behind : 2 * behind - n;
    flops += 4 * pairs * static_cast<double>(spec.heads * spec.head_width);
  }
  return flops;
}

Json Products(const BenchOptions& options) {
  const std::vector<tensor::ProductShape> shapes =
      ProductShapes(weights::ReadModelFolder(options.model).encoder);
  const tensor::Precision precision = tensor::ResolvePrecision(options.precision);
  return {{"flops_per_second", tensor::ProductRate(shapes, precision)},
          {"library_flops_per_second",
           tensor::ProductRate(shapes, precision, tensor::cpu::Multiplier::kOneDnn)},
          {"arithmetic_flops_per_second", tensor::ArithmeticRate(precision)},
          {"memory_bytes_per_second", tensor::MemoryRate()},
          {"library", tensor::cpu::ProductLibraryVersion()}};
}

// Makes one training step on the `batch` pairs that begin at `first`; returns how many tokens.
int64_t TrainStep(model::DualEncoder& model, optim::Optimizer& optimizer,
                  const objective::Objective& objective, const text::EncodedTexts& queries,
                  const text::EncodedTexts& documents, size_t first, const BenchOptions& options) {
  std::vector<std::span<const int32_t>> texts;
  for (size_t i = 0; i < options.batch; ++i) texts.push_back(queries[first + i]);
  for (size_t i = 0; i < options.batch; ++i) texts.push_back(documents[first + i]);
  const tensor::PackedTokens tokens = tensor::Pack(texts);
  const tensor::Precision precision = tensor::ResolvePrecision(options.precision);
  model.Prepare(model::TextKind::kQuery, precision, tensor::Passes::kForward);
  const tensor::Tensor rows =
      model.Encode(tokens, model::TextKind::kQuery,
                   {.precision = precision, .training = true, .seed = 1, .step = first});
  const auto count = static_cast<int64_t>(options.batch);
  objective::Labels labels;
  labels.positive = tensor::Arange(count, tensor::kLong);
  labels.negative = tensor::Full({count, count}, 1, tensor::kBool);
  for (int64_t i = 0; i < count; ++i) labels.negative.data_ptr<bool>()[i * count + i] = false;
  const objective::Scores scores =
      objective::SimilarityScores(rows.narrow(0, 0, count), rows.narrow(0, count, count), "cosine");
  const tensor::Tensor loss = objective.Evaluate(scores, labels).value;
  model.Prepare(model::TextKind::kQuery, precision, tensor::Passes::kBackward);
  loss.backward();
  optimizer.Step(2e-5, 1.0);
  for (const model::NamedParameter& parameter : model.Parameters()) {
    parameter.value.set_grad(tensor::Tensor());
  }
  return tokens.tokens();
}

Json Training(const BenchOptions& options) {
  model::TrainingOptions training;
  if (options.lora > 0) {
    training = {.what = model::Trained::kLora, .lora = {.rank = options.lora}};
  }
  const auto model = LoadModel(options, training);
  const Texts texts = ReadPairs(options.pairs);
  const text::EncodedTexts queries =
      Tokenize(*model, texts.queries, model::TextKind::kQuery, options.max_tokens);
  const text::EncodedTexts documents =
      Tokenize(*model, texts.documents, model::TextKind::kDocument, options.max_tokens);
  optim::Optimizer optimizer(optim::kAdamW, model::TrainedOf(model->Parameters()));
  const auto objective =
      objective::MakeObjective("infonce", config::Params(objective::kInfoNce.params));
  double start = 0;
  int64_t tokens = 0;
  size_t step = 0;
  for (; (step + 1) * options.batch <= texts.queries.size() && step <= options.steps; ++step) {
    if (step == 1) start = Now();  // the first step warms up
    if (step > 2 && Now() - start > options.seconds) break;
    const int64_t done =
        TrainStep(*model, optimizer, *objective, queries, documents, step * options.batch, options);
    if (step > 0) tokens += done;
  }
  if (step < 2) {
    throw UsageError(fmt::format("{} has {} pairs; this needs at least two batches of {}",
                                 options.pairs, texts.queries.size(), options.batch));
  }
  return {{"seconds", Now() - start},
          {"tokens", tokens},
          {"steps", step - 1},
          // Frozen weights have no gradient; the adapters' own products do not count.
          {"flops_per_token", (options.lora > 0 ? 2 : 3) * model->flops_per_token()}};
}

double AttentionFlopsOf(const model::DualEncoder& model, const std::vector<std::string>& texts,
                        const BenchOptions& options) {
  const weights::EncoderSpec spec = weights::ReadModelFolder(options.model).encoder;
  const text::EncodedTexts encoded =
      Tokenize(model, texts, model::TextKind::kDocument, options.max_tokens);
  double flops = 0;
  for (size_t b = 0; b < encoded.size(); ++b) flops += AttentionFlops(spec, encoded[b].size());
  return flops;
}

Json Encoding(const BenchOptions& options, train::StepProfile* profile) {
  const auto model = LoadModel(options, {.what = model::Trained::kNothing});
  Texts pairs = ReadPairs(options.pairs);
  std::vector<std::string> texts = std::move(pairs.queries);
  texts.insert(texts.end(), pairs.documents.begin(), pairs.documents.end());
  const auto encode = [&](size_t count) {
    return search::EncodeTexts(
        *model, model::TextKind::kDocument, count,
        [&](size_t i) { return std::string_view(texts[texts.size() - 1 - i]); },
        {.precision = tensor::ResolvePrecision(options.precision),
         .threads = tensor::ThreadCount()},
        [](size_t, const tensor::Tensor&) {});
  };
  encode(std::min<size_t>(texts.size(), 128));  // warms up
  const double start = Now();
  search::EncodeCounts counts;
  {
    const tensor::ActiveProfile active(profile ? &profile->operations : nullptr);
    const tensor::ProfileScope scope("everything else");
    counts = encode(texts.size());
  }
  const double seconds = Now() - start;
  if (profile) {
    profile->steps = 1;
    profile->tokens = counts.tokens;
  }
  return {{"seconds", seconds},
          {"tokens", counts.tokens},
          {"attention_flops", AttentionFlopsOf(*model, texts, options)},
          {"texts", texts.size()},
          {"flops_per_token", model->flops_per_token()}};
}

void PrintProfile(const BenchOptions& options) {
  train::StepProfile profile;
  const Json result = Encoding(options, &profile);
  const train::ProfileSetting setting =
      train::MeasureSetting(profile, tensor::ResolvePrecision(options.precision),
                            result.at("flops_per_token").get<double>());
  fmt::print("{}", train::FormatProfile(profile, setting, "text", {.columns = 110}));
}

void Run(const BenchOptions& options) {
  tensor::SetUpProcess(options.threads);
  if (options.what == "profile") return PrintProfile(options);
  Json result = options.what == "products"   ? Products(options)
                : options.what == "training" ? Training(options)
                                             : Encoding(options, nullptr);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  result["peak_bytes"] = 1024 * usage.ru_maxrss;
  result["isa"] = tensor::IsaName();
  result["threads"] = tensor::ThreadCount();
  fmt::print("{}\n", result.Dump());
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  CLI::App app("Speed and peak memory of training or encoding, or the machine's product rate");
  tandem::BenchOptions options;
  app.add_option("what", options.what, "products, training, encoding or profile")
      ->required()
      ->check(CLI::IsMember({"products", "training", "encoding", "profile"}));
  app.add_option("model", options.model, "Model folder")->required();
  app.add_option("pairs", options.pairs, "JSON lines of query and document");
  app.add_option("--precision", options.precision, "fp32 or bf16")->capture_default_str();
  app.add_option("--threads", options.threads, "0: all that the machine gives")
      ->capture_default_str();
  app.add_option("--batch", options.batch, "Pairs a step")->capture_default_str();
  app.add_option("--steps", options.steps, "At most so many training steps count")
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "No further step after so long, but at least two")
      ->capture_default_str();
  app.add_option("--max-tokens", options.max_tokens, "Length limit")->capture_default_str();
  app.add_option("--lora", options.lora,
                 "Rank of adapters that are trained alone; 0: everything is")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    tandem::Run(options);
  } catch (const tandem::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  }
  return 0;
}
