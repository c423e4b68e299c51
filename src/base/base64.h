// Base64 with padding (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tandem {

// Nothing where `encoded` is not base64 of whole bytes: a length that is no multiple of 4, another
// character, padding that is not at the end, or bits behind the last byte that are not zero.
std::optional<std::string> DecodeBase64(std::string_view encoded);

// Appends four characters for each three bytes that have begun.
void AppendBase64(std::string_view bytes, std::string* out);
std::string EncodeBase64(std::string_view bytes);

}  // namespace tandem
