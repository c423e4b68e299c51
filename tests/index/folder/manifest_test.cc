#include "index/folder/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace tandem::index {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

Manifest Example() {
  const IndexKindInfo& kind = FindIndexKind("fp32");
  const KindChoice choice{&kind, config::Params(kind.params)};
  return {
      .generation = 3,
      .model = {.path = "/models/x",
                .fingerprint = 0xabc,
                .similarity = "cosine",
                .width = 4,
                .precision = "fp32",
                .document_prompt = "passage: ",
                .max_document_tokens = 128,
                .dimensions = 4},
      .choice = choice,
      .fields = {{"year", data::MetadataType::kNumber}, {"lang", data::MetadataType::kString}},
      .texts = true,
      .segments = {{.name = "segment-000001",
                    .rows = 10,
                    .removed = 1,
                    .choice = choice,
                    .removal = "removed-000003.bits",
                    .files = {{"vectors.f32", 160, {1, 2}}, {"removed-000003.bits", 8, {3, 4}}}}},
      .model_files = {{"model/config.json", 5, {5, 6}}}};
}

// The example's text after `change`, with the checksum that belongs to it.
std::string Changed(const std::function<void(ordered_json&)>& change) {
  ordered_json json = ordered_json::parse(FormatManifest(Example()));
  json.erase("checksum");
  change(json);
  std::string text = json.dump(1);
  text.resize(text.size() - 2);
  return text + ",\n \"checksum\": \"" + ToHex(ChecksumOf(text)) + "\"\n}\n";
}

