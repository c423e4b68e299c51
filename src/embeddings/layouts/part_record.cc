#include "embeddings/layouts/part_record.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_members.h"

namespace tandem::embeddings {
namespace {

constexpr std::string_view kFormatName = "tandem embeddings part";
constexpr uint64_t kFormatVersion = 2;
constexpr uint64_t kOldestVersion = 1;  // had another checksum
constexpr uint64_t kMostWidth = 65536;
constexpr size_t kMostPromptBytes = size_t{1} << 20;
constexpr int kDigits = 5;

Json JsonOf(const PartFileRecord& file) {
  return {{"name", file.name}, {"bytes", file.bytes}, {"checksum", ToHex(file.checksum)}};
}

// The lines as an object of strings.
Json JsonOf(const Provenance& provenance) {
  Json object = Json::object();
  std::string_view lines = provenance.lines();
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    object[std::string(line.substr(0, space))] = line.substr(space + 1);
  }
  return object;
}

Provenance ProvenanceOf(const JsonMembers& from) {
  Provenance provenance;
  for (const auto& [key, value] : from.json().items()) provenance.Add(key, from.Text(key));
  return provenance;
}

PartFileRecord ReadFileRecord(const JsonMembers& from, std::string_view expected) {
  PartFileRecord file{.name = from.Text("name"), .bytes = from.Count("bytes", INT64_MAX)};
  if (file.name != expected) from.Fail("name", fmt::format("not {}", expected));
  const auto checksum = ChecksumFromHex(from.Text("checksum"));
  if (!checksum) from.Fail("checksum", "no checksum");
  file.checksum = *checksum;
  return file;
}

void CheckFormat(const JsonMembers& from, std::string_view file) {
  if (!from.Has("format") || from.Text("format") != kFormatName) {
    throw DataError(file, 0, "", "is no record of a part of embeddings");
  }
  const uint64_t version = from.Count("version", INT32_MAX);
  if (version < kOldestVersion || version > kFormatVersion) {
    throw DataError(
        file, 0, "",
        fmt::format("is of format version {}; this program reads versions {} to {}: use "
                    "the program that made it, or encode again",
                    version, kOldestVersion, kFormatVersion));
  }
}

uint64_t ReadHash(const JsonMembers& from, std::string_view name) {
  const std::string& digits = from.Text(name);
  const char* const end = digits.data() + digits.size();
  uint64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), end, value, 16);
  if (error != std::errc() || stop != end) from.Fail(name, "no hash");
  return value;
}

Shard ReadShard(const JsonMembers& from) {
  Shard shard{.index = 0, .count = static_cast<uint32_t>(from.Count("shards", kMostShards))};
  shard.index = static_cast<uint32_t>(from.Count("shard", kMostShards));
  if (shard.index >= shard.count) from.Fail("shard", "none of so many shards");
  return shard;
}

void CheckNumbers(const PartRecord& record, const JsonMembers& from) {
  if (record.width == 0) from.Fail("width", "0");
  if (record.rows > record.total_rows || record.first_row > record.total_rows - record.rows) {
    from.Fail("first_row", "not of a part of so many rows");
  }
  if (record.similarity != "cosine" && record.similarity != "dot") {
    from.Fail("similarity", "neither cosine nor dot");
  }
}

}  // namespace

std::string Shard::Text() const { return fmt::format("{}/{}", index, count); }

std::string Shard::Name() const {
  return fmt::format("part-{:0{}}-of-{:0{}}", index, kDigits, count, kDigits);
}

std::optional<Shard> ShardOfFile(std::string_view name) {
  Shard shard;
  const auto take = [&name](std::string_view word, uint32_t* number) {
    if (!name.starts_with(word) || name.size() < word.size() + kDigits) return false;
    const char* const begin = name.data() + word.size();
    const auto [stop, error] = std::from_chars(begin, begin + kDigits, *number);
    name.remove_prefix(word.size() + kDigits);
    return error == std::errc() && stop == begin + kDigits;
  };
  if (!take("part-", &shard.index) || !take("-of-", &shard.count)) return std::nullopt;
  if (!name.starts_with('.') || shard.index >= shard.count) return std::nullopt;
  return shard;
}

std::string FormatPartRecord(const PartRecord& record) {
  const Json json = {{"format", kFormatName},
                     {"version", kFormatVersion},
                     {"shard", record.shard.index},
                     {"shards", record.shard.count},
                     {"first_row", record.first_row},
                     {"rows", record.rows},
                     {"total_rows", record.total_rows},
                     {"width", record.width},
                     {"dtype", "float32"},
                     {"similarity", record.similarity},
                     {"prompt", record.prompt},
                     {"settings", JsonOf(record.provenance)},
                     {"texts", fmt::format("{:016x}", record.texts_hash)},
                     {"embeddings", JsonOf(record.embeddings)},
                     {"ids", JsonOf(record.ids)}};
  return json.Dump(1, JsonBytes::kReplace) + "\n";
}

PartRecord ParsePartRecord(std::string_view text, std::string_view file) {
  const Json json = ParseJsonObject(text, file);
  const JsonMembers members(file, "", json);
  CheckFormat(members, file);
  if (members.Text("dtype") != "float32") members.Fail("dtype", "not float32");
  PartRecord record{.shard = ReadShard(members),
                    .first_row = members.Count("first_row", INT64_MAX),
                    .rows = members.Count("rows", INT64_MAX),
                    .total_rows = members.Count("total_rows", INT64_MAX),
                    .width = members.Count("width", kMostWidth),
                    .similarity = members.Text("similarity"),
                    .prompt = members.Text("prompt", kMostPromptBytes),
                    .provenance = ProvenanceOf(members.Object("settings")),
                    .texts_hash = ReadHash(members, "texts"),
                    .embeddings = {},
                    .ids = {}};
  CheckNumbers(record, members);
  record.embeddings = ReadFileRecord(members.Object("embeddings"), record.shard.Name() + kPartRows);
  record.ids = ReadFileRecord(members.Object("ids"), record.shard.Name() + kPartIds);
  return record;
}

}  // namespace tandem::embeddings
