// Says how a folder with an index changes: what is stopped, what is left, and what is not touched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/hashes/text_hash.h"
#include "index/document_index.h"
#include "index/folder/document_index_fixture.h"
#include "support/files_of.h"

namespace tandem::index {
namespace {

using testing::HasSubstr;

using IndexChangesTest = DocumentIndexTest;

TEST_F(IndexChangesTest, WhatIsStoppedGoesOnToTheSameBytes) {
  Documents documents;
  for (int i = 0; i < 9000; ++i) documents[fmt::format("d{}", i)] = RandomDocument();  // 3 blocks
  Build(documents);
  const auto whole = FilesOf(Index());
  std::filesystem::remove_all(Index());
  // Stops while documents are read, then after the first block, then after the second.
  for (const int asked_before : {3, 9, 0}) {
    int asked = 0;
    EXPECT_THROW(Build(documents, {.stop = [&] { return ++asked > asked_before ? 15 : 0; }}),
                 Interrupted);
    EXPECT_FALSE(IsIndex(Index()));
  }
  const BuildReport report = BuildIndex(Encoder(), Index(), SourceOf(documents), Wanted(), {});
  EXPECT_EQ(report.resumed, 8192u);
  EXPECT_EQ(report.counts.texts, 808u);
  EXPECT_EQ(FilesOf(Index()), whole);
}

// Killed when the segment has its name and index.json does not know it yet.
TEST_F(IndexChangesTest, ASegmentThatNobodyNamesIsTakenUpAgain) {
  Documents documents = {{"a", {"alpha", {}, "en"}}, {"b", {"beta", {}, "en"}}};
  NewIndex wanted = Wanted();
  const auto choose = wanted.choose;
  std::filesystem::path work;
  wanted.choose = [&](size_t rows, size_t width) {
    for (const auto& entry : std::filesystem::directory_iterator(Index())) {
      if (entry.is_directory()) work = entry.path();
    }
    std::filesystem::copy(work, folder_.path() / "kept", std::filesystem::copy_options::recursive);
    return choose(rows, width);
  };
  BuildIndex(Encoder(), Index(), SourceOf(documents), wanted, {});
  const auto whole = FilesOf(Index());
  std::filesystem::remove_all(Index());
  std::filesystem::create_directories(Index());
  WriteFileAtomically(Index() / "lock", "");  // the first thing that a change makes
  std::filesystem::rename(folder_.path() / "kept", Index() / SegmentName(1));
  // The source is not asked: its documents have been read.
  BuildIndex(Encoder(), Index(), {[](data::InputText*) { return false; }, 1}, Wanted(), {});
  EXPECT_EQ(FilesOf(Index()), whole);
}

TEST_F(IndexChangesTest, ManySmallSegmentsBecomeOne) {
  Documents documents = {{"a", {"alpha", {}, "en"}}};
  Build(documents);
  for (size_t i = 1; i <= kMostSmallSegments; ++i) {
    EXPECT_EQ(JoinSmallSegments(Index(), kMostSmallSegments, {}).segments, 0u);
    const Documents one = {{fmt::format("b{}", i), {"beta", {}, "en"}}};
    AddDocuments(Encoder(), Index(), SourceOf(one), false, {});
  }
  const MergeReport report = JoinSmallSegments(Index(), kMostSmallSegments, {});
  EXPECT_EQ(report.segments, kMostSmallSegments + 1);
  EXPECT_EQ(report.documents, kMostSmallSegments + 1);
  EXPECT_EQ(ReadManifest(Index()).segments.size(), 1u);
}

TEST_F(IndexChangesTest, TitlesStayKnown) {
  const auto source = [](std::string id, std::string text, size_t title_bytes) {
    return DocumentSource{
        [id, text, title_bytes, given = false](data::InputText* next) mutable {
          static const std::vector<data::MetadataValue> none(2);
          if (std::exchange(given, true)) return false;
          *next = {
              .id = id, .text = text, .title_bytes = title_bytes, .metadata = none, .file = "f"};
          return true;
        },
        TextHash(text)};
  };
  BuildIndex(Encoder(), Index(), source("a", "alpha beta gamma", 10), Wanted(), {});
  AddDocuments(Encoder(), Index(), source("b", "gamma", 0), false, {});
  const auto expect_titles = [&] {
    const auto index = DocumentIndex::Open(Index());
    for (uint32_t document : {0U, 1U}) {
      EXPECT_EQ(index->title(document), index->id(document) == "a" ? "alpha beta" : "");
    }
  };
  expect_titles();
  CompactIndex(Index(), {});
  EXPECT_EQ(ReadManifest(Index()).segments.size(), 1u);
  expect_titles();
}

// Standard input may be another one than the first time.
TEST_F(IndexChangesTest, DocumentsOfAnUnknownSourceAreReadAnew) {
  const Documents first = {{"a", {"alpha", {}, "en"}}}, second = {{"b", {"beta", {}, "en"}}};
  DocumentSource source = SourceOf(first);
  source.hash = 0;
  int asked = 0;
  EXPECT_THROW(BuildIndex(Encoder(), Index(), source, Wanted(),
                          {.stop = [&] { return ++asked > 1 ? 15 : 0; }}),
               Interrupted);
  source = SourceOf(second);
  source.hash = 0;
  BuildIndex(Encoder(), Index(), source, Wanted(), {});
  EXPECT_EQ(DocumentIndex::Open(Index())->id(0), "b");
}

// What cannot be taken up again is not finished block by block, and nothing of it stays.
TEST_F(IndexChangesTest, AChangeOfAnUnknownSourceThatIsStoppedLeavesNothing) {
  Documents documents;
  for (int i = 0; i < 5000; ++i) documents[fmt::format("d{}", i)] = RandomDocument();
  const auto unknown = [](const Documents& of) {
    DocumentSource source = SourceOf(of);
    source.hash = 0;
    return source;
  };
  // Stops at each of the first times that somebody looks, those within the first block among them.
  int stopped = 0;
  for (int asked_before = 0; asked_before < 12; ++asked_before) {
    int asked = 0;
    EXPECT_THROW(BuildIndex(Encoder(), Index(), unknown(documents), Wanted(),
                            {.stop = [&] { return ++asked > asked_before ? 15 : 0; }}),
                 Interrupted);
    EXPECT_FALSE(std::filesystem::exists(Index()));
    ++stopped;
  }
  EXPECT_EQ(stopped, 12);
  std::filesystem::create_directories(Index());  // a folder that was there stays
  EXPECT_THROW(BuildIndex(Encoder(), Index(), unknown({}), Wanted(), {}), DataError);
  EXPECT_TRUE(std::filesystem::is_empty(Index()));

  Build({{"a", {"alpha", {}, "en"}}});
  const auto before = FilesOf(Index());
  int asked = 0;
  EXPECT_THROW(AddDocuments(Encoder(), Index(), unknown(documents), false,
                            {.stop = [&] { return ++asked > 5 ? 15 : 0; }}),
               Interrupted);
  EXPECT_EQ(FilesOf(Index()), before);
}

// A lock whose owner removes it with its folder is none for who opened it before.
TEST_F(IndexChangesTest, ALockThatIsUnmadeIsMadeAnew) {
  {
    IndexLock lock(Index());
    lock.Unmake();
    EXPECT_FALSE(std::filesystem::exists(Index()));
    const IndexLock other(Index());
    EXPECT_TRUE(std::filesystem::exists(Index() / "lock"));
    EXPECT_THROW(IndexLock again(Index()), UsageError);
  }
  IndexLock lock(Index());
  lock.Unmake();  // it made neither the folder nor the file
  EXPECT_TRUE(std::filesystem::exists(Index() / "lock"));
}

// What gives the documents may use the model.
TEST_F(IndexChangesTest, TheModelIsHeldWhileItEncodesOnly) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}, {"b", {"beta", {}, "en"}}};
  int held = 0, read = 0;
  DocumentSource source = SourceOf(documents);
  const auto next = source.next;
  source.next = [&](data::InputText* text) {
    EXPECT_EQ(held, 0);
    ++read;
    return next(text);
  };
  IndexEncoder encoder = Encoder();
  encoder.hold = [&held]() -> std::shared_ptr<void> {
    ++held;
    return {nullptr, [&held](void*) { held += 10; }};
  };
  NewIndex wanted = Wanted();
  wanted.copy_model = false;
  BuildIndex(std::move(encoder), Index(), source, wanted, {});
  EXPECT_EQ(held, 11);  // taken once and given back
  EXPECT_EQ(read, 3);
}

