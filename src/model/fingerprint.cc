#include "model/fingerprint.h"

#include "data/fingerprint.h"

namespace tandem::model {

uint64_t Fingerprint(DualEncoder& model) {
  data::Fingerprint hash;
  hash.Add(std::string_view(model.settings()));
  for (const NamedParameter& parameter : model.Parameters()) {
    const at::Tensor values = parameter.value.detach().contiguous();
    hash.Add(std::string_view(parameter.name));
    hash.AddBytes(values.data_ptr(), static_cast<size_t>(values.nbytes()));
  }
  return hash.value();
}

}  // namespace tandem::model