void ExpectError(const std::string& text, const std::string& message) {
  try {
    ParseManifest(text, "index.json");
    ADD_FAILURE() << "no error; expected: " << message;
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(ManifestTest, ReadsBack) {
  const std::string text = FormatManifest(Example());
  const Manifest read = ParseManifest(text, "index.json");
  EXPECT_EQ(FormatManifest(read), text);
  EXPECT_EQ(read.rows(), 10u);
  EXPECT_EQ(read.removed(), 1u);
  EXPECT_EQ(read.file_bytes(), 173u);
  EXPECT_EQ(read.model.fingerprint, 0xabcu);
  EXPECT_EQ(read.model.document_prompt, "passage: ");
  EXPECT_EQ(read.fields, Example().fields);
  EXPECT_EQ(Changed([](ordered_json&) {}), text);
}

TEST(ManifestTest, HitsMayNeedAProbability) {
  EXPECT_EQ(ParseManifest(FormatManifest(Example()), "index.json").min_probability, std::nullopt);
  EXPECT_EQ(FormatManifest(Example()).find("min_probability"), std::string::npos);
  Manifest manifest = Example();
  manifest.min_probability = 0.8;
  EXPECT_EQ(ParseManifest(FormatManifest(manifest), "index.json").min_probability, 0.8);
}

TEST(ManifestTest, EveryAlteredByteIsFound) {
  const std::string text = FormatManifest(Example());
  for (size_t i = 0; i < text.size(); ++i) {
    std::string altered = text;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    EXPECT_THROW(ParseManifest(altered, "index.json"), DataError) << i;
    EXPECT_THROW(ParseManifest(text.substr(0, i), "index.json"), DataError) << i;
  }
}

// Version 1 differs by its kind of checksum, which its files keep.
TEST(ManifestTest, VersionOneIsRead) {
  Manifest example = Example();
  for (IndexFile& file : example.segments[0].files) file.checksum.kind = ChecksumKind::kFirst;
  ordered_json json = ordered_json::parse(FormatManifest(example));
  json.erase("checksum");
  json["version"] = 1;
  std::string text = json.dump(1);
  text.resize(text.size() - 2);
  text += ",\n \"checksum\": \"" + ToHex(ChecksumOf(text, ChecksumKind::kFirst)) + "\"\n}\n";
  const Manifest read = ParseManifest(text, "index.json");
  EXPECT_EQ(FormatManifest(read), FormatManifest(example));
  EXPECT_THAT(FormatManifest(read), HasSubstr("\"00000000000000010000000000000002\""));
  text[text.find("fp32")] ^= 1;
  ExpectError(text, "its checksum differs");
}

TEST(ManifestTest, AnotherVersionSaysWhatToDo) {
  ExpectError(Changed([](ordered_json& json) { json["version"] = 3; }),
              "is an index of format version 3; this program reads versions 1 to 2");
  ExpectError(Changed([](ordered_json& json) { json["version"] = 0; }), "format version 0");
  // The later version may have other members and another place for the checksum.
  ExpectError(R"({"format": "tandem index", "version": 7})", "format version 7");
  ExpectError(R"({"format": "other"})", "is not the index.json of a Tandem index");
  ExpectError("[]", "is not a JSON object");
  ExpectError(std::string(1000, '['), "is nested deeper");
}

TEST(ManifestTest, WhatCannotBeIsAnError) {
  const auto expect = [](const std::function<void(ordered_json&)>& change,
                         const std::string& message) { ExpectError(Changed(change), message); };
  expect([](ordered_json& j) { j["segments"][0]["name"] = "../other"; },
         "`segments.1.name` is no name of a segment");
  expect([](ordered_json& j) { j["segments"][0]["files"][0]["name"] = "a/b"; },
         "`files.1.name` is no name of a file of an index");
  expect([](ordered_json& j) { j["model_files"][0]["name"] = "model/../../x"; },
         "no name of a file");
  expect([](ordered_json& j) { j["segments"][0]["files"][1]["name"] = "vectors.f32"; },
         "there twice");
  expect([](ordered_json& j) { j["segments"][0]["rows"] = 5000000000; }, "`segments.1.rows` is no");
  expect([](ordered_json& j) { j["segments"][0]["removed"] = 11; }, "`segments.1.removed` is no");
  expect([](ordered_json& j) { j["segments"][0]["removal"] = ""; }, "`segments.1.removal` is");
  expect([](ordered_json& j) { j["segments"][0]["removal"] = "../../removed"; },
         "`segments.1.removal` is none of the segment's files");
  expect([](ordered_json& j) { j["model_files"][0]["name"] = "model/a\nb"; }, "no name of a file");
  expect([](ordered_json& j) { j["kind"] = "later"; }, "which this program does not know");
  expect([](ordered_json& j) { j["parameters"]["m"] = 3; }, "`parameters.m` is a parameter that");
  expect([](ordered_json& j) { j["model"]["width"] = 0; }, "`model.width` is 0");
  expect([](ordered_json& j) { j["model"]["width"] = -1; }, "`model.width` is no whole number");
  expect([](ordered_json& j) { j["model"]["similarity"] = "l2"; }, "neither cosine nor dot");
  expect([](ordered_json& j) { j["fields"][0]["type"] = "date"; }, "neither number nor string");
  expect([](ordered_json& j) { j.erase("texts"); }, "`texts` is missing");
  expect([](ordered_json& j) { j["min_probability"] = 1.5; },
         "`min_probability` is no probability, from 0 to 1");
  expect([](ordered_json& j) { j["min_probability"] = "high"; },
         "`min_probability` is \"high\", no finite number");
  expect(
      [](ordered_json& j) {
        for (int i = 0; i < 2; ++i) {
          j["segments"].push_back(j["segments"][0]);
          j["segments"][i]["rows"] = 4000000000;
        }
      },
      "of more than 4294967295 rows together");
}

TEST(ManifestTest, WhatCouldNotBeReadAgainIsNotWritten) {
  const TemporaryFolder folder;
  Manifest manifest = Example();
  WriteManifest(folder.path(), manifest);
  manifest.fields.resize(kMostFields + 1, {"year", data::MetadataType::kNumber});
  EXPECT_THROW(WriteManifest(folder.path(), manifest), DataError);
  manifest = Example();
  for (int i = 0; i < 20'000; ++i) manifest.segments.push_back(manifest.segments.front());
  EXPECT_THROW(WriteManifest(folder.path(), manifest), DataError);
  EXPECT_EQ(ReadManifest(folder.path()).segments.size(), 1u);
}

TEST(ManifestTest, FilesOfAModelMayHaveAnyOrdinaryName) {
  EXPECT_TRUE(IsModelPath("model-000001/1_Pooling/config.json"));
  EXPECT_TRUE(IsModelPath("model/how it was made (é).md"));
  for (const char* path : {"", "/", "a//b", "../a", "a/../b", "a/.hidden", "a\nb", "a\xff"}) {
    EXPECT_FALSE(IsModelPath(path)) << path;
  }
}

}  // namespace
}  // namespace tandem::index
