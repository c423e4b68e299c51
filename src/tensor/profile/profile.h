// Measures where the time of a step goes, by operation. Off by default: a scope then costs a
// branch.
//
// A scope measures an operation of the thread that switched the profile on; what threads do inside
// the operation is part of it. Scopes nest, and a scope's time leaves out the scopes inside it, so
// that the times of all operations add up to that of the outermost scope. Where each thread runs
// operations of its own (run_apart.h), an operation counts with its share of all threads' time, and
// the outer scope with the time that threads waited.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace tandem::tensor {

// The least work of an operation: FLOPs of its matrix products, and bytes that it reads and writes
// if nothing is in a cache before.
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
    double seconds = 0;  // without the scopes inside
    Work work;
  };

  // The operations in the order of their first call.
  const std::vector<Operation>& operations() const { return operations_; }
  // Shapes of the products that were made.
  const std::set<ProductShape>& products() const { return products_; }

  // Adds calls, seconds and work to the operation of the same name; a scope does so when it ends.
  void Add(const Operation& done);
  void AddProduct(ProductShape shape) { products_.insert(shape); }

  // Adds the operations of one of `threads` threads that ran in parallel, with their seconds
  // divided by the number of threads: the time in which all threads together would have done them.
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
  double outer_inner_seconds_ = 0;  // inner_seconds_ of the scope around this one, so far
};

}  // namespace tandem::tensor
