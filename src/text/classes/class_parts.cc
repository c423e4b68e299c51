#include "text/classes/class_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/json/json.h"
#include "text/regex/known_patterns.h"

namespace tandem::text {
namespace {

using Kind = TokenizerClass;
using Arguments = TokenizerArguments;

constexpr const char* kMetaspace = "\u2581";

// The defaults that a class takes by name alone.
using DefaultNames = std::initializer_list<std::pair<const char*, const char*>>;

class PartsMaker {
 public:
  PartsMaker(const ChosenClass& chosen, const Arguments& arguments, const FileParts& file)
      : chosen_(chosen), arguments_(arguments), file_(file) {}

  ClassParts Make() {
    switch (chosen_.kind) {
      case Kind::kFile:
        break;
      case Kind::kAlbert:
        MakeAlbert();
        break;
      case Kind::kBert:
      case Kind::kDistilBert:
        MakeBert();
        break;
      case Kind::kCamembert:
        MakeCamembert();
        break;
      case Kind::kGemma:
        MakeGemma();
        break;
      case Kind::kGpt2:
        MakeGpt2();
        break;
      case Kind::kLlama:
        MakeLlama();
        break;
      case Kind::kMpNet:
        MakeMpNet();
        break;
      case Kind::kQwen2:
        MakeQwen2();
        break;
      case Kind::kRoberta:
        MakeRoberta();
        break;
      case Kind::kT5:
        MakeT5();
        break;
      case Kind::kXlmRoberta:
        MakeXlmRoberta();
        break;
    }
    return std::move(parts_);
  }

 private:
  void NeedModel(std::string_view type) const {
    if (file_.model_type == type) return;
    throw ModelError(
        arguments_.FileOf("tokenizer_class"), "",
        fmt::format("the tokenizer is read as {}, whose model is {}, and that of "
                    "tokenizer.json is {}; tokenizer_class \"PreTrainedTokenizerFast\" "
                    "would read the file as it is",
                    chosen_.name, type, file_.model_type));
  }

  void TakeNames(DefaultNames names) {
    for (const auto& [key, content] : names) {
      parts_.named.emplace_back(key, GivenToken{.content = content, .name_alone = true});
    }
  }

  // A name as the files or else the class have it. Null would be looked for as "None".
  std::string NameOf(const std::string& key) const {
    if (arguments_.Has(key)) {
      const std::optional<GivenToken> token = arguments_.Named(key);
      if (!token || token->content.empty()) {
        arguments_.Fail(key, fmt::format("a token, which {} needs", chosen_.name));
      }
      return token->content;
    }
    const auto named = std::find_if(parts_.named.begin(), parts_.named.end(),
                                    [&](const auto& one) { return one.first == key; });
    return named->second.content;
  }

  // The name in a template that the class writes as one string.
  std::string TemplateName(const std::string& key) const {
    std::string name = NameOf(key);
    if (name.find_first_of(" :$") == std::string::npos) return name;
    arguments_.Fail(key, fmt::format("a token without \" \", \":\" and \"$\", which {} cannot put "
                                     "around texts",
                                     chosen_.name));
  }

  void MakeWordPiece() {
    NeedModel("WordPiece");
    const std::optional<bool> strip_accents = arguments_.FlagOrNull("strip_accents");
    Json normalizer = {{"type", "BertNormalizer"},
                       {"clean_text", true},
                       {"handle_chinese_chars", arguments_.Flag("tokenize_chinese_chars", true)},
                       {"strip_accents", nullptr},
                       {"lowercase", arguments_.Flag("do_lower_case", true)}};
    if (strip_accents) normalizer["strip_accents"] = *strip_accents;
    parts_.normalizer = normalizer.Dump();
    parts_.pre_tokenizer = R"({"type": "BertPreTokenizer"})";
    parts_.unk_token = NameOf("unk_token");
    parts_.model = Json{
        {"type", "WordPiece"},
        {"unk_token", parts_.unk_token},
        {"continuing_subword_prefix", "##"},
        {"max_input_chars_per_word",
         100}}.Dump();
  }

  void MakeBert() {
    TakeNames({{"unk_token", "[UNK]"},
               {"sep_token", "[SEP]"},
               {"pad_token", "[PAD]"},
               {"cls_token", "[CLS]"},
               {"mask_token", "[MASK]"}});
    MakeWordPiece();
    parts_.frame = {ClassFrame::Kind::kAround, TemplateName("cls_token"),
                    TemplateName("sep_token")};
  }

