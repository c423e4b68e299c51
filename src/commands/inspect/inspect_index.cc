// Inspects indexes for `tandem inspect`.
#include <filesystem>
#include <string>

#include "base/json/json.h"
#include "commands/index/index_description.h"
#include "commands/inspect/inspections.h"
#include "index/folder/manifest.h"

namespace tandem::app {

Json InspectIndex(const std::filesystem::path& path) {
  Json described = DescribeIndex(path.native(), index::ReadManifest(path));
  Json found = {{"kind", "index"}, {"index_kind", described["kind"]}};
  described.erase("kind");
  found.Update(described);
  return found;
}

}  // namespace tandem::app
