// A library that is linked, and is not where the dynamic linker looks for it.
extern "C" int TandemMissingFunction() { return 0; }
