#include "text/load/folder_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"

namespace tandem::text {
namespace {

using Named = std::vector<std::pair<std::string, GivenToken>>;

// transformers' named tokens in its order: those of the files, or else the class's own.
Named NamedTokens(const TokenizerArguments& arguments, const ClassParts& parts,
                  const std::optional<std::string>& padding) {
  Named named;
  for (const char* key : kNamedTokens) {
    std::optional<GivenToken> token = arguments.Named(key);
    if (!arguments.Has(key)) {
      const auto own = std::find_if(parts.named.begin(), parts.named.end(),
                                    [&](const auto& one) { return one.first == key; });
      if (own != parts.named.end()) {
        token = own->second;
      } else if (padding && key == std::string_view("pad_token")) {
        token = GivenToken{.content = *padding, .name_alone = true};
      }
    }
    if (!token) continue;
    const bool takes_space = parts.mask_takes_space && key == std::string_view("mask_token");
    if (takes_space && token->name_alone) {
      token = GivenToken{.content = token->content, .lstrip = true, .special = true};
    }
    named.emplace_back(key, *token);
  }
  for (const auto& [key, token] : arguments.OtherNamed()) {
    const auto same = std::find_if(named.begin(), named.end(),
                                   [&key = key](const auto& one) { return one.first == key; });
    if (same == named.end()) {
      named.emplace_back(key, token);
    } else {
      same->second = token;
    }
  }
  return named;
}

std::vector<GivenToken> ExtraTokens(const TokenizerArguments& arguments, const ClassParts& parts) {
  if (const auto extra = arguments.Extra()) return *extra;
  if (parts.extra) return *parts.extra;
  return arguments.Additional().value_or(std::vector<GivenToken>());
}

// A special token's name once more, without anything that was said about it.
AddedToken PlainSpecial(const std::string& content) {
  return {.content = content, .normalized = false, .special = true};
}

std::vector<AddedToken> AllSpecial(const Named& named, std::span<const GivenToken> extra) {
  std::vector<AddedToken> all;
  std::set<std::string> seen;
  for (const auto& [key, token] : named) {
    if (seen.insert(token.content).second) all.push_back(PlainSpecial(token.content));
  }
  for (const GivenToken& token : extra) {
    if (seen.insert(token.content).second) all.push_back(PlainSpecial(token.content));
  }
  return all;
}

}  // namespace

std::vector<AddedToken> AddTokensOf(const TokenizerArguments& arguments, const ClassParts& parts,
                                    std::span<const AddedToken> of_file,
                                    const std::optional<std::string>& padding,
                                    AddedVocabulary* vocabulary) {
  const Named named = NamedTokens(arguments, parts, padding);
  const std::vector<GivenToken> extra = ExtraTokens(arguments, parts);
  std::set<std::string> known, names;
  for (const AddedToken& token : of_file) known.insert(token.content);
  std::vector<GivenToken> given;
  for (const auto& [index, token] : arguments.decoder()) {
    given.push_back(token);
    known.insert(token.content);
  }
  const auto take = [&](const GivenToken& token) {
    if (known.contains(token.content)) return;
    if (std::find(given.begin(), given.end(), token) == given.end()) given.push_back(token);
  };
  for (const auto& [key, token] : named) {
    names.insert(token.content);
    take(token);
  }
  for (const GivenToken& token : extra) take(token);
  std::vector<AddedToken> tokens;
  for (GivenToken& token : given) {
    token.special = token.special || token.name_alone || names.contains(token.content);
    tokens.push_back(token.Token());
  }
  std::vector<AddedToken> changed = vocabulary->Add(tokens);
  if (!parts.readds_special) return changed;
  const std::vector<AddedToken> again = vocabulary->Add(AllSpecial(named, extra));
  changed.insert(changed.end(), again.begin(), again.end());
  return changed;
}

void NeedInModel(const ClassFrame& frame, const SubwordModel& model, const std::string& file) {
  for (const std::string& token : {frame.first, frame.last}) {
    if (model.Find(token) >= 0) continue;
    throw ModelError(file, "",
                     fmt::format("the special token \"{}\" is not in the vocabulary", token));
  }
}

SpecialTokens TokensAround(const ClassFrame& frame, const AddedVocabulary& vocabulary,
                           const std::string& file) {
  const auto id_of = [&](const std::string& content) {
    const int32_t id = vocabulary.Find(content);
    if (id >= 0) return id;
    throw ModelError(file, "",
                     fmt::format("the special token \"{}\" is not in the vocabulary", content));
  };
  const int32_t last = id_of(frame.last);
  if (frame.kind == ClassFrame::Kind::kBehind) {
    using Kind = PairPiece::Kind;
    return {.before = {},
            .after = {last},
            .pair = {{{Kind::kFirst, 0, 0},
                      {Kind::kSpecial, last, 0},
                      {Kind::kSecond, 0, 0},
                      {Kind::kSpecial, last, 0}}}};
  }
  const int32_t first = id_of(frame.first);
  const bool doubled = frame.kind == ClassFrame::Kind::kAroundDoubled;
  return {.before = {first},
          .after = {last},
          .pair = doubled ? RobertaPair(first, last) : BertPair(first, last)};
}

bool CutsLeft(const TokenizerArguments& arguments, bool of_json) {
  if (!arguments.Has("truncation_side")) return of_json;
  const std::string side = arguments.Text("truncation_side").value_or("");
  if (side != "left" && side != "right") {
    arguments.Fail("truncation_side", "\"left\" or \"right\"");
  }
  return side == "left";
}

bool GivesTokenTypes(const FolderClass& folder) {
  const auto names = folder.arguments.Texts("model_input_names");
  if (!names) return folder.chosen.kind == TokenizerClass::kBert;
  return std::find(names->begin(), names->end(), "token_type_ids") != names->end();
}

}  // namespace tandem::text
