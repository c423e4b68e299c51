#include "index/folder/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <variant>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json.h"
#include "base/json/json_members.h"
#include "base/utf8.h"

namespace tandem::index {
namespace {

constexpr std::string_view kFormatName = "tandem index";
constexpr uintmax_t kMostBytes = uintmax_t{16} << 20;  // a real one has kilobytes
constexpr size_t kMostSegments = 10'000;
constexpr size_t kMostFiles = 1000;  // of a segment, or of a model
constexpr uint64_t kMostWidth = 65536;
constexpr std::string_view kBeforeChecksum = ",\n \"checksum\": \"";
constexpr std::string_view kAfterChecksum = "\"\n}\n";

// --- Writing -------------------------------------------------------------------------------------

Json JsonOf(const config::Value& value) {
  return std::visit(
      [](const auto& held) -> Json {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t> ||
                      std::is_same_v<T, double> || std::is_same_v<T, std::string>) {
          return held;
        } else {
          return nullptr;  // kinds have no parameters that are lists or ranges
        }
      },
      value);
}

Json JsonOf(const config::Params& params) {
  Json object = Json::object();
  for (size_t i = 0; i < params.infos().size(); ++i) {
    object[std::string(params.infos()[i].name)] = JsonOf(params.value(i));
  }
  return object;
}

Json JsonOf(const std::vector<IndexFile>& files) {
  Json array = Json::array();
  for (const IndexFile& file : files) {
    array.push_back(
        {{"name", file.name}, {"bytes", file.bytes}, {"checksum", ToHex(file.checksum)}});
  }
  return array;
}

Json JsonOf(const SegmentRecord& segment) {
  return {{"name", segment.name},
          {"rows", segment.rows},
          {"removed", segment.removed},
          {"kind", segment.choice.kind->name},
          {"parameters", JsonOf(segment.choice.params)},
          {"removal", segment.removal},
          {"files", JsonOf(segment.files)}};
}

Json JsonOf(const IndexModel& model) {
  Json json = {{"path", model.path},
               {"name", model.name},
               {"fingerprint", fmt::format("{:016x}", model.fingerprint)},
               {"similarity", model.similarity},
               {"width", model.width},
               {"precision", model.precision},
               {"document_prompt", model.document_prompt}};
  if (model.max_document_tokens) json["max_document_tokens"] = *model.max_document_tokens;
  if (model.dimensions) json["dimensions"] = *model.dimensions;
  return json;
}

// --- Reading -------------------------------------------------------------------------------------

// A name that stays in its folder and hides nothing.
bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= 200 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

bool HasControlCharacter(std::string_view name) {
  return std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20; });
}

config::Value ValueOf(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) {
    // Beyond int64_t it is out of every range; Set says so.
    if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX) return json.get<double>();
    return json.get<int64_t>();
  }
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return std::monostate();
}

KindChoice ReadChoice(const JsonMembers& from) {
  KindChoice choice;
  const std::string& name = from.Text("kind");
  choice.kind = config::FindEntry(IndexKinds(), name);
  if (choice.kind == nullptr) {
    from.Fail("kind", fmt::format("{:.100}, which this program does not know", name));
  }
  choice.params = config::Params(choice.kind->params);
  const JsonMembers params = from.Object("parameters");
  for (const auto& [key, value] : params.json().items()) {
    if (!choice.params.Knows(key)) {
      params.Fail(fmt::format("{:.100}", key), "a parameter that this program does not know");
    }
    if (value.is_null()) continue;  // has no value
    if (const std::string problem = choice.params.Set(key, ValueOf(value)); !problem.empty()) {
      params.Fail(key, "wrong: it " + problem);
    }
  }
  return choice;
}

// Items of an array, each as an object with a path of its own.
template <typename Body>
void ForEach(const JsonMembers& from, std::string_view file, std::string_view name, size_t most,
             const Body& body) {
  size_t place = 0;
  for (const Json& item : from.Array(name, most)) {
    body(JsonMembers(file, fmt::format("{}.{}.", name, ++place), item));
  }
}

std::vector<IndexFile> ReadFiles(const JsonMembers& from, std::string_view file,
                                 std::string_view name, bool (*allowed)(std::string_view)) {
  std::vector<IndexFile> files;
  std::set<std::string_view> names;
  ForEach(from, file, name, kMostFiles, [&](const JsonMembers& item) {
    IndexFile one{.name = item.Text("name"), .bytes = item.Count("bytes", INT64_MAX)};
    if (!allowed(one.name)) item.Fail("name", "no name of a file of an index");
    if (!names.insert(item.Text("name")).second) item.Fail("name", "there twice");
    const auto checksum = ChecksumFromHex(item.Text("checksum"));
    if (!checksum) item.Fail("checksum", "no checksum");
    one.checksum = *checksum;
    files.push_back(std::move(one));
  });
  return files;
}

