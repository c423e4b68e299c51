// RoBERTa (Liu et al. 2019) and its kin, as transformers' RobertaModel, XLMRobertaModel and
// CamembertModel compute them: BERT with positions that begin behind the row of the padding token.
// A padding token inside a text takes no position. Differs: in training its rows of the tables have
// gradients, which transformers leaves out.
#include "weights/families/bert_family.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

constexpr IntegerKey kPadding{
    "pad_token_id",
    "its row of the position table precedes that of position 0; in a text it takes no position", 0,
    kMaxSize, 1};

std::vector<ConfigKey> Keys() {
  const std::span<const ConfigKey> shared = BertFamilyKeys();
  std::vector<ConfigKey> keys(shared.begin(), shared.end());
  keys.emplace_back(&kPadding);
  return keys;
}

constexpr std::string_view kModelTypes[] = {"roberta", "xlm-roberta", "camembert"};
constexpr std::string_view kPrefixes[] = {"roberta."};

}  // namespace

extern const Architecture kRoberta{
    .name = "roberta",
    .summary =
        "BERT with other positions: RoBERTa, XLM-RoBERTa (multilingual E5, BGE-M3), CamemBERT",
    .source = "Liu et al. 2019; Conneau et al. 2020; Martin et al. 2020",
    .tokenizers = "byte-level BPE (RoBERTa), Unigram (XLM-RoBERTa, CamemBERT)",
    .model_types = kModelTypes,
    .prefixes = kPrefixes,
    .keys =
        [] {
          static const std::vector<ConfigKey> keys = Keys();
          return std::span<const ConfigKey>(keys);
        },
    .read =
        [](const Settings& config) {
          const int64_t padding = Read(config, kPadding);
          EncoderSpec spec = ReadBertFamily(config, {.position_offset = padding + 1});
          spec.embedding.unplaced_id = static_cast<int32_t>(padding);
          return spec;
        },
};

}  // namespace tandem::weights
