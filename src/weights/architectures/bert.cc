// BERT (Devlin et al. 2019), as transformers' BertModel computes it: word, position and type
// embeddings, then layers of self-attention and feed-forward, each followed by
// LayerNorm(x + dropout(f(x))). The pooler is not part of it.
#include "weights/families/bert_family.h"

namespace tandem::weights {
namespace {

constexpr std::string_view kModelTypes[] = {"bert"};
constexpr std::string_view kPrefixes[] = {"bert."};

}  // namespace

extern const Architecture kBert{
    .name = "bert",
    .summary = "post-norm encoder with learned positions: MiniLM, BGE, E5, GTE",
    .source = "Devlin et al. 2019",
    .tokenizers = "WordPiece",
    .model_types = kModelTypes,
    .prefixes = kPrefixes,
    .keys = BertFamilyKeys,
    .read = [](const Settings& config) { return ReadBertFamily(config, {}); },
};

}  // namespace tandem::weights
