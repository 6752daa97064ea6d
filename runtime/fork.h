/// What lets a process fork while its threads call kernels: the thread pool is at rest in that moment, so that the child may call kernels too.
#pragma once

namespace attune {

/// Lives while a loop runs in the pool, or something else holds the pool's lock; a fork waits until there is none.
/// `is_inside_another`: the loop may be part of one that a fork waits for already, and must not wait for the fork in turn.
class PoolUse {
 public:
  explicit PoolUse(bool is_inside_another);
  PoolUse(const PoolUse&) = delete;
  PoolUse& operator=(const PoolUse&) = delete;
  ~PoolUse();
};

/// From now on a fork waits for the loops that run, lets none begin, and ends the pool's threads; afterwards parent and child make
/// threads of their own when they need them. Called once.
void prepare_for_forks();

}  // namespace attune
