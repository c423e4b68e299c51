#include "weights/safetensors/safetensors_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <stdlib.h>

#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "base/files/files.h"
#include "support/error_matching.h"
#include "support/safetensors_bytes.h"
#include "support/temporary_folder.h"
#include "support/test_data.h"

namespace tandem::weights {
namespace {

// RapidCheck draws the same cases in every run, unless the environment asks for others.
[[maybe_unused]] const int kFixedSeed = ::setenv("RC_PARAMS", "seed=20240601", 0);

TEST(SafetensorsWriter, WritesTheReferenceWritersBytes) {
  const TemporaryFolder folder;
  const std::vector<TensorToWrite> tensors = {
      {.name = "b\"\xc3\xa9", .dtype = Dtype::kU8, .shape = {3}, .bytes = "xyz"},
      {.name = "b", .dtype = Dtype::kF32, .shape = {1}, .bytes = "0123"},
      {.name = "a", .dtype = Dtype::kF32, .shape = {0, 2}, .bytes = ""},
      {.name = "c", .dtype = Dtype::kI64, .shape = {}, .bytes = "01234567"},
  };
  WriteSafetensors(folder.path() / "m", tensors, {{"z", "1"}, {"format", "pt"}});
  // What safetensors 0.8 writes for these, metadata keys sorted; padded to 8 bytes.
  std::string header =
      R"({"__metadata__":{"format":"pt","z":"1"},"c":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[0,2],"data_offsets":[8,8]},)"
      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
      "\"b\\\"\xc3\xa9\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[12,15]}}";
  while (header.size() % 8 != 0) header += ' ';
  EXPECT_EQ(ReadFile(folder.path() / "m"), SafetensorsBytes(header, "012345670123xyz"));
}

TEST(SafetensorsWriter, RewritingARealFileGivesItsBytes) {
  const auto model = ModelDir();
  if (!model) GTEST_SKIP() << kNoModelDir;
  const TemporaryFolder folder;
  const SafetensorsFile file(*model / "model.safetensors");
  std::vector<TensorToWrite> tensors;
  for (const TensorView& tensor : file.tensors()) {
    tensors.insert(tensors.begin(), Unchanged(tensor));  // order does not matter
  }
  WriteSafetensors(folder.path() / "m", tensors, file.metadata());
  EXPECT_TRUE(ReadFile(folder.path() / "m") == ReadFile(*model / "model.safetensors"));
}

TEST(SafetensorsWriter, RefusesWhatWouldNotReadBack) {
  const TemporaryFolder folder;
  const auto write = [&](const std::vector<TensorToWrite>& tensors) {
    WriteSafetensors(folder.path() / "m", tensors);
  };
  const TensorToWrite good{.name = "a", .dtype = Dtype::kU8, .shape = {1}, .bytes = "x"};
  TensorToWrite other = good;
  other.dtype = Dtype::kI8;
  ExpectError([&] { write({good, other}); }, ExitCode::kModel, {"twice", "(tensor a)"});
  TensorToWrite shorter = good;
  shorter.shape = {2};
  ExpectError([&] { write({shorter}); }, ExitCode::kModel, {"shape [2] with 1 bytes"});
  TensorToWrite negative = good;
  negative.shape = {-1, -1};
  ExpectError([&] { write({negative}); }, ExitCode::kModel, {"shape [-1, -1]"});
  TensorToWrite no_text = good;
  no_text.name = "\xff";
  ExpectError([&] { write({no_text}); }, ExitCode::kModel, {"not UTF-8"});
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "m"));
}

TEST(SafetensorsWriter, APathUnderAFileIsAUsageError) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() / "file", "x");
  ExpectError([&] { WriteSafetensors(folder.path() / "file" / "m", {}); }, ExitCode::kUsage,
              {"Not a directory"});
}

RC_GTEST_PROP(SafetensorsWriter, WhatIsWrittenReadsBack, ()) {
  const auto names = *rc::gen::container<std::set<std::string>>(
      rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127))));
  std::map<std::string, TensorToWrite> tensors;
  std::vector<std::string> bytes;
  bytes.reserve(names.size());
  for (const std::string& name : names) {
    if (name == "__metadata__") continue;
    const auto dtype = static_cast<Dtype>(*rc::gen::inRange(4, 22));  // whole bytes
    const auto shape = *rc::gen::container<Shape>(3, rc::gen::inRange<int64_t>(0, 4));
    const size_t size = static_cast<size_t>(shape[0] * shape[1] * shape[2]) * DtypeBits(dtype) / 8;
    bytes.push_back(*rc::gen::container<std::string>(size, rc::gen::arbitrary<char>()));
    tensors[name] = {.name = name, .dtype = dtype, .shape = shape, .bytes = bytes.back()};
  }
  const auto metadata = *rc::gen::container<std::map<std::string, std::string>>(
      rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)),
      rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)));
  std::vector<TensorToWrite> list;
  for (const auto& [name, tensor] : tensors) list.push_back(tensor);
  const TemporaryFolder folder;
  WriteSafetensors(folder.path() / "m", list, metadata);
  const SafetensorsFile file(folder.path() / "m");
  RC_ASSERT(file.metadata() == metadata);
  RC_ASSERT(file.tensors().size() == tensors.size());
  for (const TensorView& tensor : file.tensors()) {
    const TensorToWrite& wanted = tensors.at(tensor.name);
    RC_ASSERT(tensor.dtype == wanted.dtype);
    RC_ASSERT(tensor.shape == wanted.shape);
    RC_ASSERT(tensor.bytes == wanted.bytes);
    // Aligned in the file to its own type, as the mapped file is to a page.
    const size_t offset = static_cast<size_t>(tensor.bytes.data() - file.tensors()[0].bytes.data());
    RC_ASSERT(offset % (DtypeBits(tensor.dtype) / 8) == 0u);
  }
}

}  // namespace
}  // namespace tandem::weights
