/// Which combinations are tried by default where a whole matrix of them would take minutes to compile.
#pragma once

#include <cstddef>
#include <type_traits>

namespace attune {

/// Cases with the label full try the whole.
enum class Tried { part, whole };

/// Whether a row of a matrix (a kernel) is tried with a column (a size of call, a target, a storage). A part is half of the columns, rounded up: each row
/// has some, and two rows with the numbers 2n and 2n + 1 have all columns between them. Which half differs from one two rows to the next.
constexpr bool is_tried(Tried tried, std::size_t row, std::size_t column, std::size_t columns) {
  const std::size_t half = (columns + 1) / 2, first = (row * half + row / 2) % columns;
  return tried == Tried::whole || (column + columns - first) % columns < half;
}

/// The place of a type in a list of types, of which it is one.
template <class T, template <class...> class List, class... Types>
constexpr std::size_t place_in(const List<Types...>*) {
  std::size_t place = 0;
  (void)((std::is_same_v<T, Types> || (++place, false)) || ...);
  return place;
}

}  // namespace attune
