#include "text/load/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json/json_document.h"
#include "base/json/json_problem.h"
#include "text/load/finish_stages.h"
#include "text/load/json_view.h"
#include "text/load/stage_readers.h"

namespace tandem::text {
namespace {

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

std::vector<AddedToken> ReadAddedTokens(const JsonView& root) {
  std::vector<AddedToken> tokens;
  const std::optional<JsonView> list = root.Find("added_tokens");
  if (!list) return tokens;
  list->ForEachElement([&](const JsonView& view) { tokens.push_back(ReadAddedToken(view)); });
  return tokens;
}

// The package gives a token that the model does not have the next free id, whatever the file says;
// a file that says otherwise would mean other embeddings here and there.
void AddTokensOfFile(const JsonView& root, std::span<const AddedToken> tokens,
                     const SubwordModel& model, AddedVocabulary* vocabulary) {
  std::set<std::string> seen;
  size_t index = 0;
  const auto add = [&](const JsonView& view) {
    const AddedToken& token = tokens[index++];
    if (token.content.empty()) return;  // as the package does
    if (!seen.insert(token.content).second) {
      view.Fail(fmt::format("\"{}\" is added twice", token.content));
    }
    if (const int32_t expected = vocabulary->IdOf(token.content); token.id != expected) {
      view.Fail(fmt::format("\"{}\" has id {}; expected {}, {}", token.content, token.id, expected,
                            model.Find(token.content) >= 0 ? "its id in the vocabulary"
                                                           : "the next one that is free"));
    }
    vocabulary->Add({&token, 1});
  };
  if (const auto list = root.Find("added_tokens")) list->ForEachElement(add);
}

// A JSON document and what it was parsed from.
class Document {
 public:
  Document(std::string_view json, std::string file)
      : file_(std::move(file)), json_(Parsed(json, file_)) {}

  JsonView root() const { return {json_.root(), file_, ""}; }

 private:
  static JsonDocument Parsed(std::string_view json, const std::string& file) {
    try {
      auto document = JsonDocument::ParseStrictly(json, JsonDocument::kMostLevels);
      if (!document) throw JsonTextError(JsonProblem(json));
      return *std::move(document);
    } catch (const JsonTextError& error) {
      throw ModelError(file, "", error.what());
    }
  }

