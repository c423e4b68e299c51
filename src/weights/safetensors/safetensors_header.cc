// Parses and checks the header of a safetensors file; every byte of it is hostile until checked.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/files/file_kind.h"
#include "base/json/json_problem.h"
#include "base/json/json_scanner.h"
#include "weights/safetensors/safetensors.h"

namespace tandem::weights {
namespace {

constexpr size_t kLengthBytes = 8;
constexpr size_t kShownNameBytes = 120;  // a hostile name may be as long as the header

std::string Shown(std::string_view name) {
  if (name.size() <= kShownNameBytes) return std::string(name);
  return fmt::format("{}... ({} bytes)", name.substr(0, kShownNameBytes), name.size());
}

// Takes the JSON piece by piece, without building a tree, and stops at the first piece that does
// not belong to the format: nesting and memory stay bounded, and repeated keys are noticed.
class HeaderReader final : public JsonEvents {
 public:
  // `file` names the file in errors, which every function throws as ModelError.
  explicit HeaderReader(std::string_view file) : file_(file) {}

  SafetensorsHeader header;

  void StartObject() override {
    if (state_ == State::kStart) return Enter(State::kTensors);
    if (state_ == State::kTensorValue) return Enter(State::kTensor);
    if (state_ == State::kMetadataValue) return Enter(State::kMetadata);
    Unexpected("an object");
  }

  void Key(std::string name) override {
    if (state_ == State::kTensors) return StartTensor(std::move(name));
    if (state_ == State::kTensor) return StartField(name);
    if (state_ != State::kMetadata) Unexpected("a key");
    metadata_key_ = std::move(name);
    Enter(State::kMetadataString);
  }

  void String(std::string value) override {
    if (state_ == State::kMetadataString) {
      if (!header.metadata.emplace(metadata_key_, std::move(value)).second) {
        Fail(fmt::format("the metadata key '{}' occurs twice", Shown(metadata_key_)));
      }
      return Enter(State::kMetadata);
    }
    if (state_ != State::kDtype) Unexpected("a string");
    dtype_ = DtypeFromName(value);
    if (!dtype_) Fail(fmt::format("has the unknown type '{}'", Shown(value)));
    state_ = State::kTensor;
  }

  void StartArray() override {
    if (state_ != State::kShape && state_ != State::kOffsets) Unexpected("an array");
    state_ = state_ == State::kShape ? State::kShapeNumbers : State::kOffsetNumbers;
  }

  void Number(std::string_view digits) override {
    constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    const uint64_t value = Natural(digits);
    if (state_ == State::kShapeNumbers) {
      if (value > kMax) Fail("has a size beyond 2^63");
      shape_->push_back(static_cast<int64_t>(value));
      return;
    }
    if (state_ != State::kOffsetNumbers) Unexpected("a number");
    if (offsets_->size() == 2) Fail("has more than two data_offsets");
    offsets_->push_back(value);
  }

  void EndArray() override {
    if (state_ == State::kOffsetNumbers && offsets_->size() != 2) {
      Fail("has not two data_offsets");
    }
    state_ = State::kTensor;
  }

  void EndObject() override {
    if (state_ == State::kTensor) {
      EndTensor();
    } else {
      state_ = state_ == State::kMetadata ? State::kTensors : State::kEnd;
    }
  }

  void Word(std::string_view word) override { Unexpected(word == "null" ? "null" : "a boolean"); }

 private:
  enum class State {
    kStart,
    kTensors,
    kTensorValue,
    kTensor,
    kDtype,
    kShape,
    kShapeNumbers,
    kOffsets,
    kOffsetNumbers,
    kMetadataValue,
    kMetadata,
    kMetadataString,
    kEnd,
  };

  void Enter(State state) { state_ = state; }

  [[noreturn]] void Fail(std::string_view message) const {
    const bool in_tensor = state_ >= State::kTensorValue && state_ <= State::kOffsetNumbers;
    throw ModelError(file_, in_tensor ? Shown(name_) : "", message);
  }

  [[noreturn]] void Unexpected(std::string_view what) const {
    Fail(fmt::format(
        "the header has {} where the format has none; each tensor is {{\"dtype\", \"shape\", "
        "\"data_offsets\"}}",
        what));
  }

  uint64_t Natural(std::string_view digits) const {
    uint64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc() && stop == end) return value;
    const bool is_integer = digits.find_first_of(".eE") == std::string_view::npos;
    Unexpected(is_integer && digits.front() == '-' ? "a negative number"
                                                   : "a number that is not an integer below 2^64");
  }

  void StartTensor(std::string name) {
    if (name == "__metadata__") {
      if (std::exchange(metadata_seen_, true)) Fail("'__metadata__' occurs twice");
      state_ = State::kMetadataValue;
      return;
    }
    name_ = std::move(name);
    dtype_.reset();
    shape_.reset();
    offsets_.reset();
    state_ = State::kTensorValue;
    if (!names_.insert(name_).second) Fail("the name occurs twice");
  }

  void StartField(const std::string& name) {
    if (name == "dtype" && !dtype_) {
      state_ = State::kDtype;
    } else if (name == "shape" && !shape_) {
      shape_.emplace();
      state_ = State::kShape;
    } else if (name == "data_offsets" && !offsets_) {
      offsets_.emplace();
      state_ = State::kOffsets;
    } else {
      Fail(fmt::format("has the key '{}' twice or unknown", Shown(name)));
    }
  }

