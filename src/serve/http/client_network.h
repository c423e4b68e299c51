// Says who a client is by its address.
#pragma once

#include <string>

namespace tandem::serve {

// An IPv4 address, also one that is written as IPv6 ("::ffff:192.0.2.1"), is itself. An IPv6
// address stands for its /64 network, since one customer has all of it: "2001:db8:0:1::/64".
// Loopback and what is no address stand for themselves.
std::string ClientNetwork(const std::string& address);

}  // namespace tandem::serve
