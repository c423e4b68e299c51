#include "text/classes/tokenizer_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/error.h"
#include "text/load/json_settings.h"

namespace tandem::text {
namespace {

using Kind = TokenizerClass;

// Each may end in "Fast" as well.
constexpr std::pair<std::string_view, Kind> kFollowed[] = {
    {"AlbertTokenizer", Kind::kAlbert},       {"BartTokenizer", Kind::kRoberta},
    {"BertTokenizer", Kind::kBert},           {"BloomTokenizer", Kind::kFile},
    {"CamembertTokenizer", Kind::kCamembert}, {"DistilBertTokenizer", Kind::kDistilBert},
    {"ElectraTokenizer", Kind::kBert},        {"GPT2Tokenizer", Kind::kGpt2},
    {"GemmaTokenizer", Kind::kGemma},         {"LEDTokenizer", Kind::kRoberta},
    {"LayoutLMTokenizer", Kind::kBert},       {"LlamaTokenizer", Kind::kLlama},
    {"LongformerTokenizer", Kind::kRoberta},  {"LxmertTokenizer", Kind::kBert},
    {"MPNetTokenizer", Kind::kMpNet},         {"MobileBertTokenizer", Kind::kBert},
    {"MvpTokenizer", Kind::kRoberta},         {"Phi3Tokenizer", Kind::kLlama},
    {"PreTrainedTokenizer", Kind::kFile},     {"PythonBackend", Kind::kFile},
    {"Qwen2Tokenizer", Kind::kQwen2},         {"RobertaTokenizer", Kind::kRoberta},
    {"SqueezeBertTokenizer", Kind::kBert},    {"T5Tokenizer", Kind::kT5},
    {"TokenizersBackend", Kind::kFile},       {"XLMRobertaTokenizer", Kind::kXlmRoberta},
};

// Classes that transformers knows and that are not followed, without "Tokenizer".
constexpr std::string_view kOthers[] = {
    "Auto",
    "Barthez",
    "Bartpho",
    "Basic",
    "BertGeneration",
    "BertJapanese",
    "Bertweet",
    "BigBird",
    "BioGpt",
    "Blenderbot",
    "BlenderbotSmall",
    "ByT5",
    "CLIP",
    "CTRL",
    "Canine",
    "Character",
    "Clvp",
    "CodeGen",
    "CodeLlama",
    "Cohere",
    "ConvBert",
    "Cpm",
    "CpmAnt",
    "DPRContextEncoder",
    "DPRQuestionEncoder",
    "DPRReader",
    "Deberta",
    "DebertaV2",
    "Dia",
    "Esm",
    "Esmc",
    "FNet",
    "FSMT",
    "FastSpeech2Conformer",
    "Flaubert",
    "Funnel",
    "GPTNeoX",
    "GPTNeoXJapanese",
    "GPTSw3",
    "Herbert",
    "Lasr",
    "LayoutLMv2",
    "LayoutLMv3",
    "LayoutXLM",
    "Luke",
    "M2M100",
    "MBart",
    "MBart50",
    "MLuke",
    "Marian",
    "MarkupLM",
    "Mecab",
    "Mgpstr",
    "MyT5",
    "Nllb",
    "Nougat",
    "OpenAIGPT",
    "PLBart",
    "Parakeet",
    "Pegasus",
    "Perceiver",
    "Phobert",
    "Pop2Piano",
    "ProphetNet",
    "Qwen3_5",
    "Rag",
    "Reformer",
    "RemBert",
    "RoCBert",
    "RoFormer",
    "SeamlessM4T",
    "Siglip",
    "Siglip2",
    "Speech2Text",
    "SpeechT5",
    "Splinter",
    "Tapas",
    "Tipsv2",
    "Udop",
    "VideoPrism",
    "Vits",
    "Wav2Vec2CTC",
    "Wav2Vec2PhonemeCTC",
    "Whisper",
    "Wordpiece",
    "XGLM",
    "XLM",
    "XLNet",
};

// transformers' class for the model types of the catalogue of encoders. `fixed`: whatever class
// the files name.
struct ModelClass {
  std::string_view model_type;
  std::string_view name;
  bool fixed = false;
};
constexpr ModelClass kModelClasses[] = {
    {"bert", "BertTokenizer"},
    {"camembert", "CamembertTokenizer"},
    {"distilbert", "BertTokenizer"},
    {"gemma3_text", "GemmaTokenizer"},
    {"mistral", "TokenizersBackend"},
    {"modernbert", "TokenizersBackend", /*fixed=*/true},
    {"mpnet", "MPNetTokenizer"},
    {"qwen2", "Qwen2Tokenizer", /*fixed=*/true},
    {"qwen3", "Qwen2Tokenizer"},
    {"roberta", "RobertaTokenizer"},
    {"t5", "T5Tokenizer"},
    {"xlm-roberta", "XLMRobertaTokenizer"},
};

std::string_view WithoutFast(std::string_view name) {
  constexpr std::string_view kFast = "Fast";
  if (name.ends_with(kFast)) name.remove_suffix(kFast.size());
  return name;
}

bool IsKnownElsewhere(std::string_view name) {
  constexpr std::string_view kTokenizer = "Tokenizer";
  if (name == "MistralCommonBackend") return true;
  if (!name.ends_with(kTokenizer)) return false;
  name.remove_suffix(kTokenizer.size());
  return std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers);
}

// A class of transformers by its name; kFile for one that it does not know.
ChosenClass ByName(std::string_view name, const std::string& file) {
  const std::string_view bare = WithoutFast(name);
  for (const auto& [followed, kind] : kFollowed) {
    if (followed == bare) return {kind, std::string(kind == Kind::kFile ? "" : followed)};
  }
  if (IsKnownElsewhere(bare)) {
    throw ModelError(
        file, "",
        fmt::format("tokenizer_class: {} is not supported: transformers makes this class's parts "
                    "by rules that are not followed here. Where tokenizer.json is to be read as it "
                    "is, write \"PreTrainedTokenizerFast\" instead, which changes what "
                    "transformers reads, too",
                    name));
  }
  return {};
}

const ModelClass* FindModel(const std::optional<std::string>& model_type) {
  const auto* const found =
      std::find_if(std::begin(kModelClasses), std::end(kModelClasses),
                   [&](const ModelClass& one) { return one.model_type == model_type; });
  return found == std::end(kModelClasses) ? nullptr : found;
}

struct Names {
  std::optional<std::string> own;       // of tokenizer_config.json
  std::optional<std::string> of_model;  // of config.json
  std::string model_file;
  bool has_code = false;  // a class of the folder's own, which is not run

