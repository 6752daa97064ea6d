/// The commands of `attune`, one file each. Every one adds itself to the program and says what runs when it is chosen.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

namespace attune {

/// Set by the command that the user chose; gives the exit status.
using Chosen = std::function<int()>;

void add_list(CLI::App& program, Chosen& chosen);
void add_show(CLI::App& program, Chosen& chosen);
void add_compile(CLI::App& program, Chosen& chosen);
void add_run(CLI::App& program, Chosen& chosen);
void add_check(CLI::App& program, Chosen& chosen);
void add_bench(CLI::App& program, Chosen& chosen);
void add_tune(CLI::App& program, Chosen& chosen);
void add_explain(CLI::App& program, Chosen& chosen);

}  // namespace attune
