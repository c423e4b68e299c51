// The settings in the files beside a tokenizer, gathered as transformers gathers them for the class
// that reads them. Only source files of this room include it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "text/added_tokens.h"
#include "text/load/known_files.h"

namespace tandem::text {

// A token as a file gives it: its name alone, or with how it is to be looked for.
struct GivenToken {
  std::string content;
  bool name_alone = false;  // the file gives a string
  bool single_word = false;
  bool lstrip = false;
  bool rstrip = false;
  std::optional<bool> normalized;  // none: where it is not special
  bool special = false;

  // The token as the package understands it. The id is not known yet.
  AddedToken Token() const;
  bool operator==(const GivenToken& other) const;
};

// The settings of tokenizer_config.json, over which those of special_tokens_map.json are laid
// unless the former lists `added_tokens_decoder`; then neither that file nor added_tokens.json is
// read. Source: PreTrainedTokenizerBase._from_pretrained of transformers 5.24.
class TokenizerArguments {
 public:
  // Throws ModelError for a file that is not a JSON object, and for what transformers refuses.
  explicit TokenizerArguments(const std::filesystem::path& folder, const KnownFiles& known = {});

  // Takes the added tokens of tokenizer.json, which count unless `added_tokens_decoder` does. Call
  // it once, before the members below it.
  void TakeTokensOfFile(std::span<const AddedToken> tokens);

  // The special token of this name ("cls_token"); nothing where it is null or absent.
  std::optional<GivenToken> Named(const std::string& key) const;
  // Tokens of other names, as multimodal models have, in the order in which they are added.
  std::vector<std::pair<std::string, GivenToken>> OtherNamed() const;
  // `extra_special_tokens`; nothing where the files do not have it.
  std::optional<std::vector<GivenToken>> Extra() const;
  // `additional_special_tokens`, its older name, where it is not taken for the newer one already.
  std::optional<std::vector<GivenToken>> Additional() const;
  // The tokens that are added first, in this order.
  const std::map<int64_t, GivenToken>& decoder() const { return decoder_; }

  // Says whether a file has this setting, be it null.
  bool Has(const std::string& key) const { return values_.contains(key); }
  // Each throws ModelError for a value of another type.
  bool Flag(const std::string& key, bool otherwise) const;
  // Null counts as `false`, as in Python's conditions.
  bool Truth(const std::string& key, bool otherwise) const;
  std::optional<bool> FlagOrNull(const std::string& key) const;
  int64_t Count(const std::string& key, int64_t otherwise) const;
  std::optional<std::string> Text(const std::string& key) const;
  std::optional<std::vector<std::string>> Texts(const std::string& key) const;

  // Says whether `auto_map` names a class of the folder's own code, which nobody runs.
  bool NamesCode() const;

  // Throws the ModelError about a setting that is there.
  [[noreturn]] void Fail(const std::string& key, std::string_view expected) const;
  // The file that has a setting, or where it would be if no file has it.
  std::string FileOf(const std::string& key) const;

 private:
  void LayTokensMapOver(const std::filesystem::path& path);
  void ReadDecoder(const Json& decoder);
  void ReadAddedTokensFile(const std::filesystem::path& path);
  void RefuseWhatIsNotFollowed() const;
  void TakeStringsOfOtherNames();
  void TakeMembersOfExtra();
  void TakeOtherNamed(const std::string& key, const Json& value);
  GivenToken TokenFrom(const Json& value, const std::string& key) const;
  std::optional<std::vector<GivenToken>> List(const std::string& key) const;
  const Json* Find(const std::string& key) const;

  std::filesystem::path folder_;
  Json values_;                               // an object
  std::map<std::string, std::string> files_;  // by key, where it is not tokenizer_config.json
  std::map<std::string, GivenToken> by_content_;
  std::map<int64_t, GivenToken> decoder_;
  bool lists_decoder_ = false;
  std::vector<std::pair<std::string, GivenToken>> other_named_;
};

// transformers' names of special tokens, in its order.
inline constexpr const char* kNamedTokens[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                               "pad_token", "cls_token", "mask_token"};

bool IsNamedToken(std::string_view key);

}  // namespace tandem::text
