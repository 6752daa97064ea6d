/// The last line of a program that must be refused: its `Example` is checked where it is compiled. A test that includes
/// many of them defines ATTUNE_CHECK_AT_RUN_TIME and builds each while it runs.
#ifndef ATTUNE_CHECK_AT_RUN_TIME
constexpr attune::Graph checked = attune::graph<Example{}>;
#endif
