#include "sampling/audit/audit_file.h"

#include <bit>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/files/files.h"

namespace tandem::sampling {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

constexpr std::string_view kMagic = "TDMPASS1";
constexpr std::string_view kScoresMagic = "TDMSCOR1";
constexpr uint32_t kMark = UINT32_MAX;

template <typename T>
void Append(std::string& bytes, const T& number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(T));
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  size_t left() const { return rest_.size(); }
  std::string_view Bytes(size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  template <typename T>
  bool Read(T& number) {
    if (rest_.size() < sizeof(T)) return false;
    std::memcpy(&number, Bytes(sizeof(T)).data(), sizeof(T));
    return true;
  }
  template <typename T>
  bool ReadAll(std::vector<T>& numbers, uint64_t count) {
    if (count > rest_.size() / sizeof(T)) return false;
    numbers.resize(count);
    if (count > 0) std::memcpy(numbers.data(), Bytes(count * sizeof(T)).data(), count * sizeof(T));
    return true;
  }

 private:
  std::string_view rest_;
};

bool ReadHead(Reader& reader, PassRecord& record) {
  uint64_t queries = 0, pairs = 0;
  return reader.Bytes(kMagic.size()) == kMagic && reader.Read(record.pass) &&
         reader.Read(queries) && reader.Read(pairs) &&
         reader.ReadAll(record.pair_counts, queries) && reader.ReadAll(record.probabilities, pairs);
}

// Stops at what is not whole.
void ReadBatches(Reader& reader, PassRecord& record) {
  uint32_t rows = 0;
  while (reader.Read(rows) && rows != kMark) {
    std::vector<uint32_t> numbers;
    if (!reader.ReadAll(numbers, 2 * uint64_t{rows})) return;
    auto& batch = record.batches.emplace_back();
    for (size_t i = 0; i < numbers.size(); i += 2) batch.emplace_back(numbers[i], numbers[i + 1]);
  }
  uint32_t count = 0;
  if (rows != kMark || !reader.Read(count)) return;
  LeftOut one;
  while (record.left_out.size() < count && reader.Read(one.query) && reader.Read(one.score)) {
    record.left_out.push_back(one);
  }
  record.complete = record.left_out.size() == count;
}

}  // namespace

std::string PassHead(uint64_t pass, const Pairs& pairs, std::span<const float> probabilities) {
  std::string bytes(kMagic);
  for (const uint64_t number : {pass, uint64_t{pairs.queries()}, uint64_t{pairs.size()}}) {
    Append(bytes, number);
  }
  bytes.reserve(bytes.size() + 4 * (pairs.queries() + pairs.size()));
  for (size_t query = 0; query < pairs.queries(); ++query) {
    Append(bytes, static_cast<uint32_t>(pairs.count(query)));
  }
  bytes.append(reinterpret_cast<const char*>(probabilities.data()), probabilities.size_bytes());
  return bytes;
}

std::string PassBatch(std::span<const Draw> draws) {
  std::string bytes;
  Append(bytes, static_cast<uint32_t>(draws.size()));
  for (const Draw& draw : draws) {
    Append(bytes, draw.query);
    Append(bytes, draw.document);
  }
  return bytes;
}

std::string PassEnd(std::span<const LeftOut> left_out) {
  std::string bytes;
  Append(bytes, kMark);
  Append(bytes, static_cast<uint32_t>(left_out.size()));
  for (const LeftOut& one : left_out) {
    Append(bytes, one.query);
    Append(bytes, one.score);
  }
  return bytes;
}

std::string FirstScoresBytes(std::span<const float> scores) {
  std::string bytes(kScoresMagic);
  Append(bytes, uint64_t{scores.size()});
  bytes.append(reinterpret_cast<const char*>(scores.data()), scores.size_bytes());
  return bytes;
}

std::vector<float> ReadFirstScores(const std::filesystem::path& path) {
  const MappedFile file(path);
  Reader reader(file.bytes());
  uint64_t pairs = 0;
  std::vector<float> scores;
  if (reader.Bytes(kScoresMagic.size()) != kScoresMagic || !reader.Read(pairs) ||
      !reader.ReadAll(scores, pairs) || reader.left() > 0) {
    throw DataError(
        path.native(), 0, "",
        "is no whole record of first scores, as tandem train writes it into sampling/ of "
        "a run folder");
  }
  return scores;
}

PassRecord ReadPassRecord(const std::filesystem::path& path) {
  const MappedFile file(path);
  Reader reader(file.bytes());
  PassRecord record;
  if (!ReadHead(reader, record)) {
    throw DataError(path.native(), 0, "",
                    "is no record of an epoch: it does not begin as those that tandem train writes "
                    "into sampling/ of a run folder");
  }
  ReadBatches(reader, record);
  return record;
}

}  // namespace tandem::sampling
