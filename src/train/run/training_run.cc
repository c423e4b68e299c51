#include "train/run/training_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json_reader.h"
#include "base/log.h"
#include "base/process/memory.h"
#include "config/recipe/recorded_recipes.h"
#include "report/records/metrics_row.h"
#include "tensor/memory/page_arena.h"
#include "train/checks/extension.h"
#include "train/checks/resources.h"
#include "train/observers/checkpoint_observer.h"
#include "train/observers/pause_observer.h"
#include "train/observers/profile_observer.h"
#include "train/run/checkpoint.h"
#include "train/run/loop.h"
#include "train/run/run_end.h"
#include "train/run/run_folder.h"
#include "train/run/run_lock.h"
#include "train/run/run_observers.h"
#include "train/run/run_records.h"
#include "train/setup/trainer.h"

namespace tandem::train {
namespace {

// Returns the text of the recipe that the run was started with, as rank 0 of the group reads it;
// none if there is none.
std::optional<std::string> RecordedRecipe(const RunFolder& folder, dist::ProcessGroup& group) {
  std::string text;
  group.Agree([&] {
    if (group.leads() && std::filesystem::exists(folder.recipe())) text = ReadFile(folder.recipe());
  });
  text = group.BroadcastBytes(text);
  if (text.empty()) return std::nullopt;
  return text;
}

// A resumed run keeps the values that it began with if the recipe leaves the choice to Tandem: an
// earlier version may have had other defaults for the objective's parameters, used no negatives by
// default, had no mask of a query's own text, kept copies apart in smaller batches, or kept two
// checkpoints of a finished run.
void KeepChoices(config::LoadedRecipe& loaded, const RunFolder& folder, const std::string& record) {
  const config::Recipe begun =
      config::ReadResolvedRecipe(record, folder.recipe().native(), loaded.catalogues);
  config::Recipe& recipe = loaded.recipe;
  if (!loaded.positions.contains("data.masks.query_text")) {
    recipe.data.masks.query_text = begun.data.masks.query_text;
  }
  if (!loaded.positions.contains("sampling.no_duplicates")) {
    recipe.sampling.no_duplicates = begun.sampling.no_duplicates;
  }
  if (!recipe.train.keep_checkpoints) {
    recipe.train.keep_checkpoints = begun.train.keep_checkpoints;
  }
  if (!recipe.data.negatives) recipe.data.negatives = begun.data.negatives;
  if (recipe.objective.name != begun.objective.name) return;
  const config::Params& params = begun.objective.params;
  for (size_t i = 0; i < params.infos().size(); ++i) {
    const std::string_view name = params.infos()[i].name;
    const config::Value& value = params.value(i);
    if (std::holds_alternative<std::monostate>(value)) continue;
    if (loaded.positions.contains(fmt::format("objective.{}", name))) continue;
    recipe.objective.params.Set(name, value);
  }
}

// Throws if data or model differ from those of the checkpoint of `step`, from which the run
// resumes. Data are compared first, because they do not depend on the tokenizer, while the
// fingerprint of the base model depends on both.
void CheckInputsAreThoseOf(const RunInputs& inputs, const RunFolder& folder, int64_t step) {
  const InputFingerprints begun = ReadFacts(folder.Checkpoint(step)).inputs;
  if (begun.data != inputs.fingerprints.data) {
    throw DataError(fmt::format("{}", fmt::join(inputs.recipe().data.paths(), ", ")), 0, "",
                    fmt::format("its documents, queries or judgements are not those that the run "
                                "in {} was started with; give the same data, or start a new run",
                                folder.path().native()));
  }
  if (begun.adapter != inputs.fingerprints.adapter) {
    throw inputs.run.loaded.ErrorAt(
        "model.adapter",
        fmt::format("holds other adapters, or adapters of another rank, scale or dropout, than the "
                    "run in {} was started with; give the same folder, or start a new run",
                    folder.path().native()));
  }
  if (begun.base != inputs.fingerprints.base) {
    throw ModelError(inputs.recipe().model.base, "",
                     fmt::format("its weights, settings or tokenizer are not those of the model "
                                 "that the run in {} was started with; give the same model, or "
                                 "start a new run",
                                 folder.path().native()));
  }
}

// Throws if the run was finished once, dropped its checkpoints, and has lost its model or the end
// of its metrics since.
void CheckHasTensors(const RunFolder& folder, int64_t step) {
  if (HasTensors(folder.Checkpoint(step))) return;
  throw ModelError(
      folder.Checkpoint(step).native(), "",
      "has no weights: the run was finished and dropped them (train.keep_checkpoints), "
      "and its model or the last line of its metrics.jsonl is gone; start a new run");
}

// Runs the loop to its end; returns false if it pauses before. If the run diverges, the error names
// the last checkpoint. `save` writes the model of an interrupted run, on rank 0, and returns what
// is to be said of it. `pause` is null in a run without validation.
bool RunLoop(Loop& loop, const RunFolder& folder, const StopRequest& stop,
             const PauseObserver* pause, const std::function<std::string()>& save) {
  bool complete = false;
  try {
    complete = loop.Run();
  } catch (const NumericError& error) {
    if (!dist::Leads(loop.group())) throw;  // only rank 0 has the folder
    const std::optional<int64_t> last = folder.LatestCheckpoint();
    throw NumericError(fmt::format(
        "{} {}", error.what(),
        last ? fmt::format("The last good checkpoint is {}", folder.Checkpoint(*last).native())
             : std::string("No checkpoint had been saved yet")));
  }
  if (complete) return true;
  if (pause != nullptr && pause->paused()) return false;
  const int64_t step = loop.state().step;
  // Another process of the group may have been asked to stop; all end with the same exit code.
  const auto asked = static_cast<int64_t>(StopSignal(stop));
  const int64_t signal = loop.group() != nullptr ? loop.group()->Largest(asked) : asked;
  std::string saved;
  if (loop.group() == nullptr) {
    saved = save();
  } else {  // the others wait, since a launcher ends rank 0 too once one of them has ended
    loop.group()->Agree([&] {
      if (loop.group()->leads()) saved = save();
    });
  }
  throw Interrupted(static_cast<int>(signal),
                    step > 0 ? fmt::format("interrupted; {} is saved, continue with --resume{}",
                                           folder.Checkpoint(step).native(), saved)
                             : "interrupted before the first step; start again with --resume");
}

void WriteRecords(const RunFolder& folder, const ResolvedRun& run, const RunOptions& options,
                  const Continuation& continuation) {
  if (continuation.extended || !std::filesystem::exists(folder.recipe())) {
    WriteFileAtomically(
        folder.recipe(),
        ResolvedRecipeText(continuation.loaded, {.version = options.version,
                                                 .isa = tensor::IsaName(),
                                                 .learning_rate_note = run.learning_rate_note}));
  }
  WriteFileAtomically(folder.given_recipe(),
                      GivenRecipeText(run.loaded, options.version, options.flags));
}

// Returns the line that a process writes to timing.jsonl when it starts.
report::StartRow StartOf(const Trainer& trainer, const std::optional<int64_t>& checkpoint,
                         const RunOptions& options) {
  const ResolvedRun& run = trainer.inputs.run;
  const InputSeconds& seconds = trainer.inputs.seconds;
  report::StartRow start{.version = options.version,
                         .threads = run.threads,
                         .precision = std::string(tensor::PrecisionName(run.precision)),
                         .isa = std::string(tensor::IsaName()),
                         .resumed_from = checkpoint.value_or(0),
                         .read_seconds = seconds.reading,
                         .tokenise_seconds = seconds.tokenising};
  if (trainer.validator) {
    start.validation_queries = static_cast<int64_t>(trainer.validator->queries());
  }
  const RankedCorpus ranked = trainer.validator ? trainer.validator->ranked() : RankedCorpus();
  if (ranked.documents > 0) {
    start.validation_documents = static_cast<int64_t>(ranked.documents);
    start.validation_corpus = static_cast<int64_t>(ranked.corpus);
  }
  return start;
}

// Makes or continues the files of the run folder; only rank 0 does it.
std::unique_ptr<RunLogs> OpenFolder(const RunFolder& folder, const Trainer& trainer,
                                    const Continuation& continuation, const RunOptions& options) {
  folder.Prepare();
  // A run that becomes longer keeps the model of its end, which is one, until it has the next.
  if (continuation.extended) {
    ForgetEnd(folder, continuation);
  } else {
    folder.RemoveModel();
  }
  WriteRecords(folder, trainer.inputs.run, options, continuation);
  auto logs = std::make_unique<RunLogs>(folder, continuation.checkpoint);
  logs->timing.Write(report::ToJson(StartOf(trainer, continuation.checkpoint, options)));
  return logs;
}

// `profilers` has a ProfileObserver, or is empty.
void TrainIn(const RunFolder& folder, Trainer& trainer, const Continuation& continuation,
             const RunOptions& options, dist::ProcessGroup& group,
             std::vector<LoopObserver*> profilers) {
  const std::optional<int64_t> checkpoint = continuation.checkpoint;
  std::unique_ptr<RunLogs> logs;  // only on rank 0
  group.Agree([&] {
    if (group.leads()) logs = OpenFolder(folder, trainer, continuation, options);
  });
  const RunPlan& plan = continuation.plan;
  RunObservers observers(trainer, plan, folder, logs.get(), options);
  if (trainer.miner && group.leads()) trainer.miner->set_scratch(folder.mining());
  std::vector<LoopObserver*> list = std::move(profilers);
  for (LoopObserver* observer : observers.List()) list.push_back(observer);
  std::optional<PauseObserver> pause;
  if (observers.validation() != nullptr) {
    pause.emplace(*observers.validation(), options.pause_share);
    list.push_back(&*pause);
  }
  list.insert(list.end(), options.observers.begin(), options.observers.end());
  Updater updater = MakeUpdater(trainer, plan);
  Loop loop(PartsOf(trainer, updater), LoopOptionsOf(trainer, plan), list);
  if (checkpoint) {
    RestoreCheckpoint(loop, folder, *checkpoint);
    const ValidationState* validation = observers.validation();
    // An earlier process may have been killed while it removed old checkpoints.
    if (group.leads()) {
      folder.Prune(plan, *checkpoint, validation != nullptr ? validation->best_step : 0);
    }
  }
  const bool complete = RunLoop(loop, folder, options.stop, pause ? &*pause : nullptr, [&] {
    tensor::TrimTensorArena();  // frees memory of the steps for the best weights
    return SaveStoppedModel(trainer, folder, loop.state(), plan, observers.validation());
  });
  if (!complete || !group.leads()) return;
  folder.RemoveMining();      // files of an interrupted round that was not due again
  tensor::TrimTensorArena();  // frees memory of the steps for the best weights
  SaveModel(trainer, folder, loop.state(), observers.validation(), logs->metrics);
  DropCheckpoints(trainer, plan, folder);
  logs->timing.Write(report::ToJson(report::EndRow{
      .step = loop.state().step, .most_memory_bytes = static_cast<int64_t>(MostResidentMemory())}));
}

// The run folder while this process, rank 0, works in it.
class UsedFolder {
 public:
  UsedFolder(const RunFolder& folder, const RunOptions& options)
      : folder_(folder), resume_(options.resume) {
    // The lock is tested first: if another process trains in the folder, the error should say that,
    // not that the folder exists or cannot be resumed.
    if (std::filesystem::exists(folder.lock())) lock_.emplace(folder.lock());
    if (options.restarted) resume_ = resume_ || std::filesystem::exists(folder.recipe());
    folder.CheckUsable(resume_);
    if (resume_ && !lock_) lock_.emplace(folder.lock());
  }

