// For std::visit: Overloaded{[](A a) { ... }, [](B b) { ... }} calls the function of the type that
// a variant holds.
#pragma once

namespace tandem {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang 14 deduces none by itself

}  // namespace tandem
