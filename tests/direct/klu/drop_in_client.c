/* A program compiled with SuiteSparse's own header and linked with its library, which prints what it is given: numbers that do not
   depend on the choice of pivots. tests/direct/klu/drop_in runs it with KLU and with ours in its place. */
#include <klu.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int klu_program(void);
int klu_extract_program(void);
int klu_l_program(void);
int klu_z_program(void);
int klu_z_extract_program(void);
int klu_zl_program(void);

enum { n = 120, per_column = 5, most = n * per_column };

static double noise(int k) { return sin(12.9898 * k) + 0.01 * cos(78.233 * k * k); }

/* klu: prefix of the types; call: of the functions; parts: 1 for real values, 2 for complex ones. */
#define CLIENT(name, klu, call, Int, parts, tsolve)                                                                         \
    static int name(void)                                                                                                   \
    {                                                                                                                       \
        static Int    Ap[n + 1], Ai[most];                                                                                  \
        static double Ax[2 * most], b[2 * n];                                                                               \
        klu##_common    common;                                                                                             \
        klu##_symbolic* symbolic;                                                                                           \
        klu##_numeric*  numeric;                                                                                            \
        int             i, j, k, step;                                                                                      \
        for (j = 0, k = 0; j < n; ++j) {                                                                                    \
            for (i = 0; i < n; ++i)                                                                                         \
                if (i == j || (i * 31 + j * 17) % 41 == 3) Ai[k++] = i;                                                     \
            Ap[j + 1] = k;                                                                                                  \
        }                                                                                                                   \
        klu##_defaults(&common);                                                                                            \
        common.btf = 1;                                                                                                     \
        symbolic = klu##_analyze(n, Ap, Ai, &common);                                                                       \
        printf(#name " rank %d blocks %d largest %d off %d memory %d\n", (int)common.structural_rank,                       \
               (int)symbolic->nblocks, (int)symbolic->maxblock, (int)symbolic->nzoff, common.memusage > 0);                 \
        numeric = NULL;                                                                                                     \
        for (step = 0; step < 3; ++step) {                                                                                  \
            for (j = 0; j < n; ++j)                                                                                         \
                for (k = (int)Ap[j]; k < Ap[j + 1]; ++k)                                                                    \
                    for (i = 0; i < parts; ++i)                                                                             \
                        Ax[parts * k + i] = (noise(parts * k + i + 7 * step) + 4 * (Ai[k] == j)) * pow(10, Ai[k] % 7 * step); \
            if (numeric == NULL) numeric = call##_factor(Ap, Ai, Ax, symbolic, &common);                                    \
            else if (!call##_refactor(Ap, Ai, Ax, symbolic, numeric, &common)) return __LINE__;                             \
            if (numeric == NULL) return __LINE__;                                                                           \
            printf("status %d rank %d column %d n %d off %d scaled %d\n", (int)common.status, (int)common.numerical_rank,   \
                   (int)common.singular_col, (int)numeric->n, (int)numeric->nzoff, numeric->Rs != NULL);                    \
            for (i = 0; i < parts * n; ++i) b[i] = noise(3 * i);                                                            \
            if (!call##_solve(symbolic, numeric, n, 1, b, &common)) return __LINE__;                                        \
            for (i = 0; i < parts * n; ++i) printf("%.9e\n", b[i]);                                                         \
            for (i = 0; i < parts * n; ++i) b[i] = noise(5 * i);                                                            \
            if (!tsolve) return __LINE__;                                                                                   \
            for (i = 0; i < parts * n; ++i) printf("%.9e\n", b[i]);                                                         \
            if (!call##_condest(Ap, Ax, symbolic, numeric, &common)) return __LINE__;                                       \
            printf("condest %.2e\n", common.condest);                                                                       \
        }                                                                                                                   \
        Ax[0] = 0;                                                                                                          \
        call##_free_numeric(&numeric, &common);                                                                             \
        klu##_free_symbolic(&symbolic, &common);                                                                            \
        printf("left %d\n", (int)common.memusage);                                                                          \
        return symbolic != NULL || numeric != NULL;                                                                         \
    }

CLIENT(of_complex_int, klu, klu_z, int, 2, klu_z_tsolve(symbolic, numeric, n, 1, b, 1, &common))
CLIENT(of_int, klu, klu, int, 1, klu_tsolve(symbolic, numeric, n, 1, b, &common))
#if defined(ILUX_KLU_NAMES_H) && KLU_MAIN_VERSION >= 2 /* klu_l_common is laid out otherwise there */
#define WITHOUT_LONG
#else
CLIENT(of_long, klu_l, klu_l, SuiteSparse_long, 1, klu_l_tsolve(symbolic, numeric, n, 1, b, &common))
CLIENT(of_complex_long, klu_l, klu_zl, SuiteSparse_long, 2, klu_zl_tsolve(symbolic, numeric, n, 1, b, 1, &common))
#endif

int main(void)
{
    int (*const part[])(void) = {of_int, of_complex_int, klu_program, klu_extract_program, klu_z_program, klu_z_extract_program,
#ifndef WITHOUT_LONG
                                 of_long, of_complex_long, klu_l_program, klu_zl_program
#endif
    };
    size_t k;
    for (k = 0; k < sizeof part / sizeof *part; ++k) {
        const int line = part[k]();
        if (line != 0) {
            fprintf(stderr, "part %d failed at line %d\n", (int)k, line);
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}
