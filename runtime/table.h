/// Table: a list inside its owner, as the tables of a call are.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace attune {

/// At most `most` elements. Only those that are added are made: a call of four tensors does not pay for sixty-four.
template <class T, std::size_t most>
requires std::is_trivially_destructible_v<T>
class Table {
 public:
  Table() {}  // not `= default`, which would clear the memory in value-initialisation
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// Only while size() < most.
  template <class... Parts>
  T& add(Parts&&... parts) {
    return *std::construct_at(first() + size_++, std::forward<Parts>(parts)...);
  }

  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return first()[i]; }
  const T& operator[](std::size_t i) const { return first()[i]; }
  std::span<const T> elements() const { return {first(), size_}; }

 private:
  T* first() { return reinterpret_cast<T*>(memory_.data()); }
  const T* first() const { return reinterpret_cast<const T*>(memory_.data()); }

  alignas(T) std::array<std::byte, most * sizeof(T)> memory_;
  std::size_t size_ = 0;
};

}  // namespace attune
