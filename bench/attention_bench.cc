// Measures attention of one shape, forward and backward, against the rate of matrix products of
// this machine, and prints one line of JSON for each length:
//
//   attention_bench --heads 12 --width 64 --window 64 --lengths 512,1024,2048,4096,8192
//
// FLOPs are those of attention's own products over the pairs of tokens that the rule lets be read:
// two products forward, five backward. Each length is measured with so many texts that a pass has
// at least --tokens tokens. The fastest of several passes counts. --self measures SelfAttention,
// which has no rule, instead.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json/json.h"
#include "base/random.h"
#include "tensor/core/make.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/machine_rates.h"
#include "tensor/machine/precision.h"
#include "tensor/machine/process.h"
#include "tensor/ops.h"
#include "tensor/packed_tokens.h"
#include "tensor/profile/profile.h"

namespace tandem {
namespace {

struct BenchOptions {
  std::vector<int64_t> lengths = {128, 512, 2048, 8192};
  tensor::HeadShape shape{12, 0, 64};
  tensor::AttentionRule rule;
  int64_t buckets = 0;
  double dropout = 0;
  int64_t tokens = 8192;
  std::string precision = "fp32";
  int threads = 0;
  int passes = 4;
  bool forward_only = false;
  bool self = false;
  bool cpu_time = false;
};

tensor::PackedTokens TextsOf(int64_t length, int64_t texts) {
  const std::vector<int32_t> ids(static_cast<size_t>(length), 0);
  return tensor::Pack(std::vector<std::span<const int32_t>>(static_cast<size_t>(texts), ids));
}

// Independent numbers of mean 0 and variance 1.
tensor::Tensor RandomValues(const tensor::Shape& shape, tensor::DType type, const char* purpose) {
  RandomStream stream({.seed = 1, .purpose = purpose});
  const tensor::Tensor values = tensor::Empty(shape, tensor::kFloat);
  auto* to = values.data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    to[i] = static_cast<float>(std::sqrt(3.0) * (2 * stream.Uniform() - 1));
  }
  return values.to(type);
}

double Seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The fastest of several runs of one pass, and its work.
struct Fastest {
  double seconds = 1e30;
  double flops = 0;

  template <typename Body>
  void Time(clockid_t clock, const Body& body) {
    tensor::Profile profile;
    const tensor::ActiveProfile active(&profile);
    const double start = Seconds(clock);
    body();
    seconds = std::min(seconds, Seconds(clock) - start);
    flops = profile.operations().at(0).work.flops;
  }
  Json Figures(int64_t tokens, double rate) const {
    const double speed = flops / seconds;
    return {{"us_per_token", std::round(1e9 * seconds / static_cast<double>(tokens)) / 1e3},
            {"gflops_per_second", std::round(speed / 1e9)},
            {"share_of_products", std::round(1000 * speed / rate) / 1000}};
  }
};

Json Measure(const BenchOptions& options, int64_t length, double rate) {
  const int64_t texts = std::max<int64_t>(1, options.tokens / length);
  const tensor::PackedTokens tokens = TextsOf(length, texts);
  const tensor::DType type = options.precision == "fp32" ? tensor::kFloat : tensor::kBFloat16;
  const tensor::Tensor qkv =
      RandomValues({tokens.tokens(), options.shape.qkv_width()}, type, "qkv");
  const tensor::Tensor grad =
      RandomValues({tokens.tokens(), options.shape.out_width()}, type, "gradient");
  tensor::RelativeBias bias;
  if (options.buckets > 0) {
    bias.table = RandomValues({options.buckets, options.shape.heads}, tensor::kFloat, "bias");
    bias.table.set_requires_grad(!options.forward_only);
  }
  qkv.set_requires_grad(!options.forward_only);
  const tensor::Dropout dropout{.rate = options.dropout, .seed = 1, .step = 1, .site = 1};
  const clockid_t clock = options.cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  Fastest forward, backward;
  for (int pass = 0; pass < options.passes; ++pass) {
    tensor::Tensor out;
    forward.Time(clock, [&] {
      out = options.self
                ? tensor::SelfAttention(qkv, tokens, options.shape.heads, dropout)
                : tensor::Attention(qkv, tokens, options.shape, options.rule, bias, dropout);
    });
    if (!options.forward_only) backward.Time(clock, [&] { out.backward(grad); });
  }
  Json result = {{"length", length}, {"texts", texts}};
  result["forward"] = forward.Figures(tokens.tokens(), rate);
  if (!options.forward_only) result["backward"] = backward.Figures(tokens.tokens(), rate);
  return result;
}

void Run(BenchOptions options) {
  tensor::SetUpProcess(options.threads);
  if (options.shape.key_value_heads == 0) options.shape.key_value_heads = options.shape.heads;
  if (options.rule.scale == 0) {
    options.rule.scale = 1 / std::sqrt(static_cast<double>(options.shape.head_width));
  }
  const int64_t hidden = options.shape.out_width();
  const tensor::ProductShape shapes[] = {
      {hidden, options.shape.qkv_width()}, {hidden, hidden}, {hidden, 4 * hidden}};
  const double rate = tensor::ProductRate(shapes, tensor::ResolvePrecision(options.precision));
  fmt::print("{}\n", Json{{"isa", tensor::IsaName()},
                          {"threads", tensor::ThreadCount()},
                          {"product_gflops_per_second", std::round(rate / 1e9)}}
                         .Dump());
  for (const int64_t length : options.lengths) {
    fmt::print("{}\n", Measure(options, length, rate).Dump());
  }
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  CLI::App app("Speed of attention against that of matrix products");
  tandem::BenchOptions options;
  options.rule.scale = 0;
  app.add_option("--lengths", options.lengths, "Tokens of a text")->delimiter(',');
  app.add_option("--heads", options.shape.heads, "Query heads")->capture_default_str();
  app.add_option("--key-value-heads", options.shape.key_value_heads, "0: as many as query heads");
  app.add_option("--width", options.shape.head_width, "Channels of a head")->capture_default_str();
  app.add_option("--window", options.rule.window, "0: none")->capture_default_str();
  app.add_flag("--causal", options.rule.causal, "Only tokens up to the query's own");
  app.add_option("--scale", options.rule.scale, "0: 1 / sqrt(width)");
  app.add_option("--soft-cap", options.rule.soft_cap, "0: none")->capture_default_str();
  app.add_option("--buckets", options.buckets, "Of a relative bias; 0: none");
  app.add_option("--dropout", options.dropout, "Rate")->capture_default_str();
  app.add_option("--tokens", options.tokens, "At least so many in a pass")->capture_default_str();
  app.add_option("--precision", options.precision, "fp32 or bf16")->capture_default_str();
  app.add_option("--threads", options.threads, "0: all that the machine gives");
  app.add_option("--passes", options.passes, "The fastest counts")->capture_default_str();
  app.add_flag("--forward", options.forward_only, "No backward pass");
  app.add_flag("--cpu-time", options.cpu_time, "Processor time, for one thread on a busy machine");
  app.add_flag("--self", options.self, "SelfAttention");
  CLI11_PARSE(app, argc, argv);
  try {
    tandem::Run(options);
  } catch (const tandem::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  }
  return 0;
}
