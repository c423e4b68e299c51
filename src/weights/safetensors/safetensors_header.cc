// Parses and checks the header of a safetensors file; every byte of it is hostile until checked.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/files/file_kind.h"
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
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsHeader header;
  std::string error;
  std::string error_tensor;

  bool start_object(std::size_t) override {
    if (state_ == State::kStart) return Enter(State::kTensors);
    if (state_ == State::kTensorValue) return Enter(State::kTensor);
    if (state_ == State::kMetadataValue) return Enter(State::kMetadata);
    return Unexpected("an object");
  }

  bool key(string_t& name) override {
    if (state_ == State::kTensors) return StartTensor(name);
    if (state_ == State::kTensor) return StartField(name);
    if (state_ != State::kMetadata) return Unexpected("a key");
    metadata_key_ = std::move(name);
    return Enter(State::kMetadataString);
  }

  bool string(string_t& value) override {
    if (state_ == State::kMetadataString) {
      if (!header.metadata.emplace(metadata_key_, std::move(value)).second) {
        return Fail(fmt::format("the metadata key '{}' occurs twice", Shown(metadata_key_)));
      }
      return Enter(State::kMetadata);
    }
    if (state_ != State::kDtype) return Unexpected("a string");
    dtype_ = DtypeFromName(value);
    if (!dtype_) return Fail(fmt::format("has the unknown type '{}'", Shown(value)));
    return Enter(State::kTensor);
  }

  bool start_array(std::size_t) override {
    if (state_ == State::kShape) return Enter(State::kShapeNumbers);
    if (state_ == State::kOffsets) return Enter(State::kOffsetNumbers);
    return Unexpected("an array");
  }

  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (state_ == State::kShapeNumbers) {
      if (value > kMax) return Fail("has a size beyond 2^63");
      shape_->push_back(static_cast<int64_t>(value));
      return true;
    }
    if (state_ != State::kOffsetNumbers) return Unexpected("a number");
    if (offsets_->size() == 2) return Fail("has more than two data_offsets");
    offsets_->push_back(value);
    return true;
  }

  bool end_array() override {
    if (state_ == State::kOffsetNumbers && offsets_->size() != 2) {
      return Fail("has not two data_offsets");
    }
    return Enter(State::kTensor);
  }

  bool end_object() override {
    if (state_ == State::kTensor) return EndTensor();
    if (state_ == State::kMetadata) return Enter(State::kTensors);
    return Enter(State::kEnd);
  }

  bool null() override { return Unexpected("null"); }
  bool boolean(bool) override { return Unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { return Unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    return Unexpected("a number that is not an integer below 2^64");
  }
  bool binary(binary_t&) override { return Unexpected("binary data"); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Fail(fmt::format("the header is not JSON: error at byte {}", kLengthBytes + position));
  }

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

  bool Enter(State state) {
    state_ = state;
    return true;
  }

  bool Fail(std::string message) {
    error = std::move(message);
    const bool in_tensor = state_ >= State::kTensorValue && state_ <= State::kOffsetNumbers;
    if (in_tensor) error_tensor = Shown(name_);
    return false;
  }

  bool Unexpected(std::string_view what) {
    return Fail(fmt::format(
        "the header has {} where the format has none; each tensor is {{\"dtype\", \"shape\", "
        "\"data_offsets\"}}",
        what));
  }

  bool StartTensor(string_t& name) {
    if (name == "__metadata__") {
      if (std::exchange(metadata_seen_, true)) return Fail("'__metadata__' occurs twice");
      return Enter(State::kMetadataValue);
    }
    name_ = std::move(name);
    dtype_.reset();
    shape_.reset();
    offsets_.reset();
    state_ = State::kTensorValue;
    if (!names_.insert(name_).second) return Fail("the name occurs twice");
    return true;
  }

  bool StartField(const string_t& name) {
    if (name == "dtype" && !dtype_) return Enter(State::kDtype);
    if (name == "shape" && !shape_) {
      shape_.emplace();
      return Enter(State::kShape);
    }
    if (name == "data_offsets" && !offsets_) {
      offsets_.emplace();
      return Enter(State::kOffsets);
    }
    return Fail(fmt::format("has the key '{}' twice or unknown", Shown(name)));
  }

  bool EndTensor() {
    if (!dtype_ || !shape_ || !offsets_) return Fail("lacks dtype, shape or data_offsets");
    header.tensors.push_back({.name = name_,
                              .dtype = *dtype_,
                              .shape = std::move(*shape_),
                              .begin = (*offsets_)[0],
                              .end = (*offsets_)[1]});
    return Enter(State::kTensors);
  }

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
        fmt::format("{} bytes behind the last tensor belong to none", data_bytes - covered));
  }
}

std::string_view HeaderJson(std::string_view bytes, std::string_view file) {
  const auto fail = [&](const std::string& message) {
    const std::string problem = NoDataProblem(bytes.substr(0, kFileKindBytes), file);
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
        fmt::format("the header claims {} bytes, but the file has only {} behind its length; it is "
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
  HeaderReader reader;
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) {
    throw ModelError(file, reader.error_tensor, reader.error);
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
