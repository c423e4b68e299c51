// The first actions of commands with tensors: set the threads, load the model, resolve the
// precision.
#pragma once

#include <memory>
#include <string>

#include "cli/globals.h"
#include "commands/model/model_flags.h"
#include "model/dual_encoder.h"
#include "search/encode.h"
#include "tensor/core/tensor.h"

namespace tandem::app {

// Returns the options that the flags give for loading a model. Queries get the prompt
// `query_prompt`, which comes from a data set; empty: the folder's own prompt, or that of --prompt.
model::LoadOptions LoadOptionsOf(const ModelFlags& flags, const std::string& query_prompt = "");

// Returns the device of `--device`, or the CPU if it is not given. A CUDA device becomes the
// back end's current one. Throws as tensor::UseDevice does.
tensor::Device CommandDevice(const Globals& globals);

// Sets the process up for tensors (tensor/machine/process.h), then loads the folder with
// LoadOptionsOf and moves the model to CommandDevice. Notes the prompt that --prompt chooses.
// Throws ModelError, UsageError.
std::unique_ptr<model::DualEncoder> LoadModel(const Globals& globals, const ModelFlags& flags,
                                              const std::string& query_prompt = "");

// Returns the last part of a path, for files that are read on other machines, where the rest of the
// path does not exist.
std::string FolderName(const std::string& folder);

// Returns the encoder's options from the global flags: `--precision` or TANDEM_PRECISION (fp32 if
// neither is given) as CommandDevice computes it, and `--threads`. Where nobody has asked for a
// precision, the options say what others would take (PrecisionAdvice) unless --quiet is given.
search::EncodeOptions BulkOptions(const Globals& globals);

}  // namespace tandem::app
