#include "model/encoders/transformer.h"

#include <fmt/format.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/encoders/rotary_tables.h"
#include "model/encoders/transformer_layer.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/fused/adapted_ops.h"
#include "tensor/ops.h"

namespace tandem::model {
namespace {

using tensor::Dropout;
using tensor::Linear;
using tensor::Norm;
using weights::EncoderSpec;

// Each place of dropout has a number of its own: 0 for the embeddings, then three for each layer.
// Places that only some architectures have follow after all layers.
constexpr uint32_t kEmbeddingSite = 0;
enum LayerSite : uint32_t {
  kAttentionSite,
  kAttentionOutputSite,
  kFeedForwardSite,
  kSitesPerLayer
};
constexpr uint32_t kFinalSite = uint32_t{1} << 24;
constexpr uint32_t kFirstInnerSite = kFinalSite + 1;
constexpr uint32_t kFirstAdapterSite = uint32_t{1} << 25;  // four for each layer

uint32_t SiteOf(size_t layer, LayerSite site) {
  return 1 + static_cast<uint32_t>(layer) * kSitesPerLayer + site;
}

struct DropoutRates {
  double embedding, attention, attention_output, feed_forward_output, inner, final;

  static DropoutRates Of(const weights::DropoutSpec& spec, const std::optional<double>& wanted) {
    const auto rate = [&](const std::optional<double>& own) {
      return own ? wanted.value_or(*own) : 0.0;
    };
    return {.embedding = rate(spec.embedding),
            .attention = rate(spec.attention),
            .attention_output = rate(spec.attention_output),
            .feed_forward_output = rate(spec.feed_forward_output),
            .inner = rate(spec.inner),
            .final = rate(spec.final)};
  }
};

// The word table's rows of these tokens as a table of its own, and ids into that: a frozen table
// may have a type that operations do not read.
std::pair<tensor::PackedTokens, tensor::EmbeddingTables> Gathered(
    const tensor::PackedTokens& tokens, const tensor::EmbeddingTables& tables) {
  std::pair<tensor::PackedTokens, tensor::EmbeddingTables> gathered{tokens, tables};
  gathered.second.word = tensor::TakeRows(tables.word, tokens.ids).to(tensor::kFloat);
  gathered.first.host_ids = tensor::Arange(tokens.tokens(), tensor::kInt);
  gathered.first.ids = tensor::MovedTo(gathered.first.host_ids, tokens.ids.device());
  return gathered;
}

// The rows of the position table that the tokens read where those of one id take no position, as
// transformers numbers them for RoBERTa (create_position_ids_from_input_ids): the id's own row for
// these, which precedes that of position 0, and for another one after it as many rows as its text
// has tokens of other ids up to it. int32 [T].
tensor::Tensor RowsOfPlaced(const tensor::PackedTokens& tokens, int32_t unplaced_id) {
  const tensor::Tensor ids = tokens.HostIds(), starts = tokens.HostStarts();
  const tensor::Tensor rows = tensor::Empty({tokens.tokens()}, tensor::kInt);
  const auto *id = ids.data_ptr<int32_t>(), *start = starts.data_ptr<int32_t>();
  auto* row = rows.data_ptr<int32_t>();
  for (int64_t b = 0; b < tokens.texts(); ++b) {
    int32_t placed = 0;  // tokens of this text up to here
    for (int32_t t = start[b]; t < start[b + 1]; ++t) {
      const bool counts = id[t] != unplaced_id;
      if (counts) ++placed;
      row[t] = counts ? unplaced_id + placed : unplaced_id;
    }
  }
  return tensor::MovedTo(rows, tokens.ids.device());
}

tensor::LayerNorm AsLayerNorm(const Norm& norm) { return {norm.gamma, norm.beta, norm.epsilon}; }

class Transformer final : public Encoder {
 public:
  Transformer(const EncoderSpec& spec, const std::optional<double>& dropout,
              const TensorSource& tensors, const AdapterPlan& adapters)
      : spec_(spec),
        rates_(DropoutRates::Of(spec.dropout, dropout)),
        shape_{spec.heads, spec.key_value_heads, spec.head_width} {
    ParameterReader reader(tensors, spec_);
    tables_.word = reader.ReadTable(spec_.embedding.word);
    tables_.position = reader.ReadTable(spec_.embedding.position);
    tables_.type = reader.ReadTable(spec_.embedding.type);
    // RowsOfPlaced numbers the table's rows themselves.
    if (!spec_.embedding.unplaced_id) tables_.position_offset = spec_.embedding.position_offset;
    embedding_norm_ = reader.ReadNorm(spec_.embedding.norm);
    if (spec_.relative_bias) {
      relative_bias_ = {reader.ReadTable(spec_.relative_bias->name + ".weight"),
                        spec_.relative_bias->max_distance};
    }
    for (const weights::LayerSpec& layer : spec_.layers) {
      layers_.push_back(ReadLayer(&reader, spec_, layer));
    }
    final_norm_ = reader.ReadNorm(spec_.final_norm);
    for (const weights::RotarySpec& rotary : spec_.rotaries) rotaries_.emplace_back(rotary);
    parameters_ = reader.parameters();
    AddAdapters(adapters);
  }

