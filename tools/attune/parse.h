/// A command line in, the chosen command out; what is wrong with it is said in Attune's sentences.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace attune {

/// For `check` of an option: digits alone, with a value from `low` to `high`.
CLI::Validator whole_number(std::int64_t low, std::int64_t high);

/// Parses; the problem in words, or nothing. What CLI11 throws for --help and --version passes through.
std::string parse(CLI::App& program, int argc, char** argv);

}  // namespace attune
