#include "text/load/tokenizer_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/error.h"
#include "text/load/json_settings.h"

namespace tandem::text {
namespace {

constexpr const char* kConfig = "tokenizer_config.json";
constexpr const char* kTokensMap = "special_tokens_map.json";
constexpr const char* kAddedTokens = "added_tokens.json";
constexpr const char* kExtra = "extra_special_tokens";
constexpr const char* kAdditional = "additional_special_tokens";
constexpr const char* kDecoder = "added_tokens_decoder";
// transformers' mark of a token that is more than its name, and ours of one that it makes itself.
constexpr const char* kType = "__type";
constexpr const char* kMade = "made of an object";

Json ReadObject(const std::filesystem::path& path, const KnownFiles& known = {}) {
  return JsonSettings(path, known).values();
}

// Takes a value as Python's conditions do.
bool IsTrue(const Json* value) {
  if (value == nullptr || value->is_null()) return false;
  if (value->is_boolean()) return value->get<bool>();
  return !value->empty();
}

// The mark of an object that is a token; empty where it is none.
std::string_view MarkOf(const Json& value) {
  if (!value.is_object() || !value.contains(kType) || !value[kType].is_string()) return "";
  const std::string_view mark = value[kType].text();
  return mark == "AddedToken" || mark == kMade ? mark : "";
}

bool IsToken(const Json& value) { return value.is_string() || !MarkOf(value).empty(); }

GivenToken GivenOf(const AddedToken& token) {
  return {.content = token.content,
          .single_word = token.single_word,
          .lstrip = token.lstrip,
          .rstrip = token.rstrip,
          .normalized = token.normalized,
          .special = token.special};
}

}  // namespace

bool IsNamedToken(std::string_view key) {
  return std::find(std::begin(kNamedTokens), std::end(kNamedTokens), key) != std::end(kNamedTokens);
}

AddedToken GivenToken::Token() const {
  return {.content = content,
          .single_word = single_word,
          .lstrip = lstrip,
          .rstrip = rstrip,
          .normalized = normalized.value_or(!special),
          .special = special};
}

bool GivenToken::operator==(const GivenToken& other) const {
  if (name_alone || other.name_alone) {
    return name_alone == other.name_alone && content == other.content;
  }
  const AddedToken a = Token(), b = other.Token();
  return a.content == b.content && a.single_word == b.single_word && a.lstrip == b.lstrip &&
         a.rstrip == b.rstrip && a.normalized == b.normalized && a.special == b.special;
}

TokenizerArguments::TokenizerArguments(const std::filesystem::path& folder, const KnownFiles& known)
    : folder_(folder), values_(ReadObject(folder / kConfig, known)) {
  lists_decoder_ = values_.contains(kDecoder);
  RefuseWhatIsNotFollowed();
  if (Has(kAdditional) && !IsTrue(Find(kExtra))) {
    Json tokens = values_[kAdditional];
    values_[kExtra] = std::move(tokens);
    values_.erase(kAdditional);
  }
  TakeStringsOfOtherNames();
  TakeMembersOfExtra();
  if (lists_decoder_) {
    ReadDecoder(values_[kDecoder]);
  } else {
    LayTokensMapOver(folder / kTokensMap);
    ReadAddedTokensFile(folder / kAddedTokens);
  }
}

// Other files, arguments without names, and another pattern of words.
void TokenizerArguments::RefuseWhatIsNotFollowed() const {
  for (const char* key : {"fast_tokenizer_files", "fix_mistral_regex", "init_inputs"}) {
    if (IsTrue(Find(key))) Fail(key, "no such setting (it is not followed)");
  }
}

// Takes strings under names such as "image_token".
void TokenizerArguments::TakeStringsOfOtherNames() {
  std::erase_if(values_.items(), [this](const JsonMember& setting) {
    const auto& [key, value] = setting;
    const bool other = !IsNamedToken(key) && key.ends_with("_token") && value.is_string();
    if (other) TakeOtherNamed(key, value);
    return other;
  });
}

// Takes the names and tokens of an object of extra tokens.
void TokenizerArguments::TakeMembersOfExtra() {
  const Json* extra = Find(kExtra);
  if (extra == nullptr || !extra->is_object()) return;
  for (const auto& [key, value] : extra->items()) {
    if (!IsToken(value)) Fail(kExtra, fmt::format("a token as its member \"{}\"", key));
    TakeOtherNamed(key, value);
  }
  values_.erase(kExtra);
}

void TokenizerArguments::TakeOtherNamed(const std::string& key, const Json& value) {
  other_named_.emplace_back(key, TokenFrom(value, key));
}

void TokenizerArguments::ReadDecoder(const Json& decoder) {
  if (!decoder.is_object()) Fail(kDecoder, "an object of tokens by their ids");
  for (const auto& [key, value] : decoder.items()) {
    int64_t id = 0;
    const char* const end = key.data() + key.size();
    const auto [stop, error] = std::from_chars(key.data(), end, id);
    if (error != std::errc() || stop != end || !value.is_object()) {
      Fail(kDecoder, fmt::format("tokens by their ids, objects with \"content\", at \"{}\"", key));
    }
    const GivenToken token = TokenFrom(value, kDecoder);
    decoder_[id] = token;
    by_content_[token.content] = token;
  }
}

void TokenizerArguments::LayTokensMapOver(const std::filesystem::path& path) {
  const Json map = ReadObject(path);
  for (const auto& [key, value] : map.items()) {
    Json taken = value;
    if (key == kExtra && value.is_array()) {
      taken =
          values_.contains(kExtra) && !values_[kExtra].is_null() ? values_[kExtra] : Json::array();
      for (Json token : value) {
        if (token.is_object() && token.contains("special")) {
          throw ModelError(path.native(), "",
                           fmt::format("{}: expected tokens without \"special\", with which "
                                       "transformers fails, found {}",
                                       kExtra, token.Dump()));
        }
        if (token.is_object()) token[kType] = kMade;
        if (std::find(taken.begin(), taken.end(), token) == taken.end()) taken.push_back(token);
      }
    } else if (value.is_object() && key != kExtra) {
      taken[kType] = kMade;
    }
    values_[key] = taken;
    files_[key] = kTokensMap;
  }
  TakeMembersOfExtra();
}

// {"token": id}. Such a token is special where another file names it so.
void TokenizerArguments::ReadAddedTokensFile(const std::filesystem::path& path) {
  std::set<std::string> special;
  for (const char* key : kNamedTokens) {
    if (const Json* value = Find(key); value != nullptr && IsToken(*value)) {
      // transformers compares the text of a whole object where it has not made it a token yet.
      if (MarkOf(*value) != "AddedToken") special.insert(TokenFrom(*value, key).content);
    }
  }
  for (const GivenToken& token : List(kExtra).value_or(std::vector<GivenToken>())) {
    special.insert(token.content);
  }
  const Json ids = ReadObject(path);
  for (const auto& [content, id] : ids.items()) {
    if (!id.is_number_integer()) {
      throw ModelError(path.native(), "",
                       fmt::format("\"{}\": expected its id, found {}", content, id.type_name()));
    }
    const bool is_special = special.contains(content);
    const GivenToken token = {.content = content, .normalized = !is_special, .special = is_special};
    decoder_[id.get<int64_t>()] = token;
    by_content_[content] = token;
  }
}

void TokenizerArguments::TakeTokensOfFile(std::span<const AddedToken> tokens) {
  if (lists_decoder_) return;
  for (const AddedToken& token : tokens) {
    decoder_[token.id] = GivenOf(token);
    by_content_[token.content] = GivenOf(token);
  }
}

std::optional<GivenToken> TokenizerArguments::Named(const std::string& key) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  GivenToken token = TokenFrom(*value, key);
  const auto known = by_content_.find(token.content);
  return known == by_content_.end() ? token : known->second;
}

