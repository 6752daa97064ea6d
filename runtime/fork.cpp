#include "runtime/fork.h"

#include <HalideRuntime.h>
#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <new>

namespace attune {
namespace {

struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  bool is_closed = false;
};

Gate& gate() {
  static auto* gate = new Gate;  // never destroyed: threads may call kernels after main
  return *gate;
}

/// Before a fork. The lock is held across it, so that nobody else has it in the child.
void close_gate() {
  gate().mutex.lock();
  gate().is_closed = true;
  std::unique_lock lock(gate().mutex, std::adopt_lock);
  gate().changed.wait(lock, [] { return gate().inside == 0; });
  lock.release();
  // A thread of the pool that sleeps may wake at any moment and take the pool's lock, which the child could never give back.
  halide_shutdown_thread_pool();
}

void open_gate_in_parent() {
  gate().is_closed = false;
  gate().mutex.unlock();
  gate().changed.notify_all();
}

/// Those who wait at the gate stayed behind in the parent.
void open_gate_in_child() { new (&gate()) Gate; }

}  // namespace

PoolUse::PoolUse(bool is_inside_another) {
  std::unique_lock lock(gate().mutex);
  gate().changed.wait(lock, [&] { return !gate().is_closed || (is_inside_another && gate().inside > 0); });
  ++gate().inside;
}

PoolUse::~PoolUse() {
  const std::scoped_lock lock(gate().mutex);
  if (--gate().inside == 0 && gate().is_closed) gate().changed.notify_all();
}

void prepare_for_forks() {
  gate();
  pthread_atfork(close_gate, open_gate_in_parent, open_gate_in_child);
}

}  // namespace attune
