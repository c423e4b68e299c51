// What indexes answer after changes, and what they refuse.
#include "index/document_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "index/folder/document_index_fixture.h"
#include "tensor/fused_only.h"

namespace tandem::index {
namespace {

using testing::HasSubstr;

// A random sequence of changes against a map that is changed alike. Few words make many equal
// texts, so that ties are everywhere.
TEST_F(DocumentIndexTest, AnySequenceOfChangesIsTheDocumentsThatAreLeft) {
  const Filter years = {{"year", Comparison::kGreaterEqual, 2.0}};
  const Filter both = {{"year", Comparison::kGreaterEqual, 1.0},
                       {"lang", Comparison::kEqual, std::string("en")}};
  Documents documents;
  size_t next = 0;
  const auto some = [&](size_t count) {
    Documents batch;
    while (batch.size() < count) batch.emplace(fmt::format("d{}", next++), RandomDocument());
    return batch;
  };
  documents = some(70);
  Build(documents);
  for (int step = 0; step < 24; ++step) {
    const uint64_t what = random_.Below(5);
    if (what <= 1) {
      Documents batch = some(random_.Below(5) + 1);
      for (const auto& [id, document] : documents) {  // replaced by --update
        if (random_.Below(20) == 0) batch[id] = RandomDocument();
      }
      AddDocuments(Encoder(), Index(), SourceOf(batch), true, {});
      for (const auto& [id, document] : batch) documents[id] = document;
    } else if (what == 2 || what == 3) {
      std::vector<std::string> ids;
      for (const auto& [id, document] : documents) {
        if (random_.Below(8) == 0 && ids.size() + 5 < documents.size()) ids.push_back(id);
      }
      EXPECT_EQ(RemoveDocuments(Index(), ids, false).removed, ids.size());
      for (const std::string& id : ids) documents.erase(id);
    } else if (random_.Below(2) == 0) {
      CompactIndex(Index(), {});
      const IndexInfo info = InfoOf(Index(), ReadManifest(Index()));
      EXPECT_EQ(info.removed, 0u);
      EXPECT_EQ(info.segments, 1u);
    } else {
      JoinSmallSegments(Index(), 2, {});
      EXPECT_LE(ReadManifest(Index()).segments.size(), 2u);
    }
    ExpectSearch(documents, 1 + random_.Below(12),
                 step % 3 == 0   ? Filter()
                 : step % 3 == 1 ? years
                                 : both);
    if (HasFailure()) FAIL() << "in step " << step;
  }
}

// Queries of a model without Normalize have any length.
TEST_F(DocumentIndexTest, ScoresOfACosineIndexDoNotDependOnTheLengthOfTheQuery) {
  Documents documents;
  for (int i = 0; i < 20; ++i) documents[fmt::format("d{}", i)] = RandomDocument();
  Build(documents);
  const auto index = DocumentIndex::Open(Index());
  ASSERT_EQ(index->info().model.similarity, "cosine");
  const std::vector<float> query = Embed({"alpha beta"});
  const auto expected = index->Search({.queries = query.data(), .count = 1, .k = 20})[0];
  for (const float factor : {1e-30F, 0.5F, 40.0F, 1e30F}) {
    std::vector<float> longer = query;
    for (float& value : longer) value *= factor;
    const auto found = index->Search({.queries = longer.data(), .count = 1, .k = 20})[0];
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].score, expected[i].score, 1e-6) << factor;
      EXPECT_LE(found[i].score, 1.00001F);
    }
  }
  const std::vector<float> zero(query.size(), 0);
  const auto of_zero = index->Search({.queries = zero.data(), .count = 1, .k = 20});
  for (const DocumentHit& hit : of_zero[0]) EXPECT_EQ(hit.score, 0);
}

// All rows score the same, as kernels give a text the same bytes in every batch: the ids alone
// decide, also which of them are the best k.
TEST_F(DocumentIndexTest, EqualScoresGoByIdDescending) {
  SKIP_UNLESS_FUSED();
  Documents documents;
  for (int i = 0; i < 50; ++i) documents[fmt::format("d{:02}", i)] = {"alpha", {}, "en"};
  Build(documents);
  AddDocuments(Encoder(), Index(), SourceOf({{"d495", {"alpha", {}, "en"}}}), false, {});
  const auto index = DocumentIndex::Open(Index());
  const std::vector<float> query = Embed({"alpha"});
  const auto found = index->Search({.queries = query.data(), .count = 1, .k = 3});
  ASSERT_EQ(found[0].size(), 3u);
  EXPECT_EQ(index->id(found[0][0].document), "d495");
  EXPECT_EQ(index->id(found[0][1].document), "d49");
  EXPECT_EQ(index->id(found[0][2].document), "d48");
}

TEST_F(DocumentIndexTest, ManyMoreThanThereAreAreAll) {
  Build({{"a", {"alpha", {}, "en"}}, {"b", {"beta", {}, "en"}}});
  const auto index = DocumentIndex::Open(Index());
  const std::vector<float> query = Embed({"alpha"});
  const size_t k = std::numeric_limits<size_t>::max();
  EXPECT_EQ(index->Search({.queries = query.data(), .count = 1, .k = k})[0].size(), 2u);
}

