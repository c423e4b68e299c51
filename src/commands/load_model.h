// What the tensor commands do first: set threads, load the model, resolve the precision.
#pragma once

#include <memory>
#include <string>

#include "cli/globals.h"
#include "commands/model_flags.h"
#include "model/dual_encoder.h"
#include "search/encode.h"

namespace tandem::app {

// What the flags say of a model that is loaded. Queries get `query_prompt` in front, which a data
// set brings; empty: the folder's own prompt, or that of --prompt.
model::LoadOptions LoadOptionsOf(const ModelFlags& flags, const std::string& query_prompt = "");

// The device of `--device`, the CPU where it is not given; a CUDA device becomes libtorch's current
// one. Throws UsageError as tensor::UseDevice.
c10::Device CommandDevice(const Globals& globals);

// Sets the process up for tensors (tensor/machine/process.h), then loads the folder with
// LoadOptionsOf and moves the model to CommandDevice. Notes which prompt --prompt stands for.
// Throws ModelError, UsageError.
std::unique_ptr<model::DualEncoder> LoadModel(const Globals& globals, const ModelFlags& flags,
                                              const std::string& query_prompt = "");

// The last part of a path, for files that other machines read, which do not have the path to it.
std::string FolderName(const std::string& folder);

// The global flags as the encoder takes them: `--precision` (fp32 where not given), as
// CommandDevice computes it, and `--threads`.
search::EncodeOptions BulkOptions(const Globals& globals);

}  // namespace tandem::app
