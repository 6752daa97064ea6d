// What the leak sanitizer is not to report: fontconfig loses a few hundred bytes of its own, once per process.

extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig"; }

// Nor a word about it: stderr is for errors.
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() { return "print_suppressions=0"; }
