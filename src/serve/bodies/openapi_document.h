// The OpenAPI description of the server, made from the table of routes.
#pragma once

#include <string>

namespace tandem::serve {

// The document as JSON. `with_token`: whether clients need a bearer token.
std::string OpenApiDocument(bool with_token);

}  // namespace tandem::serve
