#include "model/bert.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "tensor/ops.h"

namespace tandem::model {
namespace {

using tensor::Dropout;
using tensor::LayerNorm;
using tensor::Linear;

// Each place of dropout has a number of its own: 0 for the embeddings, then three for each layer.
constexpr uint32_t kEmbeddingSite = 0;
enum LayerSite : uint32_t {
  kAttentionSite,
  kAttentionOutputSite,
  kFeedForwardSite,
  kSitesPerLayer
};

uint32_t SiteOf(size_t layer, LayerSite site) {
  return 1 + static_cast<uint32_t>(layer) * kSitesPerLayer + site;
}

struct BertLayer {
  Linear query_key_value;
  Linear attention_output;
  LayerNorm attention_norm;
  Linear up;
  Linear down;
  LayerNorm output_norm;
};

// Reads tensors by name and remembers them as parameters.
class ParameterReader {
 public:
  ParameterReader(const TensorSource& source, double epsilon)
      : source_(source), epsilon_(epsilon) {}

  at::Tensor Read(const std::string& name, bool decay) {
    at::Tensor value = source_(name);
    parameters_.push_back({name, value, decay});
    return value;
  }
  Linear ReadLinear(const std::vector<std::string>& names) {
    std::vector<at::Tensor> weights, biases;
    for (const std::string& name : names) weights.push_back(Read(name + ".weight", true));
    for (const std::string& name : names) biases.push_back(Read(name + ".bias", false));
    return {std::move(weights), std::move(biases)};
  }
  LayerNorm ReadNorm(const std::string& name) {
    const at::Tensor gamma = Read(name + ".weight", false);
    return {gamma, Read(name + ".bias", false), epsilon_};
  }
  std::vector<NamedParameter> parameters() const { return parameters_; }

 private:
  const TensorSource& source_;
  double epsilon_;
  std::vector<NamedParameter> parameters_;
};

BertLayer ReadLayer(ParameterReader* reader, int64_t index) {
  const std::string layer = fmt::format("encoder.layer.{}.", index);
  const std::string self = layer + "attention.self.";
  return {.query_key_value = reader->ReadLinear({self + "query", self + "key", self + "value"}),
          .attention_output = reader->ReadLinear({layer + "attention.output.dense"}),
          .attention_norm = reader->ReadNorm(layer + "attention.output.LayerNorm"),
          .up = reader->ReadLinear({layer + "intermediate.dense"}),
          .down = reader->ReadLinear({layer + "output.dense"}),
          .output_norm = reader->ReadNorm(layer + "output.LayerNorm")};
}

class Bert final : public Encoder {
 public:
  Bert(const weights::EncoderConfig& config, const BertDropout& dropout,
       const TensorSource& tensors)
      : config_(config), dropout_(dropout) {
    ParameterReader reader(tensors, config.layer_norm_epsilon);
    tables_.word = reader.Read("embeddings.word_embeddings.weight", true);
    tables_.position = reader.Read("embeddings.position_embeddings.weight", true);
    tables_.type = reader.Read("embeddings.token_type_embeddings.weight", true);
    embedding_norm_ = reader.ReadNorm("embeddings.LayerNorm");
    for (int64_t i = 0; i < config.layers; ++i) layers_.push_back(ReadLayer(&reader, i));
    parameters_ = reader.parameters();
  }

  void Prepare(tensor::Precision precision, tensor::Passes passes) override {
    const tensor::cpu::Type type = precision == tensor::Precision::kBf16
                                       ? tensor::cpu::Type::kBf16
                                       : tensor::cpu::Type::kFloat;
    for (BertLayer& layer : layers_) {
      for (Linear* linear :
           {&layer.query_key_value, &layer.attention_output, &layer.up, &layer.down}) {
        linear->Prepare(type, passes);
      }
    }
  }

  at::Tensor Forward(const tensor::PackedTokens& tokens,
                     const ForwardOptions& options) const override {
    const at::ScalarType activation =
        options.precision == tensor::Precision::kBf16 ? at::kBFloat16 : tables_.word.scalar_type();
    const double hidden = dropout_.hidden;
    at::Tensor x = tensor::EmbeddingNorm(tokens, tables_, embedding_norm_,
                                         Drop(options, hidden, kEmbeddingSite), activation);
    for (size_t i = 0; i < layers_.size(); ++i) {
      const BertLayer& layer = layers_[i];
      const tensor::AffineResult mapped = tensor::Affine(x, layer.query_key_value);
      const at::Tensor mixed =
          tensor::SelfAttention(mapped.out, tokens, config_.heads,
                                Drop(options, dropout_.attention, SiteOf(i, kAttentionSite)));
      x = tensor::AffineNorm(mixed, mapped.x, layer.attention_output, layer.attention_norm, tokens,
                             Drop(options, hidden, SiteOf(i, kAttentionOutputSite)));
      x = tensor::FeedForwardNorm(x, layer.up, layer.down, tensor::Activation::kGelu,
                                  layer.output_norm, tokens,
                                  Drop(options, hidden, SiteOf(i, kFeedForwardSite)));
    }
    return x;
  }

  std::vector<NamedParameter> Parameters() override { return parameters_; }
  int64_t hidden_size() const override { return config_.hidden_size; }
  int64_t vocabulary_size() const override { return config_.vocabulary_size; }
  int64_t max_positions() const override { return config_.max_positions; }
  double flops_per_token() const override {
    const auto hidden = static_cast<double>(config_.hidden_size);
    const auto inner = static_cast<double>(config_.intermediate_size);
    return static_cast<double>(config_.layers) * 2 * (4 * hidden * hidden + 2 * hidden * inner);
  }

 private:
  static Dropout Drop(const ForwardOptions& options, double rate, uint32_t site) {
    return {.rate = options.training ? rate : 0,
            .seed = options.seed,
            .step = options.step,
            .site = site};
  }

  weights::EncoderConfig config_;
  BertDropout dropout_;
  tensor::EmbeddingTables tables_;
  LayerNorm embedding_norm_;
  std::vector<BertLayer> layers_;
  std::vector<NamedParameter> parameters_;
};

}  // namespace

std::unique_ptr<Encoder> MakeBert(const weights::EncoderConfig& config, const BertDropout& dropout,
                                  const TensorSource& tensors) {
  if (config.activation != "gelu") {
    throw ModelError(
        "config.json", "",
        fmt::format("hidden_act is {}; for BERT, gelu is supported", config.activation));
  }
  return std::make_unique<Bert>(config, dropout, tensors);
}

}  // namespace tandem::model