  void To(tensor::Device device) override {
    MoveParameters(parameters_, device);
    for (TransformerLayer& layer : layers_) {
      for (Linear* linear : LinearsOf(layer)) linear->Moved();
    }
  }

  void Prepare(tensor::Precision precision, tensor::Passes passes) override {
    if (precision == tensor::Precision::kInt8 && !tables_.word.is_cpu()) {
      throw UsageError(
          "precision int8 is for encoding on the CPU; on another device encode with fp32 or bf16");
    }
    const tensor::cpu::Type type = ActivationPrecision(precision) == tensor::Precision::kBf16
                                       ? tensor::cpu::Type::kBf16
                                       : tensor::cpu::Type::kFloat;
    const bool int8 = precision == tensor::Precision::kInt8;
    for (TransformerLayer& layer : layers_) {
      for (Linear* linear : LinearsOf(layer)) {
        linear->Prepare(type, passes,
                        int8 ? tensor::cpu::Multiplier::kInt8 : tensor::cpu::Multiplier::kFastest);
      }
    }
    int8_ = int8;
  }

  tensor::Tensor Forward(const tensor::PackedTokens& tokens,
                         const ForwardOptions& options) const override {
    if ((options.precision == tensor::Precision::kInt8) != int8_) {
      throw std::logic_error("a pass has another precision than the encoder was prepared for");
    }
    const tensor::DType activation = ActivationType(options.precision);
    const std::vector<tensor::Rotary> rotaries = RotariesFor(tokens);
    std::optional<tensor::AdapterDropout> adapter_dropout;
    if (options.training) adapter_dropout.emplace(tokens, options.seed, options.step);
    const Pass pass{tokens, options, rotaries};
    tensor::Tensor x = Embedded(pass, activation);
    for (size_t i = 0; i < layers_.size(); ++i) {
      x = spec_.pre_norm ? PreNormLayer(pass, i, x) : PostNormLayer(pass, i, x);
    }
    if (!final_norm_.defined() && rates_.final == 0) return x;
    return tensor::Normalize(x, final_norm_, tokens, Drop(options, rates_.final, kFinalSite));
  }

