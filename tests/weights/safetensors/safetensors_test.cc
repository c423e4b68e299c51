#include "weights/safetensors/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/error.h"
#include "base/files/files.h"
#include "base/random.h"
#include "support/error_matching.h"
#include "support/safetensors_bytes.h"
#include "support/temporary_folder.h"

namespace tandem::weights {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr const char* kTwoTensors =
    R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
    R"("b":{"dtype":"BF16","shape":[1,2],"data_offsets":[8,12]}})";

std::string TwoTensors() {
  const float a[] = {1.5f, -2.0f};
  const uint16_t b[] = {0x3f80, 0xc000};  // 1, -2
  std::string data(12, '\0');
  std::memcpy(data.data(), a, 8);
  std::memcpy(data.data() + 8, b, 4);
  return SafetensorsBytes(kTwoTensors, data);
}

void ExpectBroken(std::string_view header, std::string_view data,
                  const std::vector<std::string>& texts) {
  const std::string bytes = SafetensorsBytes(header, data);
  ExpectError([&] { ParseSafetensors(bytes, "m.safetensors"); }, ExitCode::kModel, texts);
}

// One tensor 'x' with this description.
void ExpectBrokenTensor(const std::string& description, size_t data_bytes,
                        std::vector<std::string> texts) {
  texts.push_back("(tensor x)");
  ExpectBroken("{\"x\":" + description + "}", std::string(data_bytes, '\0'), texts);
}

TEST(Safetensors, ReadsTensorsAndMetadata) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() / "m.safetensors", TwoTensors());
  const SafetensorsFile file(folder.path() / "m.safetensors");
  EXPECT_THAT(file.metadata(), ElementsAre(Pair("format", "pt")));
  ASSERT_EQ(file.tensors().size(), 2u);
  ASSERT_NE(file.Find("b"), nullptr);
  EXPECT_EQ(file.Find("b")->shape, (Shape{1, 2}));
  EXPECT_THAT(ToFloat32(*file.Find("a")), ElementsAre(1.5f, -2.0f));
  EXPECT_THAT(ToFloat32(*file.Find("b")), ElementsAre(1.0f, -2.0f));
  EXPECT_EQ(file.Find("c"), nullptr);
}

TEST(Safetensors, ReadsHalfAndRefusesIntegersAsNumbers) {
  const std::string bytes =
      SafetensorsBytes(R"({"h":{"dtype":"F16","shape":[],"data_offsets":[0,2]},)"
                       R"("i":{"dtype":"I64","shape":[1],"data_offsets":[2,10]}})",
                       std::string("\x00\x3c", 2) + std::string(8, '\1'));
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() / "m.safetensors", bytes);
  const SafetensorsFile file(folder.path() / "m.safetensors");
  EXPECT_THAT(ToFloat32(*file.Find("h")), ElementsAre(1.0f));  // a scalar has one element
  EXPECT_EQ(file.Find("i")->bytes, std::string(8, '\1'));
  ExpectError([&] { ToFloat32(*file.Find("i")); }, ExitCode::kModel, {"I64", "(tensor i)"});
}

TEST(Safetensors, TakesWhatTheFormatAllows) {
  EXPECT_TRUE(ParseSafetensors(SafetensorsBytes("{}", ""), "f").tensors.empty());
  EXPECT_TRUE(ParseSafetensors(SafetensorsBytes("{}      ", ""), "f").tensors.empty());
  const auto empty = ParseSafetensors(
      SafetensorsBytes(R"({"z":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]}})", ""), "f");
  EXPECT_EQ(empty.tensors.at(0).shape, (Shape{0, 7}));
  const auto four_bits = ParseSafetensors(
      SafetensorsBytes(R"({"z":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}})", "ab"), "f");
  EXPECT_EQ(four_bits.tensors.at(0).end, 2u);
}

TEST(Safetensors, MissingFileIsAModelError) {
  ExpectError([] { SafetensorsFile("/no/such/file.safetensors"); }, ExitCode::kModel,
              {"/no/such/file.safetensors", "No such file"});
}

