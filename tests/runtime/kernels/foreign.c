/* A shared file that has nothing to do with kernels. */
int answer(void);
int answer(void) { return 42; }
