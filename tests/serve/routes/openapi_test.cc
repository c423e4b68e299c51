#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "serve/bodies/api_error.h"
#include "serve/bodies/openapi_document.h"
#include "serve/fake_backend.h"
#include "serve/route.h"
#include "serve/service.h"

namespace tandem::serve {
namespace {

using nlohmann::json;

TEST(OpenApiTest, DescribesEveryRouteAndNoOther) {
  const json document = json::parse(OpenApiDocument(true));
  EXPECT_EQ(document["paths"].size(), Routes().size());
  for (const Route* route : Routes()) {
    EXPECT_NE(route->get == nullptr, route->post == nullptr) << route->path;
    EXPECT_EQ(FindRoute(route->path), route);  // no other has the path
    const json& path = document["paths"][std::string(route->path)];
    const char* method = route->method() == Method::kGet ? "get" : "post";
    ASSERT_TRUE(path.contains(method)) << route->path;
    EXPECT_EQ(path[method].contains("requestBody"), route->method() == Method::kPost)
        << route->path;
    EXPECT_EQ(path[method].contains("security"), !route->open) << route->path;
  }
  EXPECT_FALSE(json::parse(OpenApiDocument(false))["components"].contains("securitySchemes"));
}

// What the document promises of methods and tokens is what the service does.
TEST(OpenApiTest, TheServiceDoesWhatItDescribes) {
  const Service service([] { return std::make_shared<FakeBackend>(); },
                        {.tokens = {"0123456789abcdef"}});
  const json document = json::parse(OpenApiDocument(true));
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const Method method : {Method::kGet, Method::kPost}) {
      RequestHead head{.method = method, .path = path, .content_type = "application/json"};
      head.content_length = 2;
      const char* name = method == Method::kGet ? "get" : "post";
      const std::optional<Response> refused = service.Screen(head);
      if (!methods.contains(name)) {
        ASSERT_TRUE(refused) << path;
        EXPECT_EQ(refused->status, 405) << path;
      } else if (methods[name].contains("security")) {
        ASSERT_TRUE(refused) << path;
        EXPECT_EQ(refused->status, 401) << path;
      } else {
        EXPECT_FALSE(refused) << path;
      }
    }
  }
}

// Null is as if a member were not there, so that a body of nothing but nulls is refused for what it
// lacks and for nothing else. A member that the description has and the route does not take would
// be refused as unknown.
TEST(OpenApiTest, ItsMembersOfRequestsAreTaken) {
  const json document = json::parse(OpenApiDocument(false));
  const FakeBackend backend(/*with_index=*/true);
  for (const Route* route : Routes()) {
    if (route->post == nullptr) continue;
    const json& schema = document["paths"][std::string(route->path)]["post"]["requestBody"]
                                 ["content"]["application/json"]["schema"];
    json body = json::object();
    for (const auto& [name, member] : schema["properties"].items()) body[name] = nullptr;
    ASSERT_FALSE(body.empty()) << route->path;
    std::string text = body.dump();
    RequestTexts texts;
    try {
      route->post()->Parse(&text, backend, {}, &texts);
      FAIL() << route->path << " took a body without texts";
    } catch (const ApiError& error) {
      EXPECT_EQ(error.code(), "missing_member") << route->path << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace tandem::serve