std::vector<std::pair<std::string, GivenToken>> TokenizerArguments::OtherNamed() const {
  std::vector<std::pair<std::string, GivenToken>> all;
  for (const auto& [key, value] : values_.items()) {
    if (IsNamedToken(key) || !key.ends_with("_token") || !IsToken(value)) continue;
    all.emplace_back(key, TokenFrom(value, key));
  }
  all.insert(all.end(), other_named_.begin(), other_named_.end());
  return all;
}

std::optional<std::vector<GivenToken>> TokenizerArguments::Extra() const { return List(kExtra); }

std::optional<std::vector<GivenToken>> TokenizerArguments::Additional() const {
  return List(kAdditional);
}

std::optional<std::vector<GivenToken>> TokenizerArguments::List(const std::string& key) const {
  if (!Has(key)) return std::nullopt;
  std::vector<GivenToken> tokens;
  const Json* values = Find(key);
  if (values == nullptr) return tokens;
  if (!values->is_array()) Fail(key, "a list of tokens");
  for (const Json& value : *values) tokens.push_back(TokenFrom(value, key));
  return tokens;
}

GivenToken TokenizerArguments::TokenFrom(const Json& value, const std::string& key) const {
  if (value.is_string()) return {.content = value.get<std::string>(), .name_alone = true};
  if (!value.is_object() || (key != kDecoder && !IsToken(value))) {
    Fail(key, "a token: a string, or an object with \"__type\": \"AddedToken\"");
  }
  GivenToken token;
  const auto flag = [&](const char* name) -> std::optional<bool> {
    const Json* const found = value.Find(name);
    if (found == nullptr) return std::nullopt;
    if (!found->is_boolean()) Fail(key, fmt::format("true or false as \"{}\" of a token", name));
    return found->get<bool>();
  };
  const Json* const content = value.Find("content");
  if (content == nullptr || !content->is_string()) {
    Fail(key, "a string as \"content\" of a token");
  }
  token.content = content->get<std::string>();
  token.single_word = flag("single_word").value_or(false);
  token.lstrip = flag("lstrip").value_or(false);
  token.rstrip = flag("rstrip").value_or(false);
  token.normalized = flag("normalized");
  token.special = MarkOf(value) == kMade || flag("special").value_or(false);
  return token;
}

