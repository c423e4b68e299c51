#include "model/fingerprint.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/hashes/running_hash.h"
#include "base/hashes/text_hash.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/run_apart.h"
#include "weights/folders/adapter_folder.h"

namespace tandem::model {
namespace {

// Adds names and values. Values are hashed a parameter a thread: a small model's take a quarter of
// the time of a process that encodes one text.
void Add(const std::vector<NamedParameter>& parameters, RunningHash* hash) {
  std::vector<uint64_t> hashes(parameters.size());
  tensor::RunApart(parameters.size(), [&](size_t i) {
    const tensor::Tensor values = tensor::OnCpu(parameters[i].value.detach());
    hashes[i] = TextHash({static_cast<const char*>(values.data_ptr()), values.nbytes()});
  });
  for (size_t i = 0; i < parameters.size(); ++i) {
    hash->Add(std::string_view(parameters[i].name));
    hash->Add(hashes[i]);
  }
}

bool IsAdapter(const NamedParameter& parameter) {
  return parameter.name.ends_with(weights::kLoraDown) || parameter.name.ends_with(weights::kLoraUp);
}

}  // namespace

uint64_t Fingerprint(DualEncoder& model) {
  RunningHash hash;
  hash.Add(std::string_view(model.settings()));
  Add(model.Parameters(), &hash);
  model.ReleasePages();
  return hash.value();
}

uint64_t AdapterFingerprint(DualEncoder& model) {
  RunningHash hash;
  hash.Add(std::string_view(model.adapter_settings()));
  std::vector<NamedParameter> adapters = model.Parameters();
  std::erase_if(adapters, [](const NamedParameter& one) { return !IsAdapter(one); });
  Add(adapters, &hash);
  return hash.value();
}

}  // namespace tandem::model