SegmentRecord ReadSegment(const JsonMembers& from, std::string_view file) {
  SegmentRecord segment{.name = from.Text("name"),
                        .rows = from.Count("rows", kMostRows),
                        .removed = 0,
                        .choice = ReadChoice(from),
                        .removal = from.Text("removal"),
                        .files = ReadFiles(from, file, "files", IsPlainName)};
  if (!IsPlainName(segment.name)) from.Fail("name", "no name of a segment");
  segment.removed = from.Count("removed", segment.rows);
  if ((segment.removed > 0) != !segment.removal.empty()) {
    from.Fail("removal", "there without removed rows, or missing with them");
  }
  const bool is_file =
      std::any_of(segment.files.begin(), segment.files.end(),
                  [&](const IndexFile& one) { return one.name == segment.removal; });
  if (!segment.removal.empty() && !is_file) from.Fail("removal", "none of the segment's files");
  return segment;
}

IndexModel ReadModel(const JsonMembers& from) {
  IndexModel model{.path = from.Text("path"),
                   .similarity = from.Text("similarity"),
                   .width = from.Count("width", kMostWidth),
                   .precision = from.Text("precision"),
                   .document_prompt = from.Text("document_prompt", size_t{1} << 20)};
  const std::string& digits = from.Text("fingerprint");
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, model.fingerprint, 16);
  if (error != std::errc() || stop != end) from.Fail("fingerprint", "no fingerprint");
  if (model.similarity != "cosine" && model.similarity != "dot") {
    from.Fail("similarity", "neither cosine nor dot");
  }
  if (model.width == 0) from.Fail("width", "0");
  if (from.Has("name")) model.name = from.Text("name");
  if (from.Has("max_document_tokens")) {
    model.max_document_tokens = from.Count("max_document_tokens", INT32_MAX);
  }
  if (from.Has("dimensions")) {
    model.dimensions = static_cast<int64_t>(from.Count("dimensions", kMostWidth));
  }
  return model;
}

std::vector<data::MetadataField> ReadFields(const JsonMembers& from, std::string_view file) {
  std::vector<data::MetadataField> fields;
  ForEach(from, file, "fields", kMostFields, [&](const JsonMembers& item) {
    const std::string& type = item.Text("type");
    if (type != "number" && type != "string") item.Fail("type", "neither number nor string");
    fields.push_back(
        {.name = item.Text("name"),
         .type = type == "number" ? data::MetadataType::kNumber : data::MetadataType::kString});
  });
  return fields;
}

void CheckFormat(const JsonMembers& from, std::string_view file) {
  if (!from.Has("format") || from.Text("format") != kFormatName) {
    throw DataError(file, 0, "", "is not the index.json of a Tandem index");
  }
  const auto version = static_cast<int64_t>(from.Count("version", INT32_MAX));
  if (version < kOldestVersion || version > kFormatVersion) {
    throw DataError(file, 0, "",
                    fmt::format("is an index of format version {}; this program reads versions {} "
                                "to {}: use the program that made it, or build the index again",
                                version, kOldestVersion, kFormatVersion));
  }
}

void CheckSize(uintmax_t size, const std::filesystem::path& path) {
  if (size <= kMostBytes) return;
  throw DataError(path.native(), 0, "",
                  fmt::format("has {} bytes; at most {} are expected", size, kMostBytes));
}

// The text must end with the checksum of what stands before it.
void CheckOwnChecksum(std::string_view text, std::string_view file) {
  const size_t at = text.rfind(kBeforeChecksum);
  const size_t digits = at + kBeforeChecksum.size();
  const bool complete = at != std::string_view::npos && text.ends_with(kAfterChecksum) &&
                        text.size() >= digits + kAfterChecksum.size();
  const auto checksum =
      complete ? ChecksumFromHex(text.substr(digits, text.size() - digits - kAfterChecksum.size()))
               : std::nullopt;
  if (!checksum || *checksum != ChecksumOf(text.substr(0, at), checksum->kind)) {
    throw DataError(file, 0, "",
                    "is not as it was written (its checksum differs): the index is damaged; bring "
                    "it back from a copy, or build it again");
  }
}

}  // namespace