  std::vector<NamedParameter> Parameters() override { return parameters_; }
  std::vector<AdaptedLinear> Adapters() const override { return adapters_; }
  void PackFrozenOnUse() override {
    const auto buffers = std::make_shared<tensor::PackBuffers>();
    for (TransformerLayer& layer : layers_) {
      int slot = 0;
      for (Linear* linear : LinearsOf(layer)) {
        ++slot;
        if (!linear->weights().front().requires_grad()) linear->PackOnUse(buffers, slot);
      }
    }
  }
  int64_t hidden_size() const override { return spec_.hidden_size; }
  int64_t vocabulary_size() const override { return spec_.vocabulary_size; }
  int64_t max_positions() const override { return spec_.max_positions; }
  double flops_per_token() const override {
    double flops = 0;
    for (const TransformerLayer& layer : layers_) {
      for (const Linear* linear : {&layer.query_key_value, &layer.attention_output,
                                   &layer.feed_forward.up, &layer.feed_forward.down}) {
        flops += 2 * static_cast<double>(linear->in()) * static_cast<double>(linear->out());
      }
    }
    return flops;
  }

 private:
  // The data that all layers of a forward pass share.
  struct Pass {
    const tensor::PackedTokens& tokens;
    const ForwardOptions& options;
    const std::vector<tensor::Rotary>& rotaries;
  };

  static Dropout Drop(const ForwardOptions& options, double rate, uint32_t site) {
    return {.rate = options.training ? rate : 0,
            .seed = options.seed,
            .step = options.step,
            .site = site};
  }

  tensor::DType ActivationType(tensor::Precision precision) const {
    switch (ActivationPrecision(precision)) {
      case tensor::Precision::kBf16:
        return tensor::kBFloat16;
      case tensor::Precision::kFp16:
        return tensor::kHalf;
      case tensor::Precision::kFp32:
      case tensor::Precision::kTf32:
      case tensor::Precision::kInt8:
        break;
    }
    return word_is_double() ? tensor::kDouble : tensor::kFloat;
  }

  bool word_is_double() const { return tables_.word.dtype() == tensor::kDouble; }

  void AddAdapters(const AdapterPlan& plan) {
    for (size_t i = 0; i < layers_.size(); ++i) {
      const auto specs = LinearsOf(spec_.layers[i]);
      const auto linears = LinearsOf(layers_[i]);
      for (size_t k = 0; k < linears.size(); ++k) {
        auto adapter = MakeAdapter(*specs[k], *linears[k], plan, &parameters_);
        if (!adapter) continue;
        adapter->site = kFirstAdapterSite + static_cast<uint32_t>(i * linears.size() + k);
        for (size_t part = 0; part < specs[k]->names.size(); ++part) {
          if (!adapter->down[part].defined()) continue;
          adapters_.push_back({specs[k]->names[part], adapter->down[part], adapter->up[part]});
        }
        linears[k]->Adapt(*std::move(adapter));
      }
    }
  }

  std::vector<tensor::Rotary> RotariesFor(const tensor::PackedTokens& tokens) const {
    std::vector<tensor::Rotary> rotaries;
    for (const RotaryTables& tables : rotaries_) {
      rotaries.push_back(tables.Upto(tokens.longest, tokens.positions.device()));
    }
    return rotaries;
  }

  tensor::Tensor Embedded(const Pass& pass, tensor::DType activation) const {
    tensor::PackedTokens tokens = pass.tokens;
    if (spec_.embedding.unplaced_id) {
      tokens.positions = RowsOfPlaced(tokens, *spec_.embedding.unplaced_id);
    }
    const tensor::DType stored = tables_.word.dtype();
    if (stored == tensor::kFloat || stored == tensor::kDouble) {
      return Embedded(pass, tokens, tables_, activation);
    }
    const auto [gathered, tables] = Gathered(tokens, tables_);
    return Embedded(pass, gathered, tables, activation);
  }

  tensor::Tensor Embedded(const Pass& pass, const tensor::PackedTokens& tokens,
                          const tensor::EmbeddingTables& tables, tensor::DType activation) const {
    const Dropout dropout = Drop(pass.options, rates_.embedding, kEmbeddingSite);
    if (embedding_norm_.defined()) {
      return tensor::EmbeddingNorm(tokens, tables, AsLayerNorm(embedding_norm_), dropout,
                                   activation);
    }
    return tensor::Embed(tokens, tables, spec_.embedding.scale, dropout, activation);
  }

