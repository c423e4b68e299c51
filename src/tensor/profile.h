// Where the time of a step goes, by operation. Off by default: a scope then costs one branch.
//
// A scope stands for an operation of the thread that switched the profile on (operations start
// their own threads inside). Scopes nest, and a scope's time is its own: without what the scopes
// inside it took. So the times of all operations add up to that of the outermost scope. Where each
// thread has operations of its own (run_apart.h), an operation counts with its part of all threads'
// time, and the outer scope with what they waited.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace tandem::tensor {

// The least that an operation must do: FLOPs of its matrix products, and bytes that it must read
// and write when nothing of it is in a cache yet.
struct Work {
  double flops = 0;
  double bytes = 0;
};

// The constant factor of a matrix product.
struct ProductShape {
  int64_t depth = 0;
  int64_t columns = 0;
  auto operator<=>(const ProductShape&) const = default;
};

class Profile {
 public:
  struct Operation {
    std::string_view name;
    int64_t calls = 0;
    double seconds = 0;  // its own
    Work work;
  };

  // In the order of their first call.
  const std::vector<Operation>& operations() const { return operations_; }
  // Shapes of the products that were made.
  const std::set<ProductShape>& products() const { return products_; }

  // Adds calls, seconds and work to the operation of the same name; a scope does so when it ends.
  void Add(const Operation& done);
  void AddProduct(ProductShape shape) { products_.insert(shape); }

  // Takes over what one of `threads` threads did while all of them worked side by side: an
  // operation's seconds are then those in which all threads together would have done it.
  void AddShare(const Profile& part, int threads);

  // The one that this thread's scopes write to; null: off.
  static Profile* Active() { return active_; }

 private:
  friend class ActiveProfile;
  friend class ProfileScope;

  std::vector<Operation> operations_;
  std::set<ProductShape> products_;
  double inner_seconds_ = 0;  // of scopes that ended inside the innermost open one
  static inline thread_local constinit Profile* active_ = nullptr;
};

// While it is alive, this thread's scopes write to `profile`; null leaves everything as it is.
class ActiveProfile {
 public:
  explicit ActiveProfile(Profile* profile) : before_(Profile::active_) {
    if (profile != nullptr) Profile::active_ = profile;
  }
  ActiveProfile(const ActiveProfile&) = delete;
  ActiveProfile& operator=(const ActiveProfile&) = delete;
  ~ActiveProfile() { Profile::active_ = before_; }

 private:
  Profile* before_;
};

class ProfileScope {
 public:
  // `name` is a literal.
  explicit ProfileScope(std::string_view name, const Work& work = {}) : profile_(Profile::active_) {
    if (profile_ != nullptr) Begin(name, work);
  }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;
  ~ProfileScope() {
    if (profile_ != nullptr) End();
  }

 private:
  void Begin(std::string_view name, const Work& work);
  void End();

  Profile* profile_;
  std::string_view name_;
  Work work_;
  std::chrono::steady_clock::time_point start_;
  double outer_inner_seconds_ = 0;  // what the scope around this one had counted before
};

}  // namespace tandem::tensor
