/// A block of rows in shared memory, as chunks of 16 bytes that are exchanged by rows: eight rows that are read at one column, and eight chunks of a
/// row, lie in different banks. Chunk c of row r stands at place c ^ (r % 8) of its row of 128 or more bytes, at c ^ (r / 2 % 4) of one of 64 and at
/// c ^ (r / 4 % 2) of one of 32.
#pragma once

#include "codegen/tensor_cores/step_arguments.h"
#include "codegen/tensor_cores/warp.h"

namespace attune::tensor_cores {

inline constexpr int chunk_bytes = 16, line_bytes = 128;  // a line: all banks
constexpr int element_bytes(Element element) { return static_cast<int>(bytes_of(stored_as(element))); }
constexpr int chunk_elements(Element element) { return chunk_bytes / element_bytes(element); }

/// A chunk in global memory: the place of its first element, and how many of its elements are there, all of them without a number; the others are 0.
struct GlobalChunk {
  mlir::Value offset, count;
};
/// The chunk that is wanted at a chunk of a row of the tile.
using ChunkAt = std::function<GlobalChunk(mlir::Value row, mlir::Value chunk)>;
/// An element by itself: its place, and whether it is there.
struct GlobalElement {
  mlir::Value offset, is_there;
};
using ElementAt = std::function<GlobalElement(mlir::Value row, mlir::Value column)>;

class SharedTile {
 public:
  /// `rows` rows of `columns` columns, whole chunks, behind a place in shared memory; `pitch` elements from a row to the next: those of 32 or 64
  /// bytes or of a multiple of 128.
  SharedTile(const Code& code, Element element, mlir::Value place, int rows, int columns, int pitch)
      : code_(code), element_(element), place_(place), rows_(rows), columns_(columns), pitch_(pitch) {}

  /// All threads copy chunks of a tensor, asynchronously: each begins at a multiple of 16 bytes.
  void copy(const StepArguments& arguments, std::size_t tensor, mlir::Value thread, int threads, const ChunkAt& chunk_at) const;
  /// All threads load elements one by one, wherever they are.
  void load(const StepArguments& arguments, std::size_t tensor, mlir::Value thread, int threads, const ElementAt& element_at) const;

  // 16 rows of two chunks, or 2 chunks of rows of 16, as fragments of `multiplied`, four registers. Rows are row + below, columns column + beside, of
  // which `below` and `beside` are multiples of 16 and of a chunk that are constants of the code,
  // and `row` and `column` multiples of 8 and of a chunk.
  /// A first operand: rows of the tile are its rows, or, of 16 bits, its columns.
  std::array<mlir::Value, 4> first_operand(mlir::Value row, int below, mlir::Value column, int beside, mlir::Value lane) const;
  std::array<mlir::Value, 4> first_operand_by_columns(mlir::Value row, int below, mlir::Value column, int beside, mlir::Value lane) const;
  /// Two second operands, two registers each: rows of the tile are columns of theirs (rows 0 to 7 the first's), or are their rows (columns 0 to 7 the
  /// first's), which is of 16 bits.
  std::array<mlir::Value, 4> second_operands_by_columns(mlir::Value row, int below, mlir::Value column, int beside, mlir::Value lane) const;
  std::array<mlir::Value, 4> second_operands(mlir::Value row, int below, mlir::Value column, int beside, mlir::Value lane) const;

  /// `count` elements side by side of a row for each thread, 2 or 4 of 32 bits or 4 of 16, as the words that they fill. `column` is a multiple of it
  /// and less than a line's columns, `beside` one of 8 `count` that is a constant of the code, as `below` is; their places in a line share no bit.
  std::vector<mlir::Value> words(mlir::Value row, int below, mlir::Value column, int beside, int count) const;
  /// Four elements so, each as a word of f32.
  std::vector<mlir::Value> reals(mlir::Value row, int below, mlir::Value column, int beside) const;

 private:
  /// Of row + below, where `below` is a multiple of 8: it is a constant of the address then.
  mlir::Value chunk_place(mlir::Value row, int below, mlir::Value chunk) const;
  void each_chunk(mlir::Value thread, int threads, const std::function<void(mlir::Value row, mlir::Value chunk, mlir::Value place)>& visit) const;

  int elements() const { return chunk_elements(element_); }

  const Code& code_;
  Element element_;
  mlir::Value place_;
  int rows_, columns_, pitch_;
};

}  // namespace attune::tensor_cores