TEST(Safetensors, HeaderLengthIsCheckedFirst) {
  const auto with_length = [](uint64_t length, std::string_view rest) {
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    return bytes.append(rest);
  };
  const auto expect = [](const std::string& bytes, const std::vector<std::string>& texts) {
    ExpectError([&] { ParseSafetensors(bytes, "m.safetensors"); }, ExitCode::kModel, texts);
  };
  expect("", {"is empty"});
  expect("1234567", {"7 bytes"});
  expect(with_length(3, "{}"), {"the header claims 3 bytes", "only 2"});
  expect(with_length(uint64_t{1} << 63, "{}"), {"claims 9223372036854775808 bytes"});
  expect(with_length(~uint64_t{0}, "{}"), {"claims 18446744073709551615 bytes"});
  expect(with_length(300, "{\"a\":{\"dtype\""), {"the header claims 300 bytes", "cut short"});
  expect(with_length(0, ""), {"does not start with '{'"});
  expect(with_length(2, "[]"), {"does not start with '{'"});
}

TEST(Safetensors, HeaderBeyondTheLimitIsRefused) {
  const std::string bytes = SafetensorsBytes(std::string(kMaxHeaderBytes + 1, ' '), "");
  ExpectError([&] { ParseSafetensors(bytes, "f"); }, ExitCode::kModel, {"at most 100000000"});
}

TEST(Safetensors, HeaderMustBeTheFormatsJson) {
  ExpectBroken("{", "", {"not JSON"});
  ExpectBroken("{}{}", "", {"not JSON"});
  ExpectBroken(R"({"a":1})", "", {"a number"});
  ExpectBroken(R"({"a":"F32"})", "", {"a string"});
  ExpectBroken(R"({"a":null})", "", {"null"});
  ExpectBroken(R"({"a":[]})", "", {"an array"});
  ExpectBroken("{\"\xff\":{}}", "", {"not JSON"});
  ExpectBroken(R"({"__metadata__":{"format":1}})", "", {"a number"});
  ExpectBroken(R"({"__metadata__":{},"__metadata__":{}})", "", {"'__metadata__' occurs twice"});
  ExpectBroken(R"({"__metadata__":{"k":"1","k":"2"}})", "", {"'k' occurs twice"});
}

TEST(Safetensors, NestingBombsEndAtTheFirstLevelTooMany) {
  ExpectBroken("{\"a\":" + std::string(50'000'000, '['), "", {"an array"});
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  ExpectBroken(objects, "", {"(tensor a)"});
}

TEST(Safetensors, TensorDescriptionsAreChecked) {
  const std::string rest = R"("shape":[1],"data_offsets":[0,4]})";
  ExpectBrokenTensor("{}", 0, {"lacks dtype, shape or data_offsets"});
  ExpectBrokenTensor("{" + rest, 4, {"lacks dtype"});
  ExpectBrokenTensor(R"({"dtype":"F33",)" + rest, 4, {"unknown type 'F33'"});
  ExpectBrokenTensor(R"({"dtype":"F32","dtype":"F32",)" + rest, 4, {"'dtype' twice"});
  ExpectBrokenTensor(R"({"dtype":"F32","extra":1,)" + rest, 4, {"'extra' twice or unknown"});
  const std::string type = R"({"dtype":"F32","shape":)";
  ExpectBrokenTensor(type + R"([-1],"data_offsets":[0,4]})", 4, {"a negative number"});
  ExpectBrokenTensor(type + R"([1.5],"data_offsets":[0,4]})", 4, {"not an integer"});
  ExpectBrokenTensor(type + R"([18446744073709551615],"data_offsets":[0,4]})", 4, {"beyond 2^63"});
  ExpectBrokenTensor(type + R"([99999999999999999999999],"data_offsets":[0,4]})", 4,
                     {"not an integer"});
  ExpectBrokenTensor(type + R"([1],"data_offsets":[0]})", 4, {"has not two data_offsets"});
  ExpectBrokenTensor(type + R"([1],"data_offsets":[0,4,4]})", 4, {"more than two data_offsets"});
}

