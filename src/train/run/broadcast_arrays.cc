#include "train/run/broadcast_arrays.h"

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/json/json_reader.h"

namespace tandem::train {
namespace {

using Values = decltype(sampling::StateArray::values);

// Returns an empty array of the type with this index.
Values OfType(size_t index) {
  if (index == 1) return std::vector<uint32_t>();
  if (index == 2) return std::vector<uint8_t>();
  return std::vector<float>();
}
static_assert(std::variant_size_v<Values> == 3);

void Broadcast(dist::ProcessGroup& group, Values& values) {
  std::visit(
      [&group]<typename T>(std::vector<T>& array) {
        const std::string bytes = group.BroadcastBytes(
            {reinterpret_cast<const char*>(array.data()), array.size() * sizeof(T)});
        array.resize(bytes.size() / sizeof(T));
        if (!bytes.empty()) std::memcpy(array.data(), bytes.data(), bytes.size());
      },
      values);
}

}  // namespace

std::vector<sampling::StateArray> BroadcastArrays(dist::ProcessGroup& group,
                                                  std::vector<sampling::StateArray> arrays) {
  if (group.alone()) return arrays;
  Json kinds = Json::array();
  for (const sampling::StateArray& array : arrays) {
    kinds.push_back({array.name, array.values.index()});
  }
  kinds = ParseJson(group.BroadcastBytes(kinds.Dump()));
  if (!group.leads()) {
    arrays.clear();
    for (const Json& kind : kinds) {
      arrays.push_back({kind.at(0).get<std::string>(), OfType(kind.at(1).get<size_t>())});
    }
  }
  for (sampling::StateArray& array : arrays) Broadcast(group, array.values);
  return arrays;
}

}  // namespace tandem::train
