#include "report/figures/gnuplot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"

extern char** environ;

namespace tandem::report {
namespace {

[[noreturn]] void FailWith(const char* what, int error_number) {
  throw Error(ExitCode::kInternal,
              fmt::format("gnuplot: {}: {}", what, std::strerror(error_number)));
}

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { Close(); }
  void Close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  int number() const { return number_; }

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

// For the script. A socket, because a write to one that nobody reads can be an error without a
// signal, which the whole process would have to ignore.
Pipe MakeSocket() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    FailWith("cannot make a socket", errno);
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Pipe MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) FailWith("cannot make a pipe", errno);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

struct Child {
  pid_t process = -1;
  Descriptor in;
  Descriptor out;
  Descriptor err;
};

Child Start(const std::string& program) {
  Pipe in = MakeSocket();
  Pipe out = MakePipe();
  Pipe err = MakePipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read.number(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write.number(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write.number(), STDERR_FILENO);
  std::array<std::string, 3> words = {program, "-d", "-"};
  std::array<char*, 4> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  Child child;
  const int failure =
      ::posix_spawnp(&child.process, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure == ENOENT || failure == EACCES) {
    throw UsageError(fmt::format(
        "figures are drawn by gnuplot, and {} cannot be started ({}): apt-get install gnuplot-nox",
        program, std::strerror(failure)));
  }
  if (failure != 0) FailWith("cannot be started", failure);
  child.in = std::move(in.write);
  child.out = std::move(out.read);
  child.err = std::move(err.read);
  return child;
}

// Reads what there is; closes the descriptor at its end.
void ReadSome(Descriptor& from, std::string& text) {
  char buffer[65536];
  const ssize_t count = ::read(from.number(), buffer, sizeof(buffer));
  if (count > 0) text.append(buffer, static_cast<size_t>(count));
  if (count == 0 || (count < 0 && errno != EINTR)) from.Close();
}

void WriteSome(Descriptor& to, std::string_view& rest) {
  const ssize_t count = ::send(to.number(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0) rest.remove_prefix(static_cast<size_t>(count));
  // A gnuplot that has ended reads no more; its exit status says why.
  const bool broken = count < 0 && errno != EINTR && errno != EAGAIN;
  if (rest.empty() || broken) to.Close();
}

// Writes and reads at the same time: a child whose output nobody reads would wait for ever. poll
// passes over closed descriptors, whose number is -1.
void Exchange(Child& child, std::string_view script, std::string& out, std::string& err) {
  while (child.out.number() >= 0 || child.err.number() >= 0) {
    std::array<pollfd, 3> watched = {{{child.in.number(), POLLOUT, 0},
                                      {child.out.number(), POLLIN, 0},
                                      {child.err.number(), POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) {
      FailWith("cannot be waited for", errno);
    }
    if (watched[0].revents != 0) WriteSome(child.in, script);
    if (watched[1].revents != 0) ReadSome(child.out, out);
    if (watched[2].revents != 0) ReadSome(child.err, err);
  }
}

}  // namespace

std::string RunGnuplot(std::string_view script, const std::string& program) {
  Child child = Start(program);
  std::string out;
  std::string err;
  Exchange(child, script, out, err);
  child.in.Close();
  int status = 0;
  while (::waitpid(child.process, &status, 0) < 0) {
    if (errno != EINTR) FailWith("cannot be waited for", errno);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw Error(ExitCode::kInternal, fmt::format("gnuplot failed: {}", err));
  }
  return out;
}

}  // namespace tandem::report
