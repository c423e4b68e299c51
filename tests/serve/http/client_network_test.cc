#include "serve/http/client_network.h"

#include <gtest/gtest.h>

namespace tandem::serve {
namespace {

TEST(ClientNetworkTest, OfIpv6ItIsTheNetworkHoweverTheAddressIsWritten) {
  const std::string network = "2001:db8:0:1::/64";
  EXPECT_EQ(ClientNetwork("2001:db8:0:1:a:b:c:d"), network);
  EXPECT_EQ(ClientNetwork("2001:db8:0:1::1"), network);
  EXPECT_EQ(ClientNetwork("2001:db8:0:1::2:3"), network);
  EXPECT_NE(ClientNetwork("2001:db8:0:2::1"), network);
  EXPECT_EQ(ClientNetwork("2001:db8::1"), "2001:db8::/64");
  EXPECT_EQ(ClientNetwork("fe80::1%eth0"), "fe80::/64");
}

TEST(ClientNetworkTest, EveryOtherAddressStandsForItself) {
  for (const char* address : {"192.0.2.1", "::1", "::ffff:192.0.2.1", "", "no address"}) {
    EXPECT_EQ(ClientNetwork(address), address);
  }
}

}  // namespace
}  // namespace tandem::serve
