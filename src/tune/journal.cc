#include "tune/journal.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json_reader.h"

namespace tandem::tune {
namespace {

std::string WholeLines(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return "";
  std::string text = ReadFile(path);
  const size_t end = text.rfind('\n');
  text.resize(end == std::string::npos ? 0 : end + 1);
  return text;
}

Json ParseRow(std::string_view line, const std::filesystem::path& path, size_t number) {
  std::optional<Json> row = ParseIfJson(line);
  const Json* const event = row ? row->Find("event") : nullptr;
  if (event != nullptr && event->is_string()) return std::move(*row);
  throw ModelError(path.native(), "",
                   fmt::format("line {} is no row of a search's journal; it was changed, and the "
                               "search cannot go on: begin another one",
                               number));
}

}  // namespace

Journal::Journal(const std::filesystem::path& path, dist::ProcessGroup& group) : group_(group) {
  std::string text;
  group_.Agree([&] {
    if (!group_.leads()) return;
    text = WholeLines(path);
    log_ = std::make_unique<train::LineLog>(path, text.size());
  });
  text = group_.BroadcastBytes(text);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    rows_.push_back(
        ParseRow(std::string_view(text).substr(begin, end - begin), path, rows_.size() + 1));
    begin = end + 1;
  }
}

const Json* Journal::Find(std::string_view event) const {
  const std::vector<const Json*> all = All(event);
  return all.empty() ? nullptr : all.front();
}

std::vector<const Json*> Journal::All(std::string_view event) const {
  std::vector<const Json*> all;
  for (const Json& row : rows_) {
    if (row.at("event").text() == event) all.push_back(&row);
  }
  return all;
}

const Json& Journal::Append(const std::function<Json()>& make) {
  std::string line;
  group_.Agree([&] {
    if (!group_.leads()) return;
    line = make().Dump();
    log_->Append(line + "\n");
    log_->Sync();
  });
  rows_.push_back(ParseJson(group_.BroadcastBytes(line)));
  return rows_.back();
}

}  // namespace tandem::tune