  void EndTensor() {
    if (!dtype_ || !shape_ || !offsets_) Fail("lacks dtype, shape or data_offsets");
    header.tensors.push_back({.name = name_,
                              .dtype = *dtype_,
                              .shape = std::move(*shape_),
                              .begin = (*offsets_)[0],
                              .end = (*offsets_)[1]});
    state_ = State::kTensors;
  }

  std::string_view file_;
  State state_ = State::kStart;
  std::string name_;
  std::optional<Dtype> dtype_;
  std::optional<Shape> shape_;
  std::optional<std::vector<uint64_t>> offsets_;
  std::string metadata_key_;
  bool metadata_seen_ = false;
  std::unordered_set<std::string> names_;
};

// The number of bytes that shape and type ask for; nothing where it overflows or is no whole
// number.
std::optional<uint64_t> BytesOf(const TensorEntry& tensor) {
  uint64_t elements = 1;
  for (const int64_t size : tensor.shape) {
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(size), &elements)) return {};
  }
  uint64_t bits = 0;
  if (__builtin_mul_overflow(elements, uint64_t{DtypeBits(tensor.dtype)}, &bits)) return {};
  if (bits % 8 != 0) return {};
  return bits / 8;
}

void CheckTensor(const TensorEntry& tensor, uint64_t data_bytes, std::string_view file) {
  if (tensor.begin > tensor.end || tensor.end > data_bytes) {
    throw ModelError(file, Shown(tensor.name),
                     fmt::format("data_offsets [{}, {}] are not inside the {} bytes of data; the "
                                 "file is cut short or damaged",
                                 tensor.begin, tensor.end, data_bytes));
  }
  const std::optional<uint64_t> wanted = BytesOf(tensor);
  if (!wanted || *wanted != tensor.end - tensor.begin) {
    throw ModelError(file, Shown(tensor.name),
                     fmt::format("{} of shape {} needs {} bytes, data_offsets [{}, {}] hold {}",
                                 DtypeName(tensor.dtype), ShapeText(tensor.shape),
                                 wanted ? std::to_string(*wanted) : "impossibly many", tensor.begin,
                                 tensor.end, tensor.end - tensor.begin));
  }
}

// Tensors are sorted by begin: they must lie end to end and reach the end of the file.
void CheckCover(const std::vector<TensorEntry>& tensors, uint64_t data_bytes,
                std::string_view file) {
  uint64_t covered = 0;
  for (const TensorEntry& tensor : tensors) {
    if (tensor.begin != covered) {
      throw ModelError(
          file, Shown(tensor.name),
          fmt::format("starts at byte {} of the data, but the tensor before it ends "
                      "at {}: tensors must not {}",
                      tensor.begin, covered, tensor.begin < covered ? "overlap" : "leave holes"));
    }
    covered = tensor.end;
  }
  if (covered != data_bytes) {
    throw ModelError(
        file, "",
        fmt::format("{} bytes after the last tensor belong to none", data_bytes - covered));
  }
}

std::string_view HeaderJson(std::string_view bytes, std::string_view file) {
  const auto fail = [&](const std::string& message) {
    const std::string_view first = bytes.substr(0, kFileKindBytes);
    const std::string problem = IsSafetensors(first) ? "" : NoDataProblem(first, file);
    throw ModelError(file, "", problem.empty() ? message : problem);
  };
  if (bytes.empty()) fail("is empty; fetch or copy it again");
  if (bytes.size() < kLengthBytes) {
    fail(fmt::format("is no safetensors file: {} bytes, at least {} expected", bytes.size(),
                     kLengthBytes));
  }
  uint64_t length = 0;  // little-endian, as every machine this runs on
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - kLengthBytes) {
    fail(
        fmt::format("the header claims {} bytes, but the file has only {} after its length; it is "
                    "cut short or no safetensors file",
                    length, bytes.size() - kLengthBytes));
  }
  if (length > kMaxHeaderBytes) {
    fail(fmt::format("the header has {} bytes; at most {} are allowed", length, kMaxHeaderBytes));
  }
  const std::string_view json = bytes.substr(kLengthBytes, length);
  if (json.empty() || json.front() != '{') {
    fail("is no safetensors file: the header does not start with '{'");
  }
  return json;
}

}  // namespace

SafetensorsHeader ParseSafetensors(std::string_view bytes, std::string_view file) {
  const std::string_view json = HeaderJson(bytes, file);
  HeaderReader reader(file);
  if (JsonScanner(json, /*python_words=*/false, &reader).Scan()) {
    throw ModelError(file, "", fmt::format("the header is not JSON: {}", JsonFaultText(json)));
  }
  SafetensorsHeader header = std::move(reader.header);
  header.data_offset = kLengthBytes + json.size();
  const uint64_t data_bytes = bytes.size() - header.data_offset;
  for (const TensorEntry& tensor : header.tensors) CheckTensor(tensor, data_bytes, file);
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const TensorEntry& a, const TensorEntry& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  CheckCover(header.tensors, data_bytes, file);
  return header;
}

}  // namespace tandem::weights
