#include "text/tokenizer_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_problem.h"
#include "text/json_view.h"
#include "text/stage_readers.h"

namespace tandem::text {
namespace {

// The package gives a token that the model does not have the next free id, whatever the file says;
// a file that says otherwise would mean other embeddings here and there.
class AddedIds {
 public:
  explicit AddedIds(const Vocabulary& vocabulary)
      : next_(static_cast<int64_t>(vocabulary.count())) {}

  // `own` is the id that the model has for the token, or -1.
  void Check(const JsonView& token, int64_t id, int64_t own) {
    const int64_t expected = own >= 0 ? own : next_;
    if (id != expected) {
      token.Fail(fmt::format("\"{}\" has id {}; expected {}, {}", token.Member("content").String(),
                             id, expected,
                             own >= 0 ? "its id in the vocabulary" : "the next one that is free"));
    }
    next_ = std::max(next_, id + 1);
  }

 private:
  int64_t next_;
};

AddedToken ReadAddedToken(const JsonView& view) {
  AddedToken token;
  token.content = view.Member("content").String();
  const int64_t id = view.Member("id").Integer();
  if (id < 0 || id > Vocabulary::kMaxId) {
    view.Fail(fmt::format("id {} is out of range; expected 0 to {}", id, Vocabulary::kMaxId));
  }
  token.id = static_cast<int32_t>(id);
  token.single_word = view.Member("single_word").Boolean();
  token.lstrip = view.Member("lstrip").Boolean();
  token.rstrip = view.Member("rstrip").Boolean();
  token.normalized = view.Member("normalized").Boolean();
  token.special = view.Member("special").Boolean();
  return token;
}

std::vector<AddedToken> ReadAddedTokens(const JsonView& root, const SubwordModel& model,
                                        Vocabulary* vocabulary) {
  std::vector<AddedToken> tokens;
  std::set<std::string> seen;
  AddedIds ids(*vocabulary);
  const std::optional<JsonView> list = root.Find("added_tokens");
  if (!list) return tokens;
  list->ForEachElement([&](const JsonView& view) {
    AddedToken token = ReadAddedToken(view);
    if (token.content.empty()) return;  // as the package does
    if (!seen.insert(token.content).second) {
      view.Fail(fmt::format("\"{}\" is added twice", token.content));
    }
    const int32_t own = model.Find(token.content);
    ids.Check(view, token.id, own);
    if (own < 0) vocabulary->Add(token.content, token.id);
    tokens.push_back(std::move(token));
  });
  return tokens;
}

void CheckSpecialTokens(const SpecialTokens& tokens, size_t vocabulary_size,
                        const std::string& file) {
  std::vector<int32_t> special = tokens.before;
  special.insert(special.end(), tokens.after.begin(), tokens.after.end());
  for (const PairPiece& piece : tokens.pair.pieces) special.push_back(piece.id);
  for (const int32_t id : special) {
    if (static_cast<size_t>(id) < vocabulary_size) continue;
    throw ModelError(file, "",
                     fmt::format("post_processor: id {} is not in the vocabulary, "
                                 "whose largest id is {}",
                                 id, vocabulary_size - 1));
  }
}

}  // namespace

TokenizerStages ReadTokenizerJson(std::string_view json, const std::string& file,
                                  const TokenizerOptions& options) {
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  const simdjson::padded_string padded(json);
  if (const auto error = parser.parse(padded).get(element); error != simdjson::SUCCESS) {
    throw ModelError(file, "", JsonProblem(json));
  }
  const JsonView root(element, file, "");
  if (const auto version = root.Find("version"); version && version->String() != "1.0") {
    version->Fail(fmt::format("expected \"1.0\", found \"{}\"", version->String()));
  }
  std::unique_ptr<const Normalizer> normalizer = ReadNormalizer(root.Find("normalizer"), options);
  const std::optional<JsonView> words = root.Find("pre_tokenizer");
  const JsonView model_view = root.Member("model");
  const bool bytes = EndsWithByteLevel(words) && ModelType(model_view) == "BPE";
  std::unique_ptr<const PreTokenizer> pre_tokenizer = ReadPreTokenizer(words, bytes);
  SpecialTokens special = ReadPostProcessor(root.Find("post_processor"));
  Vocabulary vocabulary(file);
  std::unique_ptr<const SubwordModel> model = ReadModel(model_view, bytes, &vocabulary);
  const std::vector<AddedToken> added = ReadAddedTokens(root, *model, &vocabulary);
  CheckSpecialTokens(special, vocabulary.size(), file);
  AddedTokens matchers = AddedTokens::Make(added, *normalizer, file);
  return {std::move(normalizer), std::move(pre_tokenizer), std::move(model),
          std::move(matchers),   std::move(special),       std::move(vocabulary)};
}

}  // namespace tandem::text
