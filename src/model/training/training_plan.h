// Plans which parameters of a model are trained, and which linear maps get adapters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/encoders/transformer.h"
#include "weights/folders/adapter_folder.h"
#include "weights/folders/model_folder.h"

namespace tandem::model {

// The parameters of a loaded model that are trained.
enum class Trained {
  kAll,      // everything is trained
  kLora,     // low-rank adapters of linear maps, and a new projection
  kHead,     // the modules after the encoder
  kNothing,  // it only encodes
};

// New low-rank adapters (LoRA; Hu et al. 2021).
struct LoraOptions {
  int64_t rank = 32;
  double alpha = 64;
  double dropout = 0;
  bool rank_stabilized = false;
  std::vector<std::string> targets = {"all-linear"};  // as weights::AdapterTargets reads them
};

struct TrainingOptions {
  Trained what = Trained::kAll;
  // Parts of the encoder (weights/encoder_parts.h) and modules after it ("2_Dense") that stay as
  // they are; with kLora, parts that get no new adapters, and whose adapters from `adapter` are
  // computed and saved as they are.
  std::vector<std::string> freeze;
  LoraOptions lora;
  // Used with kLora: the folder of adapters that training goes on from; empty: new ones. Two towers
  // take its folders `query` and `document`, or both take one adapter.
  std::filesystem::path adapter;
  // Says whether packed copies of frozen weights are made on use; none: by the machine's memory.
  std::optional<bool> pack_on_use;
};

// A choice that does not fit the model; `key` is the recipe's.
class TrainingProblem : public UsageError {
 public:
  TrainingProblem(std::string key, const std::string& message)
      : UsageError(message), key_(std::move(key)) {}
  const std::string& key() const { return key_; }

 private:
  std::string key_;
};

// The effect of TrainingOptions on one folder.
struct TrainingPlan {
  std::set<std::string> frozen;           // the encoder's tensors, by canonical name
  std::set<std::string> frozen_modules;   // folders of modules after the encoder
  std::set<std::string> adapted;          // linear maps
  std::set<std::string> frozen_adapters;  // tensors of `adapted` whose adapters are not trained
  weights::AdapterSettings adapter;       // of them; its base and targets are not set
  std::shared_ptr<const weights::AdapterFolder> started_from;  // null: adapters are new
  bool pack_on_use = false;
};

// The adapter folder that `tower` goes on from: options.adapter itself where it is one, or its
// folder of that name, "query" or "document"; "" names an encoder of both kinds of texts. Empty
// where options.what is not kLora. Throws TrainingProblem where there is none.
std::filesystem::path AdapterOf(const TrainingOptions& options, std::string_view tower);

// Throws TrainingProblem for names that name nothing (with those that there are) and for choices
// that leave nothing to train; ModelError for an adapter folder that does not fit.
TrainingPlan PlanTraining(const weights::ModelFolder& folder, const TrainingOptions& options);

// The encoder's tensors by this plan: leaves that want gradients in float32, and frozen ones
// without. Frozen linear weights and word tables keep the type of the file and share its memory
// where that is aligned; small frozen tensors are float32 too. `folder` must outlive it, but not
// the tensors.
TensorSource TensorsOf(const weights::ModelFolder& folder, const TrainingPlan& plan);

// The encoder's adapters by this plan. New ones start as PEFT's: A uniform within 1 / sqrt(K)
// (Kaiming's with a = sqrt 5), B zero; A's numbers depend on `seed` and the map's name alone.
AdapterPlan AdaptersOf(const TrainingPlan& plan, uint64_t seed);

}  // namespace tandem::model
