// Whether a server is well, asked as a client (`tandem serve --health`).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tandem::serve {

// Sends GET /health to the server at `host` (an address or a name; one for all addresses, as
// 0.0.0.0 and ::, stands for this machine) and `port`, and waits for the answer no longer than
// `limit`. Returns "" where the answer is 200; else what was wrong, as "127.0.0.1:8080 answers
// 503".
std::string HealthProblem(const std::string& host, uint16_t port, std::chrono::milliseconds limit);

}  // namespace tandem::serve
