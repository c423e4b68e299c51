// What transformers makes of folders whose files beside tokenizer.json change what it means, kept
// as hashes (golden/settings.json, by tools/checks/check_tokenizer_settings.py --golden).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/temporary_folder.h"
#include "text/golden.h"
#include "text/tokenizer.h"

namespace tandem::text {
namespace {

using Json = nlohmann::ordered_json;

Json ReadGolden(const std::string& name) {
  return Json::parse(ReadFile(fmt::format("{}/{}", kGolden, name)));
}

// A thousand cases have a few bases, whose JSON takes longer to read than their texts to encode.
const Json& BaseOf(const std::string& name) {
  static std::map<std::string, Json> bases;
  const auto found = bases.find(name);
  return found != bases.end() ? found->second
                              : bases.emplace(name, ReadGolden(name + ".json")).first->second;
}

void WriteFolder(const Json& one, const std::filesystem::path& folder) {
  const Json& base = BaseOf(one["base"].get<std::string>());
  if (one.contains("json")) {
    Json changed = base;
    changed.update(one["json"]);
    WriteFileAtomically(folder / "tokenizer.json", changed.dump());
  } else {
    WriteFileAtomically(folder / "tokenizer.json", base.dump());
  }
  for (const auto& [member, file] :
       {std::pair("config", "tokenizer_config.json"), std::pair("map", "special_tokens_map.json"),
        std::pair("added", "added_tokens.json"), std::pair("model", "config.json")}) {
    if (one.contains(member)) WriteFileAtomically(folder / file, one[member].dump());
  }
}

TEST(SettingsGolden, IdsEqualTransformers) {
  const Json golden = ReadGolden("settings.json");
  const auto texts = golden["texts"].get<std::vector<std::string>>();
  ASSERT_GE(golden["cases"].size(), 1000U);
  for (const Json& one : golden["cases"]) {
    const TemporaryFolder folder;
    WriteFolder(one, folder.path());
    const auto tokenizer = LoadTokenizer(folder.path());
    const EncodedTexts encoded = EncodeAll(*tokenizer, texts, one.value("length", size_t{0}));
    EXPECT_EQ(fmt::format("{:08x}", CrcOf(encoded).value()), one["crc"].get<std::string>())
        << one.dump();
  }
}

}  // namespace
}  // namespace tandem::text