TEST_F(IndexChangesTest, AnOpenIndexGoesOnWithWhatItHas) {
  Documents documents;
  for (int i = 0; i < 30; ++i) documents[fmt::format("d{}", i)] = RandomDocument();
  Build(documents);
  const auto index = DocumentIndex::Open(Index());
  const std::vector<float> query = Embed({"alpha"});
  const auto before = index->Search({.queries = query.data(), .count = 1, .k = 5});
  NewIndex wanted = Wanted();
  wanted.replace = true;
  wanted.texts = false;
  const Documents others = {{"x", {"beta", {}, "en"}}};
  BuildIndex(Encoder(), Index(), SourceOf(others), wanted, {});
  const auto after = index->Search({.queries = query.data(), .count = 1, .k = 5});
  ASSERT_EQ(after[0].size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(after[0][i].document, before[0][i].document);
  EXPECT_EQ(index->text(0), documents.begin()->second.text);
  const auto replaced = DocumentIndex::Open(Index());
  EXPECT_EQ(replaced->info().documents, 1u);
  EXPECT_EQ(replaced->text(0), "");
}

TEST_F(IndexChangesTest, OneWriterAtATime) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  Build(documents);
  const IndexLock lock(Index());
  try {
    RemoveDocuments(Index(), {"a"}, false);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is changing this index; wait"));
  }
  EXPECT_THROW(CompactIndex(Index(), {}), UsageError);
  EXPECT_THROW(AddDocuments(Encoder(), Index(), SourceOf(documents), true, {}), UsageError);
}