  void MakeMpNet() {
    TakeNames({{"bos_token", "<s>"},
               {"eos_token", "</s>"},
               {"unk_token", "[UNK]"},
               {"sep_token", "</s>"},
               {"pad_token", "<pad>"},
               {"cls_token", "<s>"},
               {"mask_token", "<mask>"}});
    parts_.mask_takes_space = true;
    MakeWordPiece();
    parts_.frame = {ClassFrame::Kind::kAroundDoubled, NameOf("cls_token"), NameOf("sep_token")};
  }

  static Json ByteLevel(bool add_prefix_space, bool use_regex) {
    return {{"type", "ByteLevel"},
            {"add_prefix_space", add_prefix_space},
            {"trim_offsets", true},
            {"use_regex", use_regex}};
  }

  static Json Metaspace(const char* prepend_scheme, bool split) {
    return {{"type", "Metaspace"},
            {"replacement", kMetaspace},
            {"prepend_scheme", prepend_scheme},
            {"split", split}};
  }

  static Json SequenceOf(const char* member, const std::vector<Json>& stages) {
    Json sequence = {{"type", "Sequence"}};
    sequence[member] = stages;
    return sequence;
  }

  static std::string Bpe(const Json& unk_token, bool fuse_unk, bool byte_fallback) {
    return Json{{"type", "BPE"},
                {"unk_token", unk_token},
                {"fuse_unk", fuse_unk},
                {"byte_fallback", byte_fallback}}
        .Dump();
  }

  void MakeRoberta() {
    NeedModel("BPE");
    TakeNames({{"bos_token", "<s>"},
               {"eos_token", "</s>"},
               {"unk_token", "<unk>"},
               {"sep_token", "</s>"},
               {"pad_token", "<pad>"},
               {"cls_token", "<s>"},
               {"mask_token", "<mask>"}});
    parts_.pre_tokenizer = ByteLevel(arguments_.Flag("add_prefix_space", false), true).Dump();
    parts_.model = Bpe(nullptr, false, false);
    parts_.frame = {ClassFrame::Kind::kAroundDoubled, NameOf("cls_token"), NameOf("sep_token")};
  }

  void MakeGpt2() {
    NeedModel("BPE");
    TakeNames({{"bos_token", "<|endoftext|>"},
               {"eos_token", "<|endoftext|>"},
               {"unk_token", "<|endoftext|>"}});
    parts_.pre_tokenizer = ByteLevel(arguments_.Flag("add_prefix_space", false), true).Dump();
    parts_.model = Bpe(nullptr, false, false);
  }

  void MakeQwen2() {
    NeedModel("BPE");
    TakeNames({{"eos_token", "<|endoftext|>"},
               {"unk_token", "<|endoftext|>"},
               {"pad_token", "<|endoftext|>"}});
    parts_.normalizer = R"({"type": "NFC"})";
    const Json split = {{"type", "Split"},
                        {"pattern", {{"Regex", kQwen2Pattern}}},
                        {"behavior", "Isolated"},
                        {"invert", false}};
    parts_.pre_tokenizer =
        SequenceOf("pretokenizers",
                   {split, ByteLevel(arguments_.Truth("add_prefix_space", false), false)})
            .Dump();
    parts_.model = Bpe(nullptr, false, false);
    parts_.readds_special = true;
  }

  void MakeLlama() {
    NeedModel("BPE");
    TakeNames({{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}});
    const bool prefix = arguments_.FlagOrNull("add_prefix_space").value_or(true);
    const bool legacy = arguments_.Truth("legacy", false);
    const char* const scheme = !prefix ? "never" : legacy ? "always" : "first";
    parts_.pre_tokenizer = Metaspace(scheme, false).Dump();
    parts_.model = Bpe(nullptr, true, true);
  }

  void MakeGemma() {
    NeedModel("BPE");
    TakeNames({{"bos_token", "<bos>"},
               {"eos_token", "<eos>"},
               {"unk_token", "<unk>"},
               {"pad_token", "<pad>"},
               {"mask_token", "<mask>"}});
    parts_.normalizer =
        Json{{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kMetaspace}}.Dump();
    parts_.pre_tokenizer = Json{
        {"type", "Split"},
        {"pattern", {{"String", " "}}},
        {"behavior", "MergedWithPrevious"},
        {"invert", false}}.Dump();
    parts_.model = Bpe(NameOf("unk_token"), true, true);
  }

