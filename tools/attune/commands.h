/// The commands of `attune`, one file each. Every one adds itself to the program.
#pragma once

#include "tools/attune/program.h"

namespace attune {

void add_list(Program& program);
void add_show(Program& program);
void add_compile(Program& program);
void add_run(Program& program);
void add_check(Program& program);
void add_bench(Program& program);
void add_tune(Program& program);
void add_explain(Program& program);
void add_conformance(Program& program);
void add_import(Program& program);

}  // namespace attune
