// A library that is no back end.
extern "C" int TandemBackEndOfAnotherName() { return 0; }