const Json* TokenizerArguments::Find(const std::string& key) const {
  const Json* const found = values_.Find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

bool TokenizerArguments::Flag(const std::string& key, bool otherwise) const {
  if (!Has(key)) return otherwise;
  const Json& value = values_.at(key);
  if (!value.is_boolean()) Fail(key, "true or false");
  return value.get<bool>();
}

bool TokenizerArguments::Truth(const std::string& key, bool otherwise) const {
  return Has(key) && Find(key) == nullptr ? false : Flag(key, otherwise);
}

std::optional<bool> TokenizerArguments::FlagOrNull(const std::string& key) const {
  if (Find(key) == nullptr) return std::nullopt;
  return Flag(key, false);
}

int64_t TokenizerArguments::Count(const std::string& key, int64_t otherwise) const {
  if (!Has(key)) return otherwise;
  constexpr int64_t kMost = 1'000'000;
  const Json& value = values_.at(key);
  const auto count = value.is_number() ? value.get<double>() : -1;
  if (!value.is_number_integer() || count < 0 || count > static_cast<double>(kMost)) {
    Fail(key, fmt::format("a number from 0 to {}", kMost));
  }
  return value.get<int64_t>();
}

std::optional<std::string> TokenizerArguments::Text(const std::string& key) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) Fail(key, "a string");
  return value->get<std::string>();
}

std::optional<std::vector<std::string>> TokenizerArguments::Texts(const std::string& key) const {
  if (!Has(key)) return std::nullopt;
  std::vector<std::string> texts;
  const Json& values = values_.at(key);
  if (!values.is_array()) Fail(key, "a list of strings");
  for (const Json& value : values) {
    if (!value.is_string()) Fail(key, "a list of strings");
    texts.push_back(value.get<std::string>());
  }
  return texts;
}

std::string TokenizerArguments::FileOf(const std::string& key) const {
  const auto file = files_.find(key);
  return (folder_ / (file == files_.end() ? kConfig : file->second.c_str())).native();
}

bool TokenizerArguments::NamesCode() const {
  const Json* map = Find("auto_map");
  if (map == nullptr) return false;
  if (map->is_array()) return true;
  return map->is_object() && map->contains("AutoTokenizer") && !map->at("AutoTokenizer").is_null();
}

void TokenizerArguments::Fail(const std::string& key, std::string_view expected) const {
  constexpr size_t kMostShown = 60;
  std::string found = values_.contains(key) ? values_.at(key).Dump() : "nothing";
  if (found.size() > kMostShown) found = values_.at(key).type_name();
  throw ModelError(FileOf(key), "", fmt::format("{}: expected {}, found {}", key, expected, found));
}

}  // namespace tandem::text
