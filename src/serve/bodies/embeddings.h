// Requests for embeddings: what /v1/embeddings and /embed have in common.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/route.h"

namespace tandem::serve {

struct EmbeddingMembers {
  std::string_view texts;  // the member that has the texts
  // OpenAI's clients send it: members that OpenAI may add are passed over, and token ids get an
  // error of their own.
  bool openai = false;
};

class EmbeddingsRequest : public PostedRequest {
 public:
  explicit EmbeddingsRequest(const EmbeddingMembers& members) : members_(members) {}
  void Parse(std::string* body, const Backend& backend, const RequestLimits& limits,
             RequestTexts* texts) override;
  size_t AnswerBytes(size_t texts, size_t width) const override;

 protected:
  // Appends a row [E] as the request wants it: cut, as numbers or as base64.
  void AppendEmbedding(std::string* out, std::span<const float> row) const;

 private:
  EmbeddingMembers members_;
  bool base64_ = false;
  size_t dimensions_ = 0;  // 0: all
};

// The row cut to its first `dimensions` numbers (0: all). One of length 1 gets it again.
std::vector<float> CutRow(std::span<const float> row, size_t dimensions);

}  // namespace tandem::serve
