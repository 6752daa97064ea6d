/// Kernels of a tuning run: each is compiled by `attune compile` in a process and a folder of its own, at most once. Of its stages those are compiled
/// that no kernel before it had with the same schedule: of a candidate the one that is tuned.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/files/scratch_folder.h"
#include "tools/tune/plan.h"
#include "tools/tune/settings.h"

namespace attune {

/// A point for each task of the plan.
using Choice = std::vector<Point>;

/// A compiled kernel, or why there is none.
struct Built {
  std::string path, problem;
};

/// For the records of one size of calls, in place of their own; 0 leaves them theirs.
struct SizeLimit {
  SizeClass size = SizeClass::large;
  std::int64_t small_up_to = 0;
};

class Builder {
 public:
  Builder(const TunePlan& plan, const TuneSettings& settings) : plan_(plan), settings_(settings) {}
  Builder(const Builder&) = delete;

  /// Writes what kernels are compiled from; the problem in words.
  std::string prepare();

  /// The subject's kernel of the choice for calls of all sizes, in a folder of the name.
  Built compile(std::size_t subject, const Choice& choice, const std::string& name, double limit_s, const SizeLimit& limit = {});

  /// The same for the calls of the plan: where all are of one size, for that size alone.
  Built compile_for_calls(std::size_t subject, const Choice& choice, const std::string& name, double limit_s);

  /// A subject's kernel of the choice for calls of one size. For large calls it takes three fifths of the time of one for all sizes, for tiny ones
  /// a seventh.
  struct Wanted {
    SizeClass size;
    Choice choice;
    std::size_t subject;
    auto operator<=>(const Wanted&) const = default;
  };
  /// In the order of `wanted`; each is compiled at most once, as many at a time as the machine has CPUs.
  std::vector<Built> built(const std::vector<Wanted>& wanted, double limit_s);
  /// Removes what built() gave for any subject.
  void forget(SizeClass size, const Choice& choice);

 private:
  /// What is compiled into a folder of the name; `more` are arguments of `attune compile`.
  struct Order {
    std::size_t subject;
    Choice choice;
    std::string name;
    SizeLimit limit;
    std::vector<std::string> more;
  };
  /// The command for it, whose tuned file is written; the problem in words.
  std::string command_of(const Order& order, std::vector<std::string>& arguments) const;
  std::vector<Built> compiled(std::span<const Order> orders, double limit_s) const;

  const TunePlan& plan_;
  const TuneSettings& settings_;
  const ScratchFolder folder_;
  std::string codes_;  // the folder of this run's codes, or that of ATTUNE_CODES
  std::vector<std::vector<std::string>> graphs_;  // what candidates of each subject are compiled from
  std::map<Wanted, Built> kernels_;
  int built_ = 0;
};

}  // namespace attune
