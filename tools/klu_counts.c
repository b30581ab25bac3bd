/* Counts the calls that a program makes of a libklu.so, their seconds, and the pivots that ilux chose anew; one line of JSON when
   the program ends, to the file that KLU_COUNTS names, or to stderr.

       cc -O2 -shared -fPIC -o klu_counts.so tools/klu_counts.c
       KLU_COUNTS=counts.json LD_PRELOAD=$PWD/klu_counts.so program

   The calls of klu_* and klu_z_* are counted together. Seconds are CPU time of the whole process. For programs of one thread. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void* Any;

enum { analyze, factor, refactor, solve, kinds };
static const char* const names[kinds] = {"analyze", "factor", "refactor", "solve"};
static long              calls[kinds], failed[kinds], repivots;
static double            seconds[kinds];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void counted(int kind, double start, int worked)
{
    seconds[kind] += now() - start;
    ++calls[kind];
    failed[kind] += !worked;
}

/* The function of this name in the library behind this one. */
static Any behind(const char* name)
{
    const Any found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        fprintf(stderr, "klu_counts: the program's libraries have no %s\n", name);
        exit(1);
    }
    return found;
}

/* 0 with any library but ilux's. */
static int repivots_of(Any numeric)
{
    int (*const count)(Any) = (int (*)(Any))dlsym(RTLD_DEFAULT, "ilux_klu_repivots");
    return count != NULL ? count(numeric) : 0;
}

Any klu_analyze(int n, int* Ap, int* Ai, Any common)
{
    Any (*const call)(int, int*, int*, Any) = (Any(*)(int, int*, int*, Any))behind("klu_analyze");
    const double start = now();
    const Any    symbolic = call(n, Ap, Ai, common);
    counted(analyze, start, symbolic != NULL);
    return symbolic;
}

#define FACTOR(name)                                                                                            \
    Any name(int* Ap, int* Ai, double* Ax, Any symbolic, Any common)                                            \
    {                                                                                                           \
        Any (*const call)(int*, int*, double*, Any, Any) = (Any(*)(int*, int*, double*, Any, Any))behind(#name); \
        const double start = now();                                                                             \
        const Any    numeric = call(Ap, Ai, Ax, symbolic, common);                                              \
        counted(factor, start, numeric != NULL);                                                                \
        return numeric;                                                                                         \
    }
FACTOR(klu_factor)
FACTOR(klu_z_factor)

#define REFACTOR(name)                                                                                                  \
    int name(int* Ap, int* Ai, double* Ax, Any symbolic, Any numeric, Any common)                                       \
    {                                                                                                                   \
        int (*const call)(int*, int*, double*, Any, Any, Any) = (int (*)(int*, int*, double*, Any, Any, Any))behind(#name); \
        const int    before = repivots_of(numeric);                                                                     \
        const double start = now();                                                                                     \
        const int    done = call(Ap, Ai, Ax, symbolic, numeric, common);                                                \
        counted(refactor, start, done);                                                                                 \
        repivots += repivots_of(numeric) - before;                                                                      \
        return done;                                                                                                    \
    }
REFACTOR(klu_refactor)
REFACTOR(klu_z_refactor)

#define SOLVE(name)                                                                                          \
    int name(Any symbolic, Any numeric, int ldim, int nrhs, double* B, Any common)                           \
    {                                                                                                        \
        int (*const call)(Any, Any, int, int, double*, Any) = (int (*)(Any, Any, int, int, double*, Any))behind(#name); \
        const double start = now();                                                                          \
        const int    done = call(symbolic, numeric, ldim, nrhs, B, common);                                  \
        counted(solve, start, done);                                                                         \
        return done;                                                                                         \
    }
SOLVE(klu_solve)
SOLVE(klu_z_solve)

__attribute__((destructor)) static void report(void)
{
    const char* const path = getenv("KLU_COUNTS");
    FILE* const       out = path != NULL ? fopen(path, "w") : stderr;
    if (out == NULL) return;
    fputc('{', out);
    for (int kind = 0; kind < kinds; ++kind)
        fprintf(out, "\"%s\": {\"calls\": %ld, \"failed\": %ld, \"seconds\": %.6f}, ", names[kind], calls[kind], failed[kind],
                seconds[kind]);
    fprintf(out, "\"repivots\": %ld}\n", repivots);
    if (out != stderr) fclose(out);
}