  // Words that start with a visible space, of pieces with scores.
  void MakeUnigram(int64_t unk_id, bool prefix) {
    NeedModel("Unigram");
    parts_.normalizer = CharacterMap().Dump();
    const Json words = {{"type", "WhitespaceSplit"}};
    parts_.pre_tokenizer =
        SequenceOf("pretokenizers", {words, Metaspace(prefix ? "always" : "never", true)}).Dump();
    parts_.model = Json{{"type", "Unigram"}, {"unk_id", unk_id}, {"byte_fallback", false}}.Dump();
  }

  Json CharacterMap() const {
    if (file_.character_map.empty()) return nullptr;
    return {{"type", "Precompiled"}, {"precompiled_charsmap", file_.character_map}};
  }

  void TakeSentencePieceNames() {
    TakeNames({{"bos_token", "<s>"},
               {"eos_token", "</s>"},
               {"unk_token", "<unk>"},
               {"sep_token", "</s>"},
               {"pad_token", "<pad>"},
               {"cls_token", "<s>"},
               {"mask_token", "<mask>"}});
  }

  void MakeXlmRoberta() {
    TakeSentencePieceNames();
    MakeUnigram(3, arguments_.Truth("add_prefix_space", true));
    parts_.frame = {ClassFrame::Kind::kAroundDoubled, NameOf("bos_token"), NameOf("eos_token")};
  }

  void MakeCamembert() {
    TakeSentencePieceNames();
    parts_.mask_takes_space = true;
    MakeUnigram(file_.place_of(NameOf("unk_token")), arguments_.Truth("add_prefix_space", true));
    parts_.frame = {ClassFrame::Kind::kAroundDoubled, TemplateName("bos_token"),
                    TemplateName("eos_token")};
    parts_.extra = arguments_.Additional();
    if (parts_.extra) return;
    parts_.extra.emplace();
    for (const char* name : {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"}) {
      parts_.extra->push_back({.content = name, .name_alone = true});
    }
  }

  void MakeT5() {
    TakeNames({{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}});
    MakeUnigram(2, true);
    parts_.frame = {ClassFrame::Kind::kBehind, "", NameOf("eos_token")};
    const int64_t count = arguments_.Count("extra_ids", 100);
    parts_.extra = arguments_.Additional();
    int64_t given = 0;
    if (parts_.extra) {
      given = std::count_if(parts_.extra->begin(), parts_.extra->end(), [](const auto& token) {
        return token.content.find("<extra_id_") != std::string::npos;
      });
    } else {
      parts_.extra.emplace();
    }
    if (given > 0 && count > 0 && given != count) {
      arguments_.Fail("additional_special_tokens",
                      fmt::format("as many tokens <extra_id_N> as extra_ids says, {}", count));
    }
    for (int64_t i = 0; given == 0 && i < count; ++i) {
      parts_.extra->push_back({.content = fmt::format("<extra_id_{}>", i), .name_alone = true});
    }
  }

  void MakeAlbert() {
    TakeNames({{"bos_token", "[CLS]"},
               {"eos_token", "[SEP]"},
               {"unk_token", "<unk>"},
               {"sep_token", "[SEP]"},
               {"pad_token", "<pad>"},
               {"cls_token", "[CLS]"},
               {"mask_token", "[MASK]"}});
    MakeUnigram(1, arguments_.Truth("add_prefix_space", true));
    std::vector<Json> stages;
    for (const char* quotes : {"``", "''"}) {
      stages.push_back({{"type", "Replace"}, {"pattern", {{"String", quotes}}}, {"content", "\""}});
    }
    if (!arguments_.Truth("keep_accents", false)) {
      stages.push_back({{"type", "NFKD"}});
      stages.push_back({{"type", "StripAccents"}});
    }
    if (arguments_.Truth("do_lower_case", true)) stages.push_back({{"type", "Lowercase"}});
    if (!file_.character_map.empty()) stages.push_back(CharacterMap());
    parts_.normalizer = SequenceOf("normalizers", stages).Dump();
    parts_.frame = {ClassFrame::Kind::kAround, NameOf("cls_token"), NameOf("sep_token")};
    parts_.frame_of_file_first = true;
  }

  const ChosenClass& chosen_;
  const Arguments& arguments_;
  const FileParts& file_;
  ClassParts parts_;
};

}  // namespace

ClassParts PartsOf(const ChosenClass& chosen, const TokenizerArguments& arguments,
                   const FileParts& file) {
  return PartsMaker(chosen, arguments, file).Make();
}

}  // namespace tandem::text