TEST(Safetensors, OffsetsShapesAndTypesMustAgree) {
  const std::string type = R"({"dtype":"F32","shape":)";
  ExpectBrokenTensor(type + R"([2],"data_offsets":[0,8]})", 7, {"not inside the 7 bytes"});
  ExpectBrokenTensor(type + R"([1],"data_offsets":[8,4]})", 8, {"[8, 4]"});
  ExpectBrokenTensor(type + R"([2],"data_offsets":[0,4]})", 4, {"needs 8 bytes", "hold 4"});
  ExpectBrokenTensor(type + R"([],"data_offsets":[0,8]})", 8, {"shape []", "needs 4 bytes"});
  // Shapes whose element counts wrap around in 64 bits to a size that fits.
  ExpectBrokenTensor(type + R"([4294967296,4294967296,1],"data_offsets":[0,0]})", 0,
                     {"impossibly many"});
  ExpectBrokenTensor(type + R"([4611686018427387904],"data_offsets":[0,0]})", 0,
                     {"impossibly many"});
  ExpectBrokenTensor(R"({"dtype":"F4","shape":[3],"data_offsets":[0,2]})", 2, {"impossibly many"});
}

TEST(Safetensors, TensorsCoverTheDataExactly) {
  const auto header = [](const char* a, const char* b) {
    const auto tensor = [](const char* name, const char* offsets) {
      return std::string("\"") + name + R"(":{"dtype":"U8","shape":[4],"data_offsets":)" + offsets +
             "}";
    };
    return "{" + tensor("a", a) + "," + tensor("b", b) + "}";
  };
  ExpectBroken(header("[0,4]", "[2,6]"), "abcdef", {"must not overlap", "(tensor b)"});
  ExpectBroken(header("[0,4]", "[0,4]"), "abcd", {"must not overlap"});
  ExpectBroken(header("[0,4]", "[5,9]"), "abcdefghi", {"must not leave holes"});
  ExpectBroken(header("[1,5]", "[5,9]"), "abcdefghi", {"must not leave holes", "(tensor a)"});
  ExpectBroken(header("[0,4]", "[4,8]"), "abcdefghi", {"1 bytes after the last tensor"});
  const std::string twice = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                            R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
  ExpectBroken(twice, "ab", {"the name occurs twice", "(tensor a)"});
}

TEST(Safetensors, LongNamesAreCutInMessages) {
  const std::string name(1'000'000, 'n');
  try {
    ParseSafetensors(SafetensorsBytes("{\"" + name + "\":{}}", ""), "f");
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_LT(std::strlen(error.what()), 500u);
  }
}

TEST(Safetensors, CutAtEveryByteIsAnError) {
  const std::string whole = TwoTensors();
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(ParseSafetensors(whole.substr(0, length), "f"), ModelError) << length;
  }
  EXPECT_NO_THROW(ParseSafetensors(whole, "f"));
}

// Changes random bytes: the reader throws, or its tensors lie inside the data and fit their shapes.
TEST(Safetensors, ChangedBytesNeverGiveATensorOutsideTheData) {
  RandomStream random({.seed = 3, .purpose = "test"});
  const std::string whole = TwoTensors();
  int accepted = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string bytes = whole;
    for (uint64_t change = random.Below(3) + 1; change > 0; --change) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Below(256));
    }
    try {
      const SafetensorsHeader header = ParseSafetensors(bytes, "f");
      ++accepted;
      uint64_t covered = 0;
      for (const TensorEntry& tensor : header.tensors) {
        ASSERT_EQ(tensor.begin, covered);
        uint64_t bits = DtypeBits(tensor.dtype);
        for (const int64_t size : tensor.shape) bits *= static_cast<uint64_t>(size);
        ASSERT_EQ(bits, 8 * (tensor.end - tensor.begin));
        covered = tensor.end;
      }
      ASSERT_EQ(header.data_offset + covered, bytes.size());
    } catch (const ModelError&) {
    }
  }
  EXPECT_GT(accepted, 1000);  // names, metadata and data may change
}

}  // namespace
}  // namespace tandem::weights