  bool resume() const { return resume_; }
  // Locks the folder after model and data were read, because nothing is written before that.
  // Another process may have begun in the meantime.
  void Take() {
    if (lock_) return;
    MakeFolder(folder_.path());
    lock_.emplace(folder_.lock());
    folder_.CheckUsable(resume_);
  }

 private:
  const RunFolder& folder_;
  bool resume_;
  std::optional<RunLock> lock_;
};

// Throws if memory or disk surely have too little room for the run.
void CheckRoom(const Trainer& trainer, const RunPlan& plan, const RunFolder& folder,
               const RunOptions& options, dist::ProcessGroup& group) {
  const Shortage shortage = options.ignore_limits ? Shortage::kWarn : Shortage::kRefuse;
  group.Agree([&] { CheckMemory(LeastMemoryOf(trainer, plan), ReadMemoryLimits(), shortage); });
  group.Agree([&] {
    if (!group.leads()) return;
    const std::optional<DiskRoom> room = RoomOf(folder);
    if (room) CheckDisk(DiskNeedOf(trainer, plan), *room, folder.path(), shortage);
  });
}

// Returns how a resumed run continues, the same on all processes. Sets `finished` if there is
// nothing left to do.
Continuation Continue(const Trainer& trainer, const RunFolder& folder, dist::ProcessGroup& group,
                      const std::optional<std::string>& record, bool* finished) {
  Continuation continuation;
  group.Agree([&] {
    continuation = CompareWithRecord(trainer, folder, record);
    if (!group.leads()) return;
    if (continuation.checkpoint) {
      CheckInputsAreThoseOf(trainer.inputs, folder, *continuation.checkpoint);
    }
    if (continuation.extended) return;
    *finished = IsFinished(folder);
    if (*finished)
      DropCheckpoints(trainer, continuation.plan, folder);  // perhaps not all are gone
    else if (continuation.checkpoint)
      CheckHasTensors(folder, *continuation.checkpoint);
  });
  const std::string told =
      group.BroadcastBytes(Json({continuation.checkpoint.value_or(-1), *finished}).Dump());
  const Json facts = ParseJson(told);
  const auto checkpoint = facts.at(0).get<int64_t>();
  if (checkpoint >= 0) continuation.checkpoint = checkpoint;
  *finished = facts.at(1).get<bool>();
  return continuation;
}

// Returns the profile of the steps; "" if none was asked for.
std::string TrainAndProfile(const RunFolder& folder, Trainer& trainer,
                            const Continuation& continuation, const RunOptions& options,
                            dist::ProcessGroup& group) {
  if (options.profile_format.empty()) {
    TrainIn(folder, trainer, continuation, options, group, {});
    return "";
  }
  StepProfile profile;
  ProfileObserver profiler(profile);
  TrainIn(folder, trainer, continuation, options, group, {&profiler});
  return FormatProfile(
      profile,
      MeasureSetting(profile, trainer.inputs.run.precision, 3 * trainer.model().flops_per_token()),
      options.profile_format, options.profile_style);
}

std::string Train(config::LoadedRecipe loaded, const RunFolder& folder, const RunOptions& options,
                  dist::ProcessGroup& group) {
  std::optional<UsedFolder> used;  // only on rank 0
  group.Agree([&] {
    if (group.leads()) used.emplace(folder, options);
  });
  const bool resume = group.BroadcastBytes(used && used->resume() ? "yes" : "") == "yes";
  std::optional<std::string> record;
  if (resume) record = RecordedRecipe(folder, group);
  if (record) group.Agree([&] { KeepChoices(loaded, folder, *record); });
  const auto [made, plan] = MakeTrainer(std::move(loaded), {.stop = options.stop,
                                                            .group = options.group,
                                                            .version = options.version,
                                                            .tokens = options.tokens});
  Trainer& trainer = *made;
  if (!resume) CheckRoom(trainer, plan, folder, options, group);  // before the folder is made
  group.Agree([&] {
    if (used) used->Take();
  });
  Continuation continuation{.loaded = trainer.inputs.run.loaded, .plan = plan};
  if (resume) {
    bool finished = false;
    continuation = Continue(trainer, folder, group, record, &finished);
    if (finished) {
      Note(fmt::format("{}: this run is finished; its model is {}", folder.path().native(),
                       folder.model().native()));
      return "";
    }
    CheckRoom(trainer, continuation.plan, folder, options, group);
  }
  return TrainAndProfile(folder, trainer, continuation, options, group);
}

}  // namespace

std::string RunTraining(config::LoadedRecipe loaded, const RunOptions& options) {
  const std::filesystem::path output =
      options.output.empty() ? std::filesystem::path(loaded.recipe.output) : options.output;
  if (output.empty()) {
    throw UsageError("there is no run folder to write to: give --output, or output in the recipe");
  }
  if (output == "-") throw UsageError("--output - is no folder, and a run needs one: give a path");
  if (options.group != nullptr) {
    return Train(std::move(loaded), RunFolder(output), options, *options.group);
  }
  const std::unique_ptr<dist::ProcessGroup> alone = dist::ProcessGroup::Alone();
  return Train(std::move(loaded), RunFolder(output), options, *alone);
}

}  // namespace tandem::train
