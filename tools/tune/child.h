/// Work in a process of its own: a crash or a hang costs that process and no more.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace attune {

/// What a process wrote; or how it ended without success, in words.
struct ChildAnswer {
  std::string text, problem;
};

/// Calls `work` in a fork of this process, which must have no threads, and gives what it returns. It is killed after `limit_s` seconds, when
/// is_interrupted() becomes true, and when this process ends.
ChildAnswer in_child(const std::function<std::string()>& work, double limit_s);

/// Runs the program that this process is with other arguments, all commands at once; `text` is what one printed on stderr.
std::vector<ChildAnswer> run_selves(std::span<const std::vector<std::string>> commands, double limit_s);

/// From now on neither Ctrl-C nor SIGTERM ends the process: is_interrupted() says that one came.
void catch_interrupts();
bool is_interrupted();
/// SIGINT or SIGTERM, or 0.
int interrupting_signal();

}  // namespace attune