  const std::optional<std::string>& named() const { return own ? own : of_model; }
};

// Decides where a class is named and it is not that of the model type. An empty result says that
// the named class counts in the end all the same.
std::optional<ChosenClass> ByModel(const Names& names, const ModelClass* model, bool byte_level,
                                   const std::string& file) {
  if (names.has_code || !names.named()) return std::nullopt;
  const std::string_view named = *names.named();
  const bool is_mistral = model != nullptr && model->model_type == "mistral";
  const bool fixed = model != nullptr && model->fixed;
  if (WithoutFast(named) == "LlamaTokenizer" && byte_level && !is_mistral && !fixed) {
    return ChosenClass();
  }
  if (model == nullptr || model->name == WithoutFast(named)) return std::nullopt;
  if (model->name == "TokenizersBackend") return ChosenClass();
  return ByName(fixed ? model->name : named, file);
}

}  // namespace

ChosenClass ChooseClass(const std::filesystem::path& folder, const TokenizerArguments& arguments,
                        bool byte_level, const KnownFiles& known) {
  const JsonSettings config(folder / "config.json", known);
  const Names names = {.own = arguments.Text("tokenizer_class"),
                       .of_model = config.Text("tokenizer_class"),
                       .model_file = (folder / "config.json").native(),
                       .has_code = arguments.NamesCode()};
  const std::string file = names.own ? arguments.FileOf("tokenizer_class") : names.model_file;
  const ModelClass* model = FindModel(config.Text("model_type"));
  if (auto chosen = ByModel(names, model, byte_level, file)) return *chosen;
  if (names.named()) return ByName(*names.named(), file);
  if (model != nullptr) return ByName(model->name, file);
  const std::optional<std::string> type = config.Text("model_type");
  if (!type || *type == "llama") return {};  // for which transformers has no class
  throw ModelError(names.model_file, "",
                   fmt::format("model_type is {}, of which the class that reads its tokenizer is "
                               "not known here; name it as \"tokenizer_class\" in "
                               "tokenizer_config.json",
                               *type));
}

}  // namespace tandem::text
