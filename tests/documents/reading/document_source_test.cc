#include "documents/reading/document_source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "documents/reading/folder_listing.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"

namespace tandem::documents {
namespace {

namespace fs = std::filesystem;

class Documents : public testing::Test {
 protected:
  void Write(const std::string& name, std::string_view bytes) const {
    fs::create_directories((Path() / name).parent_path());
    WriteFileAtomically(Path() / name, bytes);
  }
  fs::path Path() const { return folder_.path() / "docs"; }
  std::vector<Document> Read(const std::string& name = "") const {
    const auto source = OpenDocuments(Path() / name, folder_.path());
    std::vector<Document> documents;
    Document document;
    while (source->Next(&document)) documents.push_back(document);
    return documents;
  }
  void ExpectRefused(const std::string& words) const {
    ExpectError([&] { Read(); }, ExitCode::kData, {words});
  }

  TemporaryFolder folder_;
};

TEST_F(Documents, IdsArePathsInTheFolder) {
  Write("b/my page%.MD", "# B\n");
  Write("a.txt", "A\n\ntext");
  Write("c.html", "\xEF\xBB\xBF<h1>C</h1>");
  const std::vector<Document> documents = Read();
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0].id, "a.txt");
  EXPECT_EQ(documents[1].id, "b/my%20page%25.MD");
  EXPECT_EQ(documents[2].id, "c.html");
  EXPECT_EQ(documents[2].title, "C");
}

TEST_F(Documents, SaysWhatIsLeftOut) {
  Write("a.md", "text");
  Write("scan.pdf", "%PDF-1.4");
  Write("b.PDF", "%PDF-1.4");
  Write("Makefile", "all:");
  Write(".git/config.md", "text");
  fs::create_directory_symlink(folder_.path(), Path() / "loop");
  EXPECT_EQ(OpenDocuments(Path(), folder_.path())->left_out(),
            "left out: files of other endings (no ending 1, .pdf 2); hidden files and folders: 1; "
            "links to folders: 1; make text of them: `pdftotext FILE.pdf FILE.txt`");
  EXPECT_EQ(Read().size(), 1U);
}

TEST_F(Documents, AFolderOfPdfsSaysWhatMakesTextOfThem) {
  Write("scan.pdf", "%PDF-1.4");
  Write("letter.docx", "PK");
  ExpectRefused(
      "holds no documents; expected files that end in .md .markdown .html .htm .xhtml "
      ".txt .text, or corpus.jsonl; left out: files of other endings (.docx 1, .pdf 1); "
      "make text of them: `pdftotext FILE.pdf FILE.txt`, `pandoc FILE.docx -o FILE.md`");
}

TEST_F(Documents, EmptyAndMissingFoldersAreRefused) {
  fs::create_directory(Path());
  ExpectRefused("holds no documents");
  ExpectError([&] { Read("none"); }, ExitCode::kData, {"there is no such folder or file"});
}

TEST_F(Documents, FilesThatAreNotUtf8AreNamedWithTheLine) {
  Write("a.md", "fine\nM\xFCnchen\n");
  ExpectRefused(
      "docs/a.md:2: is not UTF-8 (byte 0xFC); where it is the older encoding of Western "
      "Europe, convert it with `iconv -f WINDOWS-1252 -t UTF-8");
}

TEST_F(Documents, WideAndBinaryFilesAreNamed) {
  Write("a.txt", std::string_view("\xFF\xFEh\0i\0", 6));
  ExpectRefused("is UTF-16LE, expected UTF-8: convert it with `iconv -f UTF-16");
  Write("a.txt", std::string_view("some text\n\0\1\2", 13));
  ExpectRefused("docs/a.txt:2: has a NUL byte");
}

TEST_F(Documents, ABeirFolderIsItsCorpus) {
  Write("corpus.jsonl",
        "{\"_id\": \"d1\", \"title\": \"T\", \"text\": \"one\\n\\ntwo\"}\n"
        "{\"_id\": \"d2\", \"text\": \" three \"}\n");
  for (const std::string name : {"", "corpus.jsonl"}) {
    const std::vector<Document> documents = Read(name);
    ASSERT_EQ(documents.size(), 2U);
    EXPECT_EQ(documents[0].title, "T");
    EXPECT_EQ(documents[0].text, "one\n\ntwo");
    EXPECT_EQ(documents[0].blocks.size(), 2U);
    EXPECT_EQ(documents[1].title, "");
    EXPECT_EQ(documents[1].text, " three ");
  }
}

TEST_F(Documents, TwoDocumentsOfOneIdAreRefused) {
  Write("corpus.jsonl", "{\"_id\": \"d\", \"text\": \"a\"}\n{\"_id\": \"d\", \"text\": \"b\"}\n");
  ExpectRefused("corpus.jsonl:2: the id stands in line 1 too");
}

TEST_F(Documents, OneFileIsADocument) {
  Write("sub/a.md", "# A\n");
  const std::vector<Document> documents = Read("sub/a.md");
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_EQ(documents[0].id, "a.md");
}

}  // namespace
}  // namespace tandem::documents
