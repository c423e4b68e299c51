#include "serve/routes/openapi.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "serve/fake_backend.h"
#include "serve/routes/routes.h"
#include "serve/service.h"

namespace tandem::serve {
namespace {

using nlohmann::json;

TEST(OpenApiTest, DescribesEveryRouteAndNoOther) {
  const json document = json::parse(OpenApiDocument(true));
  EXPECT_EQ(document["paths"].size(), Routes().size());
  for (const Route& route : Routes()) {
    const json& path = document["paths"][std::string(route.path)];
    const char* method = route.method == Method::kGet ? "get" : "post";
    ASSERT_TRUE(path.contains(method)) << route.path;
    EXPECT_EQ(path[method].contains("requestBody"), route.method == Method::kPost) << route.path;
    EXPECT_EQ(path[method].contains("security"), !route.open) << route.path;
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

// The members that requests may have are those that the parsers take.
TEST(OpenApiTest, ItsExamplesOfMembersAreTaken) {
  const auto members = [](const char* path) {
    const json document = json::parse(OpenApiDocument(false));
    std::vector<std::string> names;
    for (const auto& [name, schema] : document["paths"][path]["post"]["requestBody"]["content"]
                                              ["application/json"]["schema"]["properties"]
                                                  .items()) {
      names.push_back(name);
    }
    return names;
  };
  const auto body_of = [](const std::vector<std::string>& names) {
    json body = json::object();
    for (const std::string& name : names) body[name] = nullptr;  // as if it were not there
    return body;
  };
  json embed = body_of(members("/embed"));
  embed["texts"] = "a";
  std::string text = embed.dump();
  EXPECT_NO_THROW(ParseEmbed(&text, {}));
  json similarity = body_of(members("/similarity"));
  similarity["pairs"] = json::array({json::array({"q", "d"})});
  text = similarity.dump();
  EXPECT_NO_THROW(ParseSimilarity(&text, {}));
  json search = body_of(members("/search"));
  search["query"] = "q";
  text = search.dump();
  EXPECT_NO_THROW(ParseSearch(&text, {}));
}

}  // namespace
}  // namespace tandem::serve