TEST_F(DocumentIndexTest, AFilterOnAFieldThatIsNotThereNamesThoseThatAre) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  Build(documents);
  const auto index = DocumentIndex::Open(Index());
  const std::vector<float> query = Embed({"alpha"});
  const Filter filter = {{"yeer", Comparison::kEqual, 1.0}};
  try {
    index->Search({.queries = query.data(), .count = 1, .filter = &filter});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "field yeer is unknown; known are year, lang; did you mean year?");
  }
}

// An altered byte, a missing byte and a missing file, of every file of the folder.
TEST_F(DocumentIndexTest, DamageOfAnyFileIsFoundBeforeItIsUsed) {
  Documents documents;
  for (int i = 0; i < 20; ++i) documents[fmt::format("d{}", i)] = RandomDocument();
  Build(documents);
  RemoveDocuments(Index(), {"d3"}, false);
  ASSERT_NO_THROW(DocumentIndex::Open(Index()));
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Index())) {
    if (!entry.is_regular_file() || entry.path().filename() == "lock") continue;
    ++files;
    const std::string bytes = ReadFile(entry.path());
    const auto expect_error = [&](const std::string& text) {
      WriteFileAtomically(entry.path(), text);
      try {
        DocumentIndex::Open(Index());
        ADD_FAILURE() << entry.path();
      } catch (const DataError& error) {
        EXPECT_THAT(error.what(), HasSubstr(entry.path().filename().native()));
      }
    };
    std::string altered = bytes;
    altered[bytes.size() / 2] = static_cast<char>(altered[bytes.size() / 2] ^ 4);
    expect_error(altered);
    expect_error(bytes.substr(0, bytes.size() - 1));
    std::filesystem::remove(entry.path());
    EXPECT_THROW(DocumentIndex::Open(Index()), DataError) << entry.path();
    WriteFileAtomically(entry.path(), bytes);
  }
  EXPECT_GE(files, 13u);
  EXPECT_NO_THROW(DocumentIndex::Open(Index()));
}

TEST_F(DocumentIndexTest, DamageIsNotCompactedAway) {
  Documents documents;
  for (int i = 0; i < 20; ++i) documents[fmt::format("d{}", i)] = RandomDocument();
  Build(documents);
  RemoveDocuments(Index(), {"d3"}, false);
  const std::filesystem::path vectors = Index() / SegmentName(1) / "vectors.f32";
  std::string bytes = ReadFile(vectors);
  bytes[5] = static_cast<char>(bytes[5] ^ 4);
  WriteFileAtomically(vectors, bytes);
  EXPECT_THROW(CompactIndex(Index(), {}), DataError);
}

TEST_F(DocumentIndexTest, AnotherModelIsRefused) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  Build(documents);
  const IndexInfo info = DocumentIndex::Open(Index())->info();
  EXPECT_NO_THROW(LoadIndexModel(info, LoadOptionsOf(info.model)));
  const std::filesystem::path other = folder_.path() / "other";
  WriteTinyModel(other, {.seed = 2});
  try {
    LoadIndexModel(info, LoadOptionsOf(info.model), other);
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is not the model that the index was made with"));
    EXPECT_THAT(error.what(), HasSubstr("its weights, settings or tokenizer differ"));
  }
  WriteTinyModel(other, {.seed = 1, .dense = true});
  try {
    LoadIndexModel(info, LoadOptionsOf(info.model), other);
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), HasSubstr("its embeddings have 16 numbers, those of the index 32"));
  }
}

TEST_F(DocumentIndexTest, IdsThatAreThereOrNotAreNamedAndNothingChanges) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}, {"b", {"beta", {}, "en"}}};
  Build(documents);
  const auto expect = [&](const auto& change, const std::string& message) {
    const std::string before = ReadFile(Index() / kManifestName);
    try {
      change();
      ADD_FAILURE() << message;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
    EXPECT_EQ(ReadFile(Index() / kManifestName), before);
  };
  const Documents again = {{"c", {"gamma", {}, "en"}}, {"b", {"gamma", {}, "en"}}};
  expect([&] { AddDocuments(Encoder(), Index(), SourceOf(again), false, {}); },
         "f: the index has a document with this id; --update puts this one in its place (id b)");
  expect([&] { RemoveDocuments(Index(), {"a", "x"}, false); }, "no document has this id");
  RemoveDocuments(Index(), {"a"}, false);
  expect(
      [&] {
        RemoveDocuments(Index(), {"b", "a"}, false);
      },
      "this document has been removed already; nothing was removed");
  const RemoveReport report = RemoveDocuments(Index(), {"b", "a", "x"}, true);
  EXPECT_EQ(report.removed, 1u);
  EXPECT_EQ(report.missing, 2u);
  expect([&] { CompactIndex(Index(), {}); }, "all documents have been removed");
}

}  // namespace
}  // namespace tandem::index
