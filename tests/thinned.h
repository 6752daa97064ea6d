/// Which combinations are tried by default where a whole matrix of them would take minutes to compile.
#pragma once

#include <cstddef>
#include <type_traits>

namespace attune {

/// Cases with the label full try the whole.
enum class Tried { part, whole };

/// Whether a row of a matrix (a kernel) is tried with a column (a size of call, a target, a storage). The part of a row is half of the
/// columns, rounded down, one at least, and begins where that of the row before ends: two rows that follow one another have all columns
/// between them, three where their number is odd. Each `columns` rows the parts begin one further.
constexpr bool is_tried(Tried tried, std::size_t row, std::size_t column, std::size_t columns) {
  const std::size_t half = columns > 1 ? columns / 2 : 1, first = (row * half + row / columns) % columns;
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
