// The catalogue of formats that data sets are written in: one file each, and one line of
// CMakeLists.txt. Callers use data/write_dataset.h.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "data/dataset.h"
#include "data/warnings.h"
#include "data/write_dataset.h"

namespace tandem::data {

struct WriteRequest {
  const Dataset& dataset;
  const std::filesystem::path& output;
  const WriteOptions& options;
  Warnings& warnings;
};

struct DatasetWriter {
  std::string_view format;  // as recipes spell it
  bool is_folder = false;
  bool has_negatives_option = false;  // WriteOptions::negatives
  // Writes what `request` says, atomically; `output` does not exist.
  WriteCounts (*write)(const WriteRequest& request) = nullptr;
  // Throws UsageError where the format cannot hold the data set; null: it can hold any.
  void (*check)(const Dataset& dataset, const WriteOptions& options) = nullptr;
};

// Every format. The table is written from CMakeLists.txt.
std::span<const DatasetWriter* const> DatasetWriters();

}  // namespace tandem::data
