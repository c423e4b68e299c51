// Two towers that turn texts into embeddings: queries through one, documents through the other.
// They are one encoder, or two.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/forward.h"
#include "model/training/training_plan.h"
#include "tensor/core/tensor.h"
#include "tensor/packed_tokens.h"
#include "tensor/passes.h"
#include "text/tokenizer.h"
#include "weights/folders/model_card.h"
#include "weights/folders/model_folder.h"
#include "weights/folders/model_folder_writer.h"
#include "weights/folders/tandem_file.h"

namespace tandem::model {

enum class TextKind { kQuery, kDocument };

struct LoadOptions {
  std::optional<double> dropout;    // none: the folder's config.json decides
  std::optional<bool> is_causal;    // of decoders; none: the folder's config.json decides
  std::optional<int64_t> layers;    // the encoder's first ones; none: all
  int64_t reinitialize_layers = 0;  // so many of its last layers start anew (new_layers.h)
  // Longer texts are cut. 0: as long as the encoder's position table. Where there is none, the
  // folder's tandem.json decides, else its other files (weights::TokenizerSettings).
  std::optional<size_t> max_query_tokens;
  std::optional<size_t> max_document_tokens;
  std::optional<std::string> query_prompt;     // none: the folder's prompt "query"
  std::optional<std::string> document_prompt;  // none: the folder's prompt "document"

  // Serves a model that training starts from a folder of one encoder.
  std::optional<weights::Towers> towers;  // none: what the folder holds
  std::filesystem::path document_folder;  // the document tower's; empty: the same folder
  // Says whether the prediction head of the encoder's classifiers follows pooling
  // (weights/modules/prediction_head.h); a classifier's folder may then be the base.
  bool head = false;
  std::optional<int64_t> projection;  // width of a new Dense module; none: no new module
  uint64_t seed = 0;                  // of the new module's weights, new layers, and new adapters'
  weights::PoolingChange pooling;     // of both towers

  // Replaces a prompt above: the name of one of the folder's prompts, or a text
  // (weights::ChoosePrompt).
  std::optional<std::string> chosen_query_prompt;
  std::optional<std::string> chosen_document_prompt;
  // Embeddings are cut to so many leading numbers, and those of a cosine model that ends in
  // Normalize get unit length again. 0: they are whole; none: the folder's `truncate_dim`.
  std::optional<int64_t> dimensions;

  TrainingOptions training;
};

class DualEncoder {
 public:
  // Reads a sentence-transformers or plain Hugging Face folder, or one of two encoders. Where
  // `towers` is not shared, a folder of one encoder gives both towers; they and new projections
  // start equal, so that the model starts as the shared one. Throws ModelError for a broken or
  // unsupported folder, for towers of different embedding width or similarity, and where there is
  // no projection of one shape to share; UsageError for options that do not fit the folder, for a
  // length above what the encoder's position table has, and for more dimensions than there are.
  // What training.what leaves out is frozen (NamedParameter::trained). Two towers of one folder
  // share frozen tensors. The modules after the encoder are those of the folder of
  // training.adapter, where it lists some. Throws TrainingProblem as PlanTraining does.
  static std::unique_ptr<DualEncoder> Load(const std::filesystem::path& folder,
                                           const LoadOptions& options = {});
  virtual ~DualEncoder() = default;

  // Moves the parameters to a device, where Encode then computes, in the portable form of its
  // operations unless that is the CPU. The parameters stay the tensors that they are; their
  // gradients are dropped, and Prepare is needed again. Nothing happens where they are there
  // already. It must not run beside any other call.
  void To(tensor::Device device);
  tensor::Device device() const { return device_; }  // at first the CPU

  // Packs the weights of the tower for `kind`, for forward and backward passes in this precision.
  // Needed again whenever a parameter has changed; does nothing where it has not. Once it has
  // returned, several threads may call Encode, and Prepare in the same way, at the same time.
  virtual void Prepare(TextKind kind, tensor::Precision precision, tensor::Passes passes) = 0;

  // Encodes packed texts, on any device, to embeddings, float32 [B, E] on device(); differentiable
  // where gradients are enabled. Where shared() holds, a pack may mix texts of both kinds,
  // whichever is named. Throws UsageError for a text longer than the encoder's position table, and
  // std::logic_error unless Prepare was called for this kind and precision since the parameters
  // last changed. A backward pass through the embeddings needs Prepare for it too, and may outlive
  // the model.
  virtual tensor::Tensor Encode(const tensor::PackedTokens& tokens, TextKind kind,
                                const ForwardOptions& options) const = 0;
  // Says whether both towers are one encoder.
  virtual bool shared() const = 0;

