// What the leak sanitizer is not to report: fontconfig loses a few hundred bytes of its own, once per process.

extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig"; }
