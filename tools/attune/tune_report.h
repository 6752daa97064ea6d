/// What `attune tune` prints: how far it is while it runs, and what came of it.
#pragma once

#include <cstddef>
#include <string>

#include "tools/tune/settings.h"
#include "tools/tune/tuner.h"

namespace attune {

/// Says it to those who watch. A run of hours does not end because nobody can read how far it is.
void say(const std::string& text);

/// One line that is written again where people look, a line for each stage elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(double budget_s);
  void operator()(const TuneProgress& progress);
  void end() const;

 private:
  double budget_s_;
  bool is_terminal_;
  std::size_t last_task_ = static_cast<std::size_t>(-1);
};

/// `out` is the tuned file that was written, or would have been.
void print_result(const TunePlan& plan, const TuneResult& result, const std::string& out);
void print_result_json(const TunePlan& plan, const TuneResult& result, const TuneSettings& settings, const std::string& out);

}  // namespace attune
