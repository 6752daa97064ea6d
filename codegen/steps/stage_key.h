/// Which stage this is, whatever its dims are called: what tuned records are found by, and what tells whether two stages are the same code.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/targets/element.h"
#include "dsl/graph.h"
#include "schedules/records/choice.h"

namespace attune {

/// The key's body has a line for each operation, with dims d0, d1 ... in order of appearance. What depends on no input and has no dims is a number:
/// a real one is the same to a schedule whatever its value (a scale), a whole one (a window) is n0, n1 ... and counts as an extent.
struct StageText {
  StageKey key;
  std::string identity;           ///< the body with every number as it is, the storage, and the extents that are known
  std::vector<std::string> dims;  ///< every dim of the body, in the order in which `identity` names them
};

/// How a result of a stage lies in memory: its dims outermost first, and its elements.
struct WrittenAs {
  std::vector<std::string> dims;
  Element element = Element::f32;
};

/// Of a stage's graph, whose inputs are stored as `read` and whose outputs as `written`;
/// `known` are the extents that are known before the kernel runs; `queries` is the dim that a stage of attention takes for them, where its graph alone
/// does not tell, else empty.
StageText text_of(std::string_view kind, const Graph& graph, std::span<const Element> read, std::span<const WrittenAs> written,
                  const KnownExtents& known, std::string_view queries = {});

}  // namespace attune
