#include "data/input/text_input.h"

#include <sys/stat.h>

#include <fstream>
#include <thread>
#include <vector>

#include "data/data_test.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Gives "ID|TEXT" for all texts, with "|VALUE" of each field after it, and "-" for an absent one.
std::vector<std::string> TextsOf(TextInput& input) {
  std::vector<std::string> texts;
  InputText text;
  while (input.Next(&text)) {
    std::string all = fmt::format("{}|{}", text.id, text.text);
    for (const MetadataValue& value : text.metadata) {
      all += !value.present        ? "|-"
             : !value.text.empty() ? fmt::format("|{}", value.text)
                                   : fmt::format("|{}", value.number);
    }
    texts.push_back(all);
  }
  return texts;
}

class TextInputTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  std::string Write(const std::string& name, std::string_view bytes) const {
    MakeFolder((folder_.path() / name).parent_path());
    WriteFileAtomically(folder_.path() / name, bytes);
    return Path(name);
  }
  std::vector<std::string> Read(TextInputOptions options) {
    TextInput input(std::move(options), warnings_);
    return TextsOf(input);
  }
  // The message without the folder.
  std::string ErrorOf(const TextInputOptions& options) {
    std::string message = DataErrorOf([&] { Read(options); });
    const std::string folder = folder_.path().native() + "/";
    for (size_t at; (at = message.find(folder)) != std::string::npos;) {
      message.erase(at, folder.size());
    }
    return message;
  }
  std::string UsageErrorOf(const TextInputOptions& options) {
    try {
      Read(options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
  Warnings warnings_;
};

TEST_F(TextInputTest, FilesFoldersAndPatternsComeInTheirOrder) {
  const std::string last = Write("z.jsonl", R"({"_id": "z", "text": "last"})");
  Write("part-10.jsonl", R"({"_id": "p10", "title": "T", "text": "ten"})");
  Write("part-2.tsv", "text\t_id\ntwo\tp2\n");
  WriteGzip(Path("part-3.txt.gz"), "three\n");
  Write("beir/corpus.jsonl", R"({"_id": "d", "text": "document"})");
  Write("beir/queries.jsonl", R"({"_id": "q", "title": "no", "text": "query"})");
  EXPECT_THAT(Read({.inputs = {last, Path("part-*"), Path("beir")}}),
              ElementsAre("z|last", "p10|T ten", "p2|two", "4|three", "d|document"));
  EXPECT_THAT(Read({.inputs = {Path("beir"), Path("part-1[0].jsonl")}, .role = TextRole::kQuery}),
              ElementsAre("q|query", "p10|ten"));
  EXPECT_THAT(warnings_.Messages(), IsEmpty());
}

TEST_F(TextInputTest, AFileOfThatNameIsNoPattern) {
  Write("a1.jsonl", R"({"_id": "a", "text": "matched"})");
  const std::string named = Write("a[1].jsonl", R"({"_id": "b", "text": "named"})");
  EXPECT_THAT(Read({.inputs = {named}}), ElementsAre("b|named"));
}

TEST_F(TextInputTest, PlainLinesKeepBlankOnesSoThatRowNIsLineN) {
  const std::string lines = Write("a.txt", "one\n\n two \nthree");
  EXPECT_THAT(Read({.inputs = {lines, lines}}), ElementsAre("1|one", "2|", "3| two ", "4|three",
                                                            "5|one", "6|", "7| two ", "8|three"));
}

TEST_F(TextInputTest, KeysAreChosen) {
  const std::string json = Write("a.jsonl", R"({"docno": 7, "body": "x", "text": "no"})");
  EXPECT_THAT(Read({.inputs = {json}, .id_field = "docno", .text_field = "body"}),
              ElementsAre("7|x"));
  EXPECT_THAT(Read({.inputs = {json, json}, .id_field = ""}), ElementsAre("1|no", "2|no"));
  const std::string tsv = Write("a.tsv", "url\ttitle\tbody\n u1 \tT\t\"q\n");
  EXPECT_THAT(Read({.inputs = {tsv}, .id_field = "url", .text_field = "body"}),
              ElementsAre("u1|T \"q"));
}

TEST_F(TextInputTest, FieldsComeFromTheLineOrItsMetadata) {
  const std::string json = Write("a.jsonl",
                                 R"({"_id": "a", "text": "", "year": 1999, "lang": "en"}
{"_id": "b", "text": "", "metadata": {"lang": "de", "year": -2.5}}
{"_id": "c", "text": "", "year": null, "metadata": {"year": 3, "lang": null}}
{"_id": "d", "text": "", "metadata": null}
)");
  const std::vector<MetadataField> fields = ParseMetadataFields({"year:number", "lang"});
  EXPECT_THAT(Read({.inputs = {json}, .fields = fields}),
              ElementsAre("a||1999|en", "b||-2.5|de", "c||3|-", "d||-|-"));
  const std::string tsv = Write("a.tsv", "_id\ttext\tlang\tyear\na\tx\ten\t 7 \nb\ty\t\t\n");
  EXPECT_THAT(Read({.inputs = {tsv}, .fields = fields}), ElementsAre("a|x|7|en", "b|y|-|-"));
}

TEST_F(TextInputTest, ValuesOfAnotherTypeAreErrors) {
  const auto error = [&](const std::string& line, const std::string& field) {
    return ErrorOf({.inputs = {Write("a.jsonl", line)}, .fields = ParseMetadataFields({field})});
  };
  EXPECT_EQ(error(R"({"_id": "a", "text": "", "year": "1999"})", "year:number"),
            "a.jsonl:1: \"year\" is \"1999\"; expected a number, as the field year:number says "
            "(id a)");
  EXPECT_EQ(error("\n"
                  R"({"_id": "a", "text": "", "metadata": {"year": 1999}})",
                  "year"),
            "a.jsonl:2: \"year\" is 1999; expected a string, as the field year:string says (id a)");
  EXPECT_THAT(error(R"({"_id": "a", "text": "", "year": [1]})", "year:number"),
              HasSubstr("\"year\" is a list of numbers; expected a number"));
  EXPECT_THAT(error(R"({"_id": "a", "text": "", "metadata": "x"})", "year"),
              HasSubstr("a.jsonl:1: \"metadata\" is no object; expected one"));
  EXPECT_THAT(error(R"({"_id": "a", "text": "", "metadata": {"b": 1, "b": 2}})", "year"),
              HasSubstr("a.jsonl:1: has the key b twice"));
  EXPECT_THAT(
      error(R"({"_id": "a", "text": "", "year": 1e999})", "year:number"),
      HasSubstr("a.jsonl:1: \"year\" is neither a string nor an integer; expected a number"));
  const std::string tsv = Write("a.tsv", "_id\ttext\tyear\na\tx\tinf\n");
  EXPECT_EQ(
      ErrorOf({.inputs = {tsv}, .fields = ParseMetadataFields({"year:number"})}),
      "a.tsv:2: \"year\" is \"inf\"; expected a number, as the field year:number says (id a)");
  EXPECT_THAT(error(R"({"_id": "a", "text": "", "year": ")" + std::string(39, 'x') + "\xC3\xA9\"}",
                    "year:number"),
              HasSubstr(std::string(39, 'x') + "...\""));
}

TEST_F(TextInputTest, BrokenLinesNameFileAndLine) {
  const auto error = [&](const std::string& name, std::string_view bytes) {
    return ErrorOf({.inputs = {Write(name, bytes)}});
  };
  EXPECT_EQ(error("a.jsonl", R"({"id": "a", "text": "x"})"),
            "a.jsonl:1: has no \"_id\"; it has \"id\", \"text\" (--id-field and --text-field "
            "choose other keys)");
  EXPECT_EQ(error("a.jsonl", R"({"_id": "a", "body": "x"})"),
            "a.jsonl:1: has no \"text\"; it has \"_id\", \"body\" (--id-field and --text-field "
            "choose other keys) (id a)");
  EXPECT_EQ(error("a.tsv", "id\ttext\n"),
            "a.tsv:1: the header has no column \"_id\"; it has \"id\", \"text\" (--id-field and "
            "--text-field choose other columns)");
  EXPECT_EQ(error("a.tsv", "_id\ttext\ttext\n"),
            "a.tsv:1: the header has the column \"text\" twice");
  EXPECT_EQ(error("a.tsv", "_id\ttext\na\tx\nb\n"), "a.tsv:3: has 1 column; the header has 2");
  EXPECT_EQ(error("a.tsv", "_id\ttext\n\tx\n"), "a.tsv:2: \"_id\" is empty");
  EXPECT_THAT(error("a.tsv", "_id\ttext\na\t\xFF\n"),
              HasSubstr("a.tsv:2: is not valid UTF-8: the byte 0xFF at column 3; "));
  EXPECT_EQ(error("a.txt", "fine\n\xC3\n"),
            "a.txt:2: is not valid UTF-8: the byte 0xC3 at column 1; a file in Windows-1252 or "
            "Latin-1 is converted with `iconv -f WINDOWS-1252 -t UTF-8`");
  EXPECT_THAT(error("a.jsonl", "{\"_id\": \"a\", \"text\": \"\xFF\"}"),
              HasSubstr("a.jsonl:1: is not valid UTF-8: the byte 0xFF at column 23; "));
}

TEST_F(TextInputTest, AnEmptyFileAmongOthersIsCounted) {
  const std::string full = Write("a.txt", "one\n");
  const std::string empty = Write("b.jsonl", "\n"), header = Write("c.tsv", "_id\ttext\n");
  EXPECT_THAT(Read({.inputs = {empty, full, header}}), ElementsAre("1|one"));
  EXPECT_THAT(
      warnings_.Messages(),
      ElementsAre(empty + ": blank lines, skipped: 1 (first at line 1)",
                  empty + ": files without a text: 1", header + ": files without a text: 1"));
  EXPECT_EQ(ErrorOf({.inputs = {header}}), "c.tsv: holds no document");
  EXPECT_EQ(ErrorOf({.inputs = {header, empty}, .role = TextRole::kQuery}),
            "c.tsv: holds no query, nor does any other of the 2 files");
}

TEST_F(TextInputTest, WhatCannotBeReadShowsBeforeAnythingIsRead) {
  const std::string good = Write("a.jsonl", R"({"_id": "a", "text": "x"})");
  Write("folder/other.jsonl", "");
  const auto open = [&](const std::vector<std::string>& inputs) {
    TextInput input({.inputs = inputs}, warnings_);
  };
  EXPECT_THAT(DataErrorOf([&] {
                open({good, Path("none.jsonl")});
              }),
              HasSubstr("none.jsonl: cannot be read: No such file or directory"));
  EXPECT_THAT(DataErrorOf([&] {
                open({good, Path("folder")});
              }),
              HasSubstr("folder: has neither corpus.jsonl nor corpus.jsonl.gz"));
  EXPECT_THAT(DataErrorOf([&] {
                open({good, Write("b.jsonl.gz", "no gzip")});
              }),
              HasSubstr("b.jsonl.gz: is called .gz but is not a gzip file"));
  EXPECT_THAT(UsageErrorOf({.inputs = {good, Path("b*.tsv")}}),
              HasSubstr("b*.tsv matches no file; relative patterns start in /"));
  EXPECT_EQ(UsageErrorOf({.inputs = {"-", good, "-"}}),
            "standard input (-) is given twice; it can be read once");
  EXPECT_EQ(UsageErrorOf({.inputs = {good}, .format = "csv"}),
            "the format csv is unknown; expected auto, jsonl, tsv or lines");
  EXPECT_EQ(UsageErrorOf({.inputs = {good, Write("c.txt", "x\n")}, .fields = {{.name = "year"}}}),
            "plain lines have no fields, and so not year; fields come from JSON lines and TSV");
}

TEST_F(TextInputTest, SkippingGoesOnWhereReadingWouldBe) {
  const std::vector<std::string> inputs = {
      Write("a.jsonl", "{\"_id\": \"a\", \"text\": \"1\"}\n\n{\"_id\": \"b\", \"text\": \"2\"}\n"),
      Write("b.tsv", "_id\ttext\n\nc\t3\nd\t4\n"), Write("c.txt", "5\n\n7\n")};
  const std::vector<std::string> all = Read({.inputs = inputs});
  ASSERT_EQ(all.size(), 7U);
  for (size_t skipped = 0; skipped <= all.size(); ++skipped) {
    TextInput input({.inputs = inputs}, warnings_);
    input.Skip(skipped / 2);
    input.Skip(skipped - skipped / 2);
    EXPECT_EQ(TextsOf(input),
              std::vector<std::string>(all.begin() + static_cast<ptrdiff_t>(skipped), all.end()));
  }
  TextInput input({.inputs = inputs}, warnings_);
  EXPECT_THAT(DataErrorOf([&] { input.Skip(8); }),
              HasSubstr("has fewer texts than before: 7 of 8"));
  TextInput counted({.inputs = inputs}, warnings_);
  EXPECT_EQ(counted.SkipUpTo(3), 3U);
  EXPECT_EQ(counted.SkipUpTo(3), 3U);
  EXPECT_EQ(counted.SkipUpTo(3), 1U);
  EXPECT_EQ(counted.SkipUpTo(3), 0U);
}

TEST_F(TextInputTest, TheHashChangesWithAllThatDecidesTheTexts) {
  const std::string a = Write("a.jsonl", R"({"_id": "a", "text": "x"})");
  const std::string b = Write("b.jsonl", R"({"_id": "b", "text": "y"})");
  const auto hash = [&](const TextInputOptions& options) {
    return TextInput(options, warnings_).SourceHash();
  };
  const uint64_t plain = hash({.inputs = {a, b}});
  EXPECT_EQ(hash({.inputs = {Path("*.jsonl")}}), plain);
  EXPECT_NE(hash({.inputs = {b, a}}), plain);
  EXPECT_NE(hash({.inputs = {a}}), plain);
  EXPECT_NE(hash({.inputs = {a, b}, .format = "lines"}), plain);
  EXPECT_NE(hash({.inputs = {a, b}, .role = TextRole::kQuery}), plain);
  EXPECT_NE(hash({.inputs = {a, b}, .id_field = ""}), plain);
  EXPECT_NE(hash({.inputs = {a, b}, .text_field = "_id"}), plain);
  EXPECT_NE(hash({.inputs = {a, b}, .fields = {{.name = "y"}}}), plain);
  EXPECT_NE(hash({.inputs = {a, b}, .fields = {{.name = "y"}}}),
            hash({.inputs = {a, b}, .fields = {{"y", MetadataType::kNumber}}}));
  EXPECT_EQ(hash({.inputs = {a, "-"}}), 0U);
  Write("b.jsonl", R"({"_id": "b", "text": "z"})");
  EXPECT_NE(hash({.inputs = {a, b}}), plain) << "same size, another time";
}

TEST_F(TextInputTest, APipeIsReadOnce) {
  const std::string pipe = Path("pipe.tsv");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::jthread writing([&] {  // waits until the pipe is opened for reading
    std::ofstream(pipe) << "_id\ttext\na\tx\n";
  });
  EXPECT_THAT(Read({.inputs = {pipe}}), ElementsAre("a|x"));
  writing.join();
  EXPECT_EQ(TextInput({.inputs = {pipe}}, warnings_).SourceHash(), 0U);
}

TEST(MetadataFields, AreParsedFromFlags) {
  EXPECT_THAT(ParseMetadataFields({"year:number", "lang", "a:b:string"}),
              ElementsAre(MetadataField{"year", MetadataType::kNumber},
                          MetadataField{"lang", MetadataType::kString},
                          MetadataField{"a:b", MetadataType::kString}));
  const auto error = [](const std::vector<std::string>& flags) -> std::string {
    try {
      ParseMetadataFields(flags);
    } catch (const UsageError& thrown) {
      return thrown.what();
    }
    return "no error";
  };
  EXPECT_EQ(error({"year:int"}),
            "the field year:int has the type \"int\"; expected year:number or year:string");
  EXPECT_EQ(error({":number"}),
            "the field \":number\" has no name; expected NAME, NAME:number or NAME:string");
  EXPECT_EQ(error({"a", "a:number"}), "the field a is given twice");
}

}  // namespace
}  // namespace tandem::data
