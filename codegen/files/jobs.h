/// Work in processes of their own.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace attune {

/// The bytes that a job makes, or the problem in words.
struct JobResult {
  std::string bytes, problem;
};

/// Runs the jobs, at most `at_once` of them at a time, each in a process that begins as a copy of this one: what it makes depends neither on the
/// others nor on how many run at once. (Two compilations of Halide in one process give different bytes.) A job that crashes is a problem in words.
std::vector<JobResult> run_jobs(std::span<const std::function<JobResult()>> jobs, int at_once);

/// As many as the CPUs that this process may use.
int jobs_of_this_machine();

}  // namespace attune
