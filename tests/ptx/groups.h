/// What runs behind a thread's back, in groups that it waits for: copies of cp.async, products of wgmma.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

namespace attune::ptx {

template <class Item>
class Groups {
 public:
  void begin(Item item) { begun_.push_back(std::move(item)); }
  /// What was begun since the last end is a group.
  void end() { groups_.push_back(std::exchange(begun_, {})); }
  /// Calls `done` with the items of all but the last `pending` groups, the oldest first.
  template <class Done>
  void wait(std::size_t pending, const Done& done) {
    for (; groups_.size() > pending; groups_.pop_front())
      for (const Item& item : groups_.front()) done(item);
  }

 private:
  std::vector<Item> begun_;
  std::deque<std::vector<Item>> groups_;  // the oldest first
};

}  // namespace attune::ptx