  std::string file_;
  JsonDocument json_;
};

// `direction` of the file's truncation; its length is the caller's.
bool TruncatesLeft(const JsonView& root) {
  const std::optional<JsonView> truncation = root.Find("truncation");
  const std::optional<JsonView> direction =
      truncation ? truncation->Find("direction") : std::nullopt;
  if (!direction || direction->String() == "Right") return false;
  if (direction->String() == "Left") return true;
  direction->Fail(fmt::format("expected \"Left\" or \"Right\", found \"{}\"", direction->String()));
}

// The first character map of SentencePiece, where transformers' classes look for it.
std::string_view CharacterMapOf(const JsonView& root) {
  const std::optional<JsonView> normalizer = root.Find("normalizer");
  if (!normalizer) return "";
  std::string_view found;
  const auto look = [&](const JsonView& stage) {
    if (!found.empty() || stage.Member("type").String() != "Precompiled") return;
    found = stage.Member("precompiled_charsmap").String();
  };
  if (normalizer->Member("type").String() == "Sequence") {
    normalizer->Member("normalizers").ForEachElement(look);
  } else {
    look(*normalizer);
  }
  return found;
}

// Finds `token` in a list of pieces and scores; 0 where it does not have it.
int64_t PlaceOf(const JsonView& model, const std::string& token) {
  int64_t place = 0, at = 0;
  bool found = false;
  for (const JsonElement entry : model.Member("vocab").Array()) {
    const std::optional<JsonElement> piece = found ? std::nullopt : entry.At(0);
    if (piece && piece->String() == token) {
      found = true;
      place = at;
    }
    ++at;
  }
  return place;
}

std::optional<std::string> PaddingToken(const JsonView& root) {
  const std::optional<JsonView> padding = root.Find("padding");
  const std::optional<JsonView> token = padding ? padding->Find("pad_token") : std::nullopt;
  return token ? std::optional(std::string(token->String())) : std::nullopt;
}

// Says where stages are read from: the file, or what its class puts in place of its parts.
struct Sources {
  std::optional<JsonView> normalizer, pre_tokenizer;
  JsonView model;    // vocabulary and merges
  JsonView options;  // of the model
};

Sources SourcesIn(const JsonView& root, const JsonView& model) {
  return {root.Find("normalizer"), root.Find("pre_tokenizer"), model, root.Member("model")};
}

std::string JsonOf(const ClassParts& parts) {
  return fmt::format(R"({{"normalizer": {}, "pre_tokenizer": {}, "model": {}}})", parts.normalizer,
                     parts.pre_tokenizer, parts.model);
}

void ReadStages(const Sources& sources, const TokenizerOptions& options, OwnStages* own) {
  own->normalizer = ReadNormalizer(sources.normalizer, options);
  const bool bytes = EndsWithByteLevel(sources.pre_tokenizer) && ModelType(sources.model) == "BPE";
  own->pre_tokenizer = ReadPreTokenizer(sources.pre_tokenizer, bytes);
  own->model = ReadModel({sources.model, sources.options}, bytes, &own->vocabulary);
}

// Reads by the file as it is; `folder` may be null.
TokenizerStages ReadAsItIs(const JsonView& root, const std::string& file,
                           const TokenizerOptions& options, const FolderClass* folder,
                           std::vector<AddedToken> tokens) {
  OwnStages own(file);
  own.around = ReadPostProcessor(root.Find("post_processor"));
  ReadStages(SourcesIn(root, root.Member("model")), options, &own);
  own.added = std::move(tokens);
  own.padding = PaddingToken(root);
  own.cuts_left = TruncatesLeft(root);
  AddedVocabulary vocabulary(*own.model, &own.vocabulary);
  AddTokensOfFile(root, own.added, *own.model, &vocabulary);
  return FinishStages(&own, &vocabulary, folder, {}, options, file);
}

// Reads no more of the file than a class takes that makes the other parts itself.
TokenizerStages ReadByClass(const JsonView& root, const std::string& file,
                            const TokenizerOptions& options, const FolderClass& folder) {
  const JsonView model = root.Member("model");
  ClassParts parts =
      PartsOf(folder.chosen, folder.arguments,
              {.model_type = ModelType(model),
               .character_map = CharacterMapOf(root),
               .place_of = [&](const std::string& token) { return PlaceOf(model, token); }});
  const Document made(JsonOf(parts), folder.arguments.FileOf("tokenizer_class"));
  OwnStages own(file);
  ReadStages(SourcesIn(made.root(), model), options, &own);
  if (parts.frame_of_file_first) {
    NeedInModel(parts.frame, *own.model, file);
    if (root.Find("post_processor")) parts.frame = {};
  }
  if (parts.frame.kind == ClassFrame::Kind::kOfFile) {
    own.around = ReadPostProcessor(root.Find("post_processor"));
  }
  own.padding = PaddingToken(root);
  own.cuts_left = TruncatesLeft(root);
  AddedVocabulary vocabulary(*own.model, &own.vocabulary);
  return FinishStages(&own, &vocabulary, &folder, parts, options, file);
}

}  // namespace

TokenizerStages ReadTokenizerJson(std::string_view json, const std::string& file,
                                  const TokenizerOptions& options) {
  return ReadTokenizerJson(json, file, options, nullptr);
}

TokenizerStages ReadTokenizerJson(std::string_view json, const std::string& file,
                                  const TokenizerOptions& options, FolderClass* folder) {
  const Document document(json, file);
  const JsonView root = document.root();
  if (const auto version = root.Find("version"); version && version->String() != "1.0") {
    version->Fail(fmt::format("expected \"1.0\", found \"{}\"", version->String()));
  }
  std::vector<AddedToken> tokens = ReadAddedTokens(root);
  if (folder != nullptr) folder->arguments.TakeTokensOfFile(tokens);
  if (folder == nullptr || folder->chosen.kind == TokenizerClass::kFile) {
    return ReadAsItIs(root, file, options, folder, std::move(tokens));
  }
  return ReadByClass(root, file, options, *folder);
}

}  // namespace tandem::text