  // Attention over the columns of `mapped`, before its output map.
  tensor::Tensor Mixed(const Pass& pass, size_t index, const tensor::Tensor& mapped) const {
    const TransformerLayer& layer = layers_[index];
    const weights::AttentionSpec& attention = layer.attention;
    const bool turns = attention.rotary >= 0;
    tensor::Tensor qkv = mapped;
    if (turns || layer.query_norm.defined()) {
      const tensor::Rotary rotary =
          turns ? pass.rotaries[static_cast<size_t>(attention.rotary)] : tensor::Rotary{};
      qkv = tensor::RotateHeads(mapped, pass.tokens, shape_, layer.query_norm, layer.key_norm,
                                rotary);
    }
    return tensor::Attention(
        qkv, pass.tokens, shape_,
        {attention.scale, attention.causal, attention.window, attention.soft_cap}, relative_bias_,
        Drop(pass.options, rates_.attention, SiteOf(index, kAttentionSite)));
  }

  tensor::Tensor PostNormLayer(const Pass& pass, size_t index, const tensor::Tensor& x) const {
    const TransformerLayer& layer = layers_[index];
    const tensor::AffineResult mapped = tensor::Affine(x, layer.query_key_value);
    const tensor::Tensor mixed = Mixed(pass, index, mapped.out);
    const tensor::Tensor attended = tensor::AffineNorm(
        mixed, mapped.x, layer.attention_output, AsLayerNorm(layer.attention_norm), pass.tokens,
        Drop(pass.options, rates_.attention_output, SiteOf(index, kAttentionOutputSite)));
    return tensor::FeedForwardNorm(
        attended, layer.feed_forward.up, layer.feed_forward.down, layer.feed_forward.activation,
        AsLayerNorm(layer.feed_forward.norm), pass.tokens,
        Drop(pass.options, rates_.feed_forward_output, SiteOf(index, kFeedForwardSite)));
  }

  tensor::Tensor PreNormLayer(const Pass& pass, size_t index, const tensor::Tensor& x) const {
    const TransformerLayer& layer = layers_[index];
    const tensor::AffineResult mapped =
        layer.attention_norm.defined()
            ? tensor::NormAffine(x, layer.attention_norm, layer.query_key_value)
            : tensor::Affine(x, layer.query_key_value);
    const tensor::Tensor attended = tensor::AffineAdd(
        Mixed(pass, index, mapped.out), mapped.x, layer.attention_output,
        layer.attention_output_norm, pass.tokens,
        Drop(pass.options, rates_.attention_output, SiteOf(index, kAttentionOutputSite)));
    return tensor::FeedForwardAdd(
        attended, layer.feed_forward, pass.tokens,
        Drop(pass.options, rates_.inner, kFirstInnerSite + static_cast<uint32_t>(index)),
        Drop(pass.options, rates_.feed_forward_output, SiteOf(index, kFeedForwardSite)));
  }

  EncoderSpec spec_;
  DropoutRates rates_;
  tensor::HeadShape shape_;
  std::atomic<bool> int8_ = false;  // whether the weights were last prepared for kInt8
  tensor::EmbeddingTables tables_;
  Norm embedding_norm_;
  tensor::RelativeBias relative_bias_;
  std::vector<TransformerLayer> layers_;
  Norm final_norm_;
  std::vector<RotaryTables> rotaries_;
  std::vector<NamedParameter> parameters_;
  std::vector<AdaptedLinear> adapters_;
};

}  // namespace

std::unique_ptr<Encoder> MakeTransformer(const weights::EncoderSpec& spec,
                                         const std::optional<double>& dropout,
                                         const TensorSource& tensors, const AdapterPlan& adapters) {
  return std::make_unique<Transformer>(spec, dropout, tensors, adapters);
}

}  // namespace tandem::model