  virtual int64_t embedding_width() const = 0;  // E, of what Encode returns
  // The parameters in a fixed order, each under a name of its own; the same tensors at every call.
  // What two towers share is there once.
  virtual std::vector<NamedParameter> Parameters() = 0;
  // Says whether its linear maps have low-rank adapters, and whether copies of frozen weights are
  // packed where they are used.
  virtual bool adapted() const { return false; }
  virtual bool packs_on_use() const { return false; }
  virtual const text::Tokenizer& tokenizer(TextKind kind) const = 0;
  virtual size_t max_tokens(TextKind kind) const = 0;
  virtual const std::string& prompt(TextKind kind) const = 0;
  // The prompt that `choice` stands for, by name or as a text (weights::ChoosePrompt). Throws
  // UsageError for a name that the folder does not have.
  virtual std::string ChoosePrompt(TextKind kind, std::string_view choice) const;
  // Cuts embeddings that Encode has returned, [B, E], to their first `width` numbers, as a model
  // that was loaded with LoadOptions::dimensions makes them. Throws UsageError for a width that is
  // below 1 or above E.
  virtual tensor::Tensor Cut(const tensor::Tensor& rows, TextKind kind, int64_t width) const;
  // Says whether pooling takes the tokens of a text's prompt in. Where it does not, packs must say
  // how many these are (PackedTokens::prompt_tokens, PromptLengths).
  virtual bool include_prompt(TextKind /*kind*/) const { return true; }

  // Says how two embeddings are compared, "cosine" or "dot": as the folder says (cosine where it
  // says nothing), until training by another similarity sets it. Save writes it.
  const std::string& similarity() const { return similarity_; }
  void set_similarity(std::string similarity) { similarity_ = std::move(similarity); }
  // Turns this model's scores into probabilities: the folder's, until training sets what it learned
  // or, where its objective learns none, takes it away. Save writes it.
  const std::optional<weights::Calibration>& calibration() const { return calibration_; }
  void set_calibration(std::optional<weights::Calibration> calibration) {
    calibration_ = std::move(calibration);
  }

  // Prompts of tasks by their names, which Save adds to the folder's: users can then choose them.
  void set_task_prompts(std::map<std::string, std::string> prompts) {
    task_prompts_ = std::move(prompts);
  }
  // The `truncate_dim` that Save writes; 0: none. Before this call it is the folder's.
  void set_saved_dimensions(int64_t dimensions) { saved_dimensions_ = dimensions; }

  // Returns the settings that decide an embedding besides parameters and token ids, as lines of
  // text: sizes, activation, the folder's dropout, pooling, the modules after it. It serves
  // fingerprints and messages.
  virtual std::string settings() const = 0;
  // Rank, scale and dropout of the low-rank adapters, as lines of text, which settings() has too;
  // "" where there are none.
  virtual std::string adapter_settings() const { return ""; }
  // Lets the system take back the memory of weights that are mapped from files, which a later use
  // loads again; for after a pass over all of them.
  virtual void ReleasePages() const {}
  // FLOPs of the encoder's matrix products for one token forward (attention not counted); the mean
  // of two towers.
  virtual double flops_per_token() const = 0;

  // Writes a sentence-transformers folder (older layout), or a folder of two of them, and
  // tandem.json; complete or not at all. Tensors that the encoder does not use are carried through.
  // Throws OutputError, or UsageError when something that is no model is in the way.
  virtual void Save(const std::filesystem::path& folder, const weights::ModelCard& card) const = 0;
  void Save(const std::filesystem::path& folder) const { Save(folder, {}); }
  // Writes the adapters as PEFT folders: one, or `query` and `document` of two encoders, each with
  // the modules that follow the encoder, prompts and lengths (modules.json and others, as
  // sentence-transformers). `bases` are the towers' base models, as adapter_config.json names them.
  // Throws std::logic_error where there are none, OutputError.
  virtual void SaveAdapter(const std::filesystem::path& folder,
                           const std::pair<std::string, std::string>& bases) const;

 protected:
  // Moves everything that Encode reads; here the parameters.
  virtual void MoveTo(tensor::Device device) { MoveParameters(Parameters(), device); }

  // Returns the settings that were changed here, for Save.
  weights::FolderChanges SavedSettings() const {
    return {.similarity = weights::SimilarityFromName(similarity_),
            .task_prompts = task_prompts_,
            .truncate_dim = saved_dimensions_};
  }

 private:
  std::string similarity_ = "cosine";
  std::optional<weights::Calibration> calibration_;
  std::map<std::string, std::string> task_prompts_;
  std::optional<int64_t> saved_dimensions_;
  tensor::Device device_ = tensor::kCpuDevice;
};

}  // namespace tandem::model
