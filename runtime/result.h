/// Result<T>: a value, or the sentence that says why there is none.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace attune {

/// `<who>: <what is wrong>: <the values>; <what would be right>`, without a period at its end.
struct Error {
  std::string message;
};

/// Ends the program: someone took the value of a Result that holds an error.
[[noreturn]] inline void end_without_value(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  std::abort();
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  /// The value. Without one the program ends with the sentence on stderr: ask has_value() first.
  T& value() & {
    if (!has_value()) end_without_value(error());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& { return const_cast<Result&>(*this).value(); }
  T&& value() && { return std::move(value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Only of a Result without a value.
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success, or the sentence that says what went wrong.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const {
    if (error_) end_without_value(*error_);
  }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace attune
