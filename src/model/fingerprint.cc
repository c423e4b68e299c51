#include "model/fingerprint.h"

#include "base/hashes/running_hash.h"
#include "weights/folders/adapter_folder.h"

namespace tandem::model {

namespace {

void Add(const NamedParameter& parameter, RunningHash* hash) {
  const at::Tensor values = parameter.value.detach().cpu().contiguous();
  hash->Add(std::string_view(parameter.name));
  hash->AddBytes(values.data_ptr(), static_cast<size_t>(values.nbytes()));
}

bool IsAdapter(const NamedParameter& parameter) {
  return parameter.name.ends_with(weights::kLoraDown) || parameter.name.ends_with(weights::kLoraUp);
}

}  // namespace

uint64_t Fingerprint(DualEncoder& model) {
  RunningHash hash;
  hash.Add(std::string_view(model.settings()));
  for (const NamedParameter& parameter : model.Parameters()) Add(parameter, &hash);
  return hash.value();
}

uint64_t AdapterFingerprint(DualEncoder& model) {
  RunningHash hash;
  hash.Add(std::string_view(model.adapter_settings()));
  for (const NamedParameter& parameter : model.Parameters()) {
    if (IsAdapter(parameter)) Add(parameter, &hash);
  }
  return hash.value();
}

}  // namespace tandem::model