bool IsModelPath(std::string_view path) {
  constexpr size_t kMostNameBytes = 255;
  if (!IsUtf8(path)) return false;  // JSON cannot say it
  while (true) {
    const size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    const bool is_plain = !name.empty() && name.size() <= kMostNameBytes && name.front() != '.' &&
                          !HasControlCharacter(name);
    if (!is_plain) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

uint64_t Manifest::rows() const {
  uint64_t sum = 0;
  for (const SegmentRecord& segment : segments) sum += segment.rows;
  return sum;
}

uint64_t Manifest::removed() const {
  uint64_t sum = 0;
  for (const SegmentRecord& segment : segments) sum += segment.removed;
  return sum;
}

uint64_t Manifest::file_bytes() const {
  uint64_t sum = 0;
  for (const IndexFile& file : model_files) sum += file.bytes;
  for (const SegmentRecord& segment : segments) {
    for (const IndexFile& file : segment.files) sum += file.bytes;
  }
  return sum;
}

namespace {

std::optional<double> ReadMinProbability(const JsonMembers& members) {
  if (!members.Has("min_probability")) return std::nullopt;
  const double probability = members.Number("min_probability");
  if (!(probability >= 0 && probability <= 1)) {
    members.Fail("min_probability", "no probability, from 0 to 1");
  }
  return probability;
}

}  // namespace

std::string FormatManifest(const Manifest& manifest) {
  Json json = {{"format", kFormatName},
               {"version", kFormatVersion},
               {"generation", manifest.generation},
               {"model", JsonOf(manifest.model)},
               {"kind", manifest.choice.kind->name},
               {"parameters", JsonOf(manifest.choice.params)},
               {"fields", Json::array()},
               {"texts", manifest.texts},
               {"segments", Json::array()},
               {"model_files", JsonOf(manifest.model_files)}};
  if (manifest.min_probability) json["min_probability"] = *manifest.min_probability;
  for (const data::MetadataField& field : manifest.fields) {
    json["fields"].push_back({{"name", field.name}, {"type", data::MetadataTypeName(field.type)}});
  }
  for (const SegmentRecord& segment : manifest.segments) {
    json["segments"].push_back(JsonOf(segment));
  }
  std::string text = json.Dump(1, JsonBytes::kReplace);
  text.resize(text.size() - 2);  // "\n}"
  const std::string checksum = ToHex(ChecksumOf(text));
  return text.append(kBeforeChecksum).append(checksum).append(kAfterChecksum);
}

Manifest ParseManifest(std::string_view text, std::string_view file) {
  const Json json = ParseJsonObject(text, file);
  const JsonMembers members(file, "", json);
  CheckFormat(members, file);
  CheckOwnChecksum(text, file);
  Manifest manifest{.generation = members.Count("generation", INT64_MAX),
                    .model = ReadModel(members.Object("model")),
                    .choice = ReadChoice(members),
                    .fields = ReadFields(members, file),
                    .texts = members.Truth("texts"),
                    .min_probability = ReadMinProbability(members),
                    .segments = {},
                    .model_files = ReadFiles(members, file, "model_files", IsModelPath)};
  ForEach(members, file, "segments", kMostSegments,
          [&](const JsonMembers& item) { manifest.segments.push_back(ReadSegment(item, file)); });
  if (manifest.rows() > kMostRows) {
    members.Fail("segments", fmt::format("of more than {} rows together", kMostRows));
  }
  return manifest;
}

Manifest ReadManifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kManifestName;
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) {
    const bool there = std::filesystem::is_directory(folder, error);
    throw DataError(folder.native(), 0, "",
                    there ? "is no index: it has no index.json; if building it was interrupted, "
                            "the same `tandem index build` goes on"
                          : "there is no such folder; an index was expected");
  }
  CheckSize(size, path);
  return ParseManifest(ReadFile(path), path.native());
}

void WriteManifest(const std::filesystem::path& folder, const Manifest& manifest) {
  const std::filesystem::path path = folder / kManifestName;
  const std::string text = FormatManifest(manifest);
  CheckSize(text.size(), path);
  ParseManifest(text, path.native());
  SyncFolder(folder);  // segments have their names
  WriteFileAtomically(path, text);
  SyncFolder(folder);
}

std::string FormatParams(const config::Params& params) {
  std::string text;
  for (size_t i = 0; i < params.infos().size(); ++i) {
    if (std::holds_alternative<std::monostate>(params.value(i))) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", params.infos()[i].name,
                        config::FormatValue(params.value(i)));
  }
  return text;
}

}  // namespace tandem::index
