// The provenance of embeddings: everything that decides their bytes, as lines NAME VALUE.
//
// Every layout keeps the lines beside its rows, and takes rows that it finds for those that are
// wanted only where their lines say so.
#pragma once

#include <string>
#include <string_view>

namespace tandem::embeddings {

// Such as fingerprints of model and tokenizer, hashes of the texts and of their prompt, lengths,
// batches, precision, threads and the versions of libraries.
class Provenance {
 public:
  Provenance() = default;
  // Lines as a file has them, each with its end.
  explicit Provenance(std::string lines) : lines_(std::move(lines)) {}

  // Adds a line; `value` has no line end.
  Provenance& Add(std::string_view name, std::string_view value);
  Provenance& Add(const Provenance& further);

  const std::string& lines() const { return lines_; }
  // The value of a name; "" where there is none.
  std::string_view Of(std::string_view name) const;

  bool operator==(const Provenance&) const = default;

 private:
  std::string lines_;
};

// Says which differences count.
enum class Sameness {
  kBytes,    // all: the same texts would get other bytes
  kMeaning,  // in lines that `wanted` has and that change more than rounding
};

// Throws where `was` is not what is wanted, naming the first line that differs and what a user can
// do: ModelError for another model, else UsageError. Where several lines differ, the one that
// causes the others is named: a model of another width has another fingerprint too. `file` is what
// was made; `remedy` ends the message. Names that no message knows are not compared.
void CheckSame(std::string_view file, const Provenance& was, const Provenance& wanted,
               Sameness sameness, std::string_view remedy);

}  // namespace tandem::embeddings