// A folder with nothing but a model in it is no index that was begun, and what its user puts into
// the folder of an index stays.
TEST_F(IndexChangesTest, AModelInTheFolderOfTheIndexStays) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  for (const char* name : {"model", "model-000001", "segment-000007"}) {
    std::filesystem::remove_all(Index());
    WriteTinyModel(Index() / name);
    EXPECT_THROW(Build(documents), UsageError) << name;
    EXPECT_TRUE(std::filesystem::exists(Index() / name / "config.json")) << name;
  }
  std::filesystem::remove_all(Index());
  Build(documents);
  for (const char* name : {"model", "model-old", "segments", "work-mine"}) {
    WriteTinyModel(Index() / name);
  }
  AddDocuments(Encoder(), Index(), SourceOf({{"b", {"beta", {}, "en"}}}), false, {});
  CompactIndex(Index(), {});
  for (const char* name : {"model", "model-old", "segments", "work-mine"}) {
    EXPECT_TRUE(std::filesystem::exists(Index() / name / "config.json")) << name;
  }
}

// Kinds that cannot take rows out leave the marked ones out of what they find.
TEST_F(IndexChangesTest, ApproximateKindsForgetWhatIsRemoved) {
  for (const char* kind : {"hnsw", "ivf_flat", "ivf_pq"}) {
    std::filesystem::remove_all(Index());
    NewIndex wanted = Wanted();
    wanted.choose = [kind](size_t, size_t) {
      const IndexKindInfo& info = FindIndexKind(kind);
      return KindChoice{&info, config::Params(info.params)};
    };
    Documents documents;
    for (int i = 0; i < 300; ++i) documents[fmt::format("d{}", i)] = RandomDocument();
    BuildIndex(Encoder(), Index(), SourceOf(documents), wanted, {});
    std::vector<std::string> ids;
    for (int i = 0; i < 300; i += 3) ids.push_back(fmt::format("d{}", i));
    RemoveDocuments(Index(), ids, false);
    for (const std::string& id : ids) documents.erase(id);
    ExpectSearch(documents, 1000, {});
    ExpectSearch(documents, 1000, {{"lang", Comparison::kEqual, std::string("en")}});
    const Documents more = {{"d3", {"alpha", {}, "en"}}, {"new", {"beta", {}, "en"}}};
    AddDocuments(Encoder(), Index(), SourceOf(more), false, {});
    documents.insert(more.begin(), more.end());
    ExpectSearch(documents, 1000, {});
    EXPECT_EQ(ReadManifest(Index()).segments.back().choice.kind->name, "fp32");
    CompactIndex(Index(), {});
    EXPECT_EQ(ReadManifest(Index()).segments.front().choice.kind->name, kind);
    ExpectSearch(documents, 1000, {});
    if (HasFailure()) FAIL() << kind;
  }
}

