// What `tandem inspect` finds, once for both of its formats.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace tandem::app {

// An object of scalars, objects of scalars and lists of objects with equal keys; its first key,
// "kind", is "model", "safetensors", "npy", "texts", "run" or "judgements". Throws ModelError for
// what is no readable model, DataError for broken data, UsageError for a file of unknown ending.
nlohmann::ordered_json Inspect(const std::filesystem::path& path);

// To stdout: "json" as it is, "text" as lines and tables.
void PrintInspection(const nlohmann::ordered_json& inspection, std::string_view format);

}  // namespace tandem::app
