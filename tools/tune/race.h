/// Race: which of two kernels is faster, from times taken in pairs on a machine with noise.
#pragma once

#include <vector>

namespace attune {

enum class Verdict { undecided, faster, not_faster };

/// How sure a race is before it ends.
struct RaceRules {
  double least_gain = 0.01;         ///< a candidate must be faster by this share to win
  double doubt_of_winning = 0.005;  ///< the chance at most that a candidate which is no faster wins at one look
  double doubt_of_losing = 0.1;     ///< that one which is faster loses: costs one candidate, no more
  double hopeless = 1.15;           ///< whose median after three pairs is above this has lost
  int most_pairs = 64;              ///< who has not won after these has lost
};

/// Ratios of the candidate's to the incumbent's time, a pair each. Nothing is assumed of the noise but that pairs are independent: the bounds of
/// the median are order statistics, so that a few interrupted calls change nothing.
class Race {
 public:
  explicit Race(const RaceRules& rules = {}) : rules_(rules) {}

  void add(double ratio);
  Verdict verdict() const;
  double median() const;
  int pairs() const { return static_cast<int>(ratios_.size()); }

  /// The median lies between these with a chance of 1 - 2 doubt at least; 0 and infinity if there are too few pairs to say.
  struct Bounds {
    double lower, upper;
  };
  Bounds bounds(double doubt) const;

 private:
  RaceRules rules_;
  std::vector<double> ratios_;  // ascending
};

}  // namespace attune
