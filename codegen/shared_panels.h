/// Copies of operands that several stages read.
#pragma once

#include <vector>

#include "codegen/stage.h"

namespace attune {

/// The stages' panels so far, each only once: the projections of attention to queries, keys and values read the same rows.
class SharedPanels {
 public:
  /// If an earlier stage has a panel with the same definition, the reader takes that one, which is then computed for all its readers before
  /// the first.
  void add(const Panel& panel);

 private:
  std::vector<Panel> panels_;
};

}  // namespace attune
