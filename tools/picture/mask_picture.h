/// Pictures of masks: which query sees which key, and what a kernel computes of it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/picture/canvas.h"
#include "tools/picture/grid.h"

namespace attune {

/// What a kernel computes of a mask: in blocks, of which it knows of some that all of their pairs are visible.
struct BlockLayers {
  Grid visited, whole;
  std::vector<Rectangle> outlines;  ///< of the visited blocks; left is the first key, top the first query
};

/// A mask in cells of some size.
struct MaskLayers {
  Grid visible;
  std::optional<BlockLayers> blocks;
};

/// One mask: queries are its rows, keys its columns. Grids of 0 x n are drawn as nothing.
struct MaskPanel {
  std::string title;                 ///< of which part of the graph, at which places of the other dims
  std::vector<std::string> figures;  ///< lines below it
  std::string queries, keys;         ///< the dims
  std::int64_t query_count = 0, key_count = 0;
  std::function<MaskLayers(const GridShape&)> layers;
};

struct MaskPicture {
  std::string title;  ///< may be empty, as those of panels
  std::vector<MaskPanel> panels;
  bool has_legend = true;
  double matrix_pixels = 600;  ///< of the longer side in a PNG, about: cells are whole pixels, 24 at most
};

/// A character a cell, in lines of at most 80; a cell is one pair, or of a large mask a rectangle of them, which a line says. What no line holds is
/// cut into nothing: titles and figures stand in lines of their own length.
std::string text_of(const MaskPicture& picture);

/// A PNG, with a legend; beyond 1024 queries or keys a pixel stands for a square of pairs, its colour mixed in their shares.
/// Replaces the file in one step.
Result<void> draw(const MaskPicture& picture, const std::filesystem::path& path, const std::string& who);

}  // namespace attune
