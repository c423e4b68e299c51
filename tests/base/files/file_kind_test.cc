#include "base/files/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

using std::string_view_literals::operator""sv;
using testing::HasSubstr;
using testing::StartsWith;

TEST(NoTextProblem, NamesTheKindAndWhatToDo) {
  EXPECT_EQ(
      NoTextProblem("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "f"),
      "is a Git LFS pointer, not the file itself: fetch it with `git lfs pull` in its "
      "repository, or download the file");
  EXPECT_EQ(NoTextProblem("\x1F\x8B\x08"sv, "f"), "is gzip-compressed; unpack it with gunzip");
  EXPECT_THAT(NoTextProblem("PAR1\x15\x04"sv, "f"), StartsWith("is a Parquet file; "));
  EXPECT_EQ(NoTextProblem("PK\x03\x04\x14\0abc"sv, "f"), "is a zip archive; unpack it with unzip");
  EXPECT_THAT(NoTextProblem("PK\x03\x04\x14\0[Content_Types].xml"sv, "f"),
              StartsWith("is an Excel workbook; "));
  EXPECT_THAT(NoTextProblem("PK\x03\x04\0\0archive/data.pkl"sv, "f"),
              StartsWith("is a pickle of PyTorch, which can run code and is never loaded; "));
  EXPECT_THAT(NoTextProblem("\x80\x04\x95\x10"sv, "f"), StartsWith("is a pickle, "));
  EXPECT_EQ(NoTextProblem("\x40\0\0\0\0\0\0\0{\"a\""sv, "f"), "is a safetensors file of weights");
  std::string tar(600, '\0');
  tar.replace(0, 6, "a.json").replace(257, 5, "ustar");
  EXPECT_EQ(NoTextProblem(tar, "f"), "is a tar archive; unpack it with tar -xf");
}

TEST(NoTextProblem, WideEncodingsAreToldWithAndWithoutAMark) {
  const auto expect = [](std::string_view bytes, const std::string& encoding,
                         const std::string& from) {
    EXPECT_EQ(NoTextProblem(bytes, "f.jsonl"), "is " + encoding +
                                                   ", expected UTF-8: convert it with `iconv -f " +
                                                   from + " -t UTF-8 f.jsonl > NEW`");
  };
  expect("\xFF\xFE{\0\"\0"sv, "UTF-16LE", "UTF-16");  // iconv then drops the mark
  expect("\xFE\xFF\0{\0\""sv, "UTF-16BE", "UTF-16");
  expect("{\0\"\0_\0"sv, "UTF-16LE", "UTF-16LE");
  expect("\0{\0\"\0_"sv, "UTF-16BE", "UTF-16BE");
  expect("\xFF\xFE\0\0{\0\0\0"sv, "UTF-32LE", "UTF-32");
  expect("{\0\0\0\"\0\0\0"sv, "UTF-32LE", "UTF-32LE");
}

TEST(NoTextProblem, TextsOfAnyKindPass) {
  for (const std::string_view text :
       {""sv, "{"sv, "\xEF\xBB\xBF{\"a\": 1}"sv, "PAR1 is a word"sv, "PK is another"sv,
        "\xE4\xBD\xA0\xE5\xA5\xBD"sv, "<html> is a tag"sv, "7z"sv, "BZh"sv, "a\0b"sv,
        "\x03\0\0\0\0\0\0\0{"sv, "\x03\0\x01\0\0\0\0\0{"sv}) {
    EXPECT_EQ(NoTextProblem(text, "f"), "") << text;
  }
}

TEST(NoDataProblem, PagesAreNeitherJsonNorColumns) {
  for (const char* page : {"<!DOCTYPE html>\n<html>", "\n  <html lang=\"en\">", "<HTML>"}) {
    EXPECT_THAT(NoDataProblem(page, "f"), StartsWith("is an HTML page, ")) << page;
  }
  EXPECT_EQ(NoDataProblem("<?xml version=\"1.0\"?>", "f"), "is an XML file");
  EXPECT_THAT(NoDataProblem("version https://git-lfs.github.com/spec/v1", "f"),
              HasSubstr("Git LFS"));
  EXPECT_EQ(NoDataProblem("{\"html\": \"<html>\"}", "f"), "");
}

}  // namespace
}  // namespace tandem
