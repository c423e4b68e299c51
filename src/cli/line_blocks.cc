#include "cli/line_blocks.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace tandem::app {

bool LineBlocks::IsMoreReady() const {
  pollfd poll_for{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return ::poll(&poll_for, 1, 0) > 0;
}

bool LineBlocks::ReadMore() {
  if (ended_) return false;
  if (filled_ == buffer_.size()) buffer_.resize(std::max(wanted_, 2 * buffer_.size()));
  for (;;) {
    const ssize_t count = ::read(descriptor_, buffer_.data() + filled_, buffer_.size() - filled_);
    if (count > 0) {
      filled_ += static_cast<size_t>(count);
      return true;
    }
    if (count == 0) {
      ended_ = true;
      return false;
    }
    if (errno != EINTR) {
      throw DataError("standard input", 0, "",
                      fmt::format("cannot be read: {}", std::strerror(errno)));
    }
  }
}

bool LineBlocks::Next(std::vector<std::string_view>* lines) {
  lines->clear();
  buffer_.erase(0, consumed_);
  filled_ -= consumed_;
  consumed_ = 0;
  size_t searched = 0;
  const auto has_line = [&] {
    const bool found = std::memchr(buffer_.data() + searched, '\n', filled_ - searched) != nullptr;
    if (!found) searched = filled_;
    return found;
  };
  while (!has_line() && ReadMore()) {
  }
  while (filled_ < wanted_ && IsMoreReady() && ReadMore()) {
  }
  const std::string_view bytes = std::string_view(buffer_).substr(0, filled_);
  while (consumed_ < bytes.size()) {
    const size_t end = bytes.find('\n', consumed_);
    if (end == std::string_view::npos && !ended_) break;
    lines->push_back(bytes.substr(consumed_, std::min(end, bytes.size()) - consumed_));
    consumed_ = end == std::string_view::npos ? bytes.size() : end + 1;
  }
  return !lines->empty();
}

}  // namespace tandem::app