TEST_F(IndexChangesTest, ParametersThatDoNotFitTheModelAreRefusedBeforeEncoding) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  NewIndex wanted = Wanted();
  wanted.choose = [](size_t, size_t) {
    const IndexKindInfo& kind = FindIndexKind("ivf_pq");
    config::Params params(kind.params);
    EXPECT_EQ(params.Set("code_bytes", int64_t{5}), "");
    return KindChoice{&kind, params};
  };
  EXPECT_THROW(BuildIndex(Encoder(), Index(), SourceOf(documents), wanted, {}), UsageError);
  for (const auto& [name, bytes] : FilesOf(Index())) EXPECT_THAT(name, Not(HasSubstr("vectors")));
}

TEST_F(IndexChangesTest, TheModelOfAnIndexThatIsReplacedIsCopiedOrRefused) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  NewIndex wanted = Wanted();
  wanted.copy_model = true;
  WriteFileAtomically(folder_.path() / "model" / "how it was made (é).md", "well");
  BuildIndex(Encoder(), Index(), SourceOf(documents), wanted, {});
  const std::filesystem::path copy = DocumentIndex::Open(Index())->info().model.path;
  EXPECT_EQ(ReadFile(copy / "how it was made (é).md"), "well");
  const IndexEncoder of_copy{*model_, {}, DescribeModel(*model_, copy, {}, {})};
  wanted.replace = true;
  wanted.copy_model = false;
  EXPECT_THROW(BuildIndex(of_copy, Index(), SourceOf(documents), wanted, {}), UsageError);
  EXPECT_TRUE(std::filesystem::exists(copy / "config.json"));
  wanted.copy_model = true;
  BuildIndex(of_copy, Index(), SourceOf(documents), wanted, {});
  const IndexInfo info = DocumentIndex::Open(Index())->info();
  EXPECT_NE(info.model.path, copy.native());
  EXPECT_FALSE(std::filesystem::exists(copy));
  EXPECT_NO_THROW(LoadIndexModel(info, LoadOptionsOf(info.model)));
}

TEST_F(IndexChangesTest, AFolderOfOtherThingsIsLeftAlone) {
  std::filesystem::create_directories(Index());
  WriteFileAtomically(Index() / "letter.txt", "dear");
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  EXPECT_THROW(Build(documents), UsageError);
  EXPECT_EQ(FilesOf(Index()).size(), 1u);
  EXPECT_THROW(DocumentIndex::Open(Index()), DataError);
  EXPECT_THROW(DocumentIndex::Open(folder_.path() / "nowhere"), DataError);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "nowhere"));
}

}  // namespace
}  // namespace tandem::index
