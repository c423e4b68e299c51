#include "sampling/catalogue.h"

namespace tandem::sampling {

config::Catalogue SamplerCatalogue() {
  return {.name = "samplers",
          .entry = "sampler",
          .table = "sampling",
          .summary = "which examples come next: sampling.name",
          .entries = config::EntriesOf(Samplers())};
}

}  // namespace tandem::sampling
