/* A program written to KLU, in C. Only its include differs from what it would be with SuiteSparse, whose KLU it is meant
   to pass with as well: compile with -DWITH_SUITESPARSE to see. Returns 0, or the line of the first failure. */

#ifdef WITH_SUITESPARSE
#include <suitesparse/klu.h>
#else
#include "ilux/direct/klu/klu.h"
#endif

#include <math.h>
#include <stddef.h>

#define N 5
#define NZ 12
#define NEED(holds) \
    if (!(holds)) return __LINE__

/* By columns; A x = b has the solution 1, 2, 3, 4, 5. */
static const int    column[N + 1] = {0, 2, 5, 9, 10, 12};
static const int    row[NZ] = {0, 1, 0, 2, 4, 1, 2, 3, 4, 2, 1, 4};
static const double value[NZ] = {2, 3, 3, -1, 4, 4, -3, 1, 2, 2, 6, 1};
static const double b[N] = {8, 45, -3, 3, 19};
static const double bt[N] = {8, 20, 13, 6, 17}; /* of A' x */

static int near(double x, double y) { return fabs(x - y) <= 1e-13; }

int klu_program(void)
{
    klu_common    common;
    klu_symbolic* symbolic;
    klu_numeric*  numeric;
    int           Ap[N + 1], Ai[NZ], W[N], i, k;
    double        Ax[NZ], X[3 * 7];
    for (i = 0; i <= N; ++i) Ap[i] = column[i];
    for (i = 0; i < NZ; ++i) Ai[i] = row[i];
    for (i = 0; i < NZ; ++i) Ax[i] = value[i];

    NEED(klu_defaults(&common));
    NEED(common.tol == 0.001 && common.btf == 1 && common.ordering == 0 && common.scale == 2 &&
         common.halt_if_singular);
    NEED(!klu_defaults(NULL));
    symbolic = klu_analyze(N, Ap, Ai, &common);
    NEED(symbolic && common.status == KLU_OK && common.structural_rank == N && symbolic->n == N && symbolic->nz == NZ);
    numeric = klu_factor(Ap, Ai, Ax, symbolic, &common);
    NEED(numeric && common.status == KLU_OK && common.numerical_rank == N && common.singular_col == N);
    NEED(common.memusage > 0 && common.mempeak >= common.memusage);

    /* three right-hand sides, 7 apart; what lies between stays */
    for (k = 0; k < 3; ++k)
        for (i = 0; i < 7; ++i) X[7 * k + i] = i < N ? (k + 1) * b[i] : -99;
    NEED(klu_solve(symbolic, numeric, 7, 3, X, &common));
    for (k = 0; k < 3; ++k)
        for (i = 0; i < 7; ++i) NEED(near(X[7 * k + i], i < N ? (k + 1) * (i + 1) : -99));
    for (i = 0; i < N; ++i) X[i] = bt[i];
    NEED(klu_tsolve(symbolic, numeric, N, 1, X, &common));
    for (i = 0; i < N; ++i) NEED(near(X[i], i + 1));
    NEED(!klu_solve(symbolic, numeric, N - 1, 1, X, &common) && common.status == KLU_INVALID);
    NEED(!klu_solve(symbolic, NULL, N, 1, X, &common) && common.status == KLU_INVALID);

    NEED(klu_rcond(symbolic, numeric, &common) && common.rcond > 0 && common.rcond <= 1);
    NEED(klu_rgrowth(Ap, Ai, Ax, symbolic, numeric, &common) && common.rgrowth > 0);
    NEED(klu_condest(Ap, Ax, symbolic, numeric, &common) && common.condest >= 1);
    NEED(klu_flops(symbolic, numeric, &common) && common.flops > 0);
    NEED(klu_sort(symbolic, numeric, &common));
    NEED(klu_scale(1, N, Ap, Ai, Ax, X, W, &common) && X[0] == 5 && X[1] == 13 && X[4] == 7);
    NEED(klu_scale(2, N, Ap, Ai, Ax, X, NULL, &common) && X[0] == 3 && X[1] == 6 && X[4] == 4);

    /* twice the matrix, then a singular one, then the first again */
    for (i = 0; i < NZ; ++i) Ax[i] = 2 * value[i];
    NEED(klu_refactor(Ap, Ai, Ax, symbolic, numeric, &common) && common.status == KLU_OK);
    for (i = 0; i < N; ++i) X[i] = b[i];
    NEED(klu_solve(symbolic, numeric, N, 1, X, &common));
    for (i = 0; i < N; ++i) NEED(near(X[i], (i + 1) / 2.0));
    for (i = 0; i < NZ; ++i) Ax[i] = i == 4 || i == 11 ? 0 : value[i];
    NEED(!klu_refactor(Ap, Ai, Ax, symbolic, numeric, &common) && common.status == KLU_SINGULAR);
    NEED(common.numerical_rank >= 0 && common.numerical_rank < N && common.singular_col < N);
    NEED(!klu_factor(Ap, Ai, Ax, symbolic, &common) && common.status == KLU_SINGULAR && common.numerical_rank < N);
    for (i = 0; i < NZ; ++i) Ax[i] = value[i];
    NEED(klu_refactor(Ap, Ai, Ax, symbolic, numeric, &common) && common.status == KLU_OK);
    for (i = 0; i < N; ++i) X[i] = b[i];
    NEED(klu_solve(symbolic, numeric, N, 1, X, &common));
    for (i = 0; i < N; ++i) NEED(near(X[i], i + 1));

    NEED(klu_free_numeric(&numeric, &common) && numeric == NULL);
    NEED(klu_free_symbolic(&symbolic, &common) && symbolic == NULL);
    NEED(klu_free_numeric(&numeric, &common) && klu_free_symbolic(NULL, &common));
    NEED(common.memusage == 0);
    return 0;
}

/* L U + F = Rs \ A(P, Q), entry by entry */
int klu_extract_program(void)
{
    klu_common    common;
    klu_symbolic* symbolic;
    klu_numeric*  numeric;
    int           Ap[N + 1], Ai[NZ], i, j, k, p, q;
    int           Lp[N + 1], Li[N * N], Up[N + 1], Ui[N * N], Fp[N + 1], Fi[N * N], P[N], Q[N], R[N + 1];
    double        Ax[NZ], Lx[N * N], Ux[N * N], Fx[N * N], Rs[N], A[N][N] = {{0}}, B[N][N] = {{0}};
    for (i = 0; i <= N; ++i) Ap[i] = column[i];
    for (i = 0; i < NZ; ++i) Ai[i] = row[i];
    for (i = 0; i < NZ; ++i) Ax[i] = value[i];
    for (j = 0; j < N; ++j)
        for (p = Ap[j]; p < Ap[j + 1]; ++p) A[Ai[p]][j] = Ax[p];

    klu_defaults(&common);
    symbolic = klu_analyze(N, Ap, Ai, &common);
    NEED(symbolic);
    numeric = klu_factor(Ap, Ai, Ax, symbolic, &common);
    NEED(numeric && numeric->lnz <= N * N && numeric->unz <= N * N && symbolic->nzoff <= N * N);
    NEED(klu_extract(numeric, symbolic, Lp, Li, Lx, Up, Ui, Ux, Fp, Fi, Fx, P, Q, Rs, R, &common));
    NEED(Lp[N] == numeric->lnz && Up[N] == numeric->unz && Fp[N] == numeric->nzoff);
    NEED(R[0] == 0 && R[symbolic->nblocks] == N);
    for (k = 0; k < N; ++k) {
        for (q = Up[k]; q < Up[k + 1]; ++q)
            for (p = Lp[Ui[q]]; p < Lp[Ui[q] + 1]; ++p) B[Li[p]][k] += Lx[p] * Ux[q];
        for (q = Fp[k]; q < Fp[k + 1]; ++q) B[Fi[q]][k] += Fx[q];
    }
    for (i = 0; i < N; ++i)
        for (j = 0; j < N; ++j) NEED(near(B[i][j], A[P[i]][Q[j]] / Rs[i]));
    klu_free_numeric(&numeric, &common);
    klu_free_symbolic(&symbolic, &common);
    return 0;
}

int klu_l_program(void)
{
    klu_l_common     common;
    klu_l_symbolic*  symbolic;
    klu_l_numeric*   numeric;
    SuiteSparse_long Ap[N + 1], Ai[NZ], P[N], i;
    double           Ax[NZ], X[N];
    for (i = 0; i <= N; ++i) Ap[i] = column[i];
    for (i = 0; i < NZ; ++i) Ai[i] = row[i];
    for (i = 0; i < NZ; ++i) Ax[i] = value[i];
    for (i = 0; i < N; ++i) P[i] = N - 1 - i;

    NEED(klu_l_defaults(&common));
    symbolic = klu_l_analyze_given(N, Ap, Ai, P, NULL, &common);
    NEED(symbolic && common.status == KLU_OK);
    numeric = klu_l_factor(Ap, Ai, Ax, symbolic, &common);
    NEED(numeric && common.status == KLU_OK && numeric->n == N);
    NEED(klu_l_refactor(Ap, Ai, Ax, symbolic, numeric, &common));
    for (i = 0; i < N; ++i) X[i] = b[i];
    NEED(klu_l_solve(symbolic, numeric, N, 1, X, &common));
    for (i = 0; i < N; ++i) NEED(near(X[i], (double)(i + 1)));
    for (i = 0; i < N; ++i) X[i] = bt[i];
    NEED(klu_l_tsolve(symbolic, numeric, N, 1, X, &common));
    for (i = 0; i < N; ++i) NEED(near(X[i], (double)(i + 1)));
    NEED(klu_l_rcond(symbolic, numeric, &common) && common.rcond > 0);
    NEED(klu_l_rgrowth(Ap, Ai, Ax, symbolic, numeric, &common) && common.rgrowth > 0);
    NEED(klu_l_condest(Ap, Ax, symbolic, numeric, &common) && common.condest >= 1);
    NEED(klu_l_flops(symbolic, numeric, &common) && common.flops > 0);
    NEED(klu_l_free_numeric(&numeric, &common) && klu_l_free_symbolic(&symbolic, &common));
    NEED(common.memusage == 0);
    return 0;
}

/* Complex values on the same pattern: value + j imaginary; re and im side by side. */
static const double imaginary[NZ] = {1, -1, 2, 0, 1, -3, 2, 2, 0, 1, -2, 3};

static void complex_values(double* Az, double factor)
{
    for (int p = 0; p < NZ; ++p) Az[2 * p] = factor * value[p], Az[2 * p + 1] = factor * imaginary[p];
}

/* The solution that all right-hand sides below are made for: i + 1 + (N - i) j. */
static void complex_solution(double* x)
{
    for (int i = 0; i < N; ++i) x[2 * i] = i + 1, x[2 * i + 1] = N - i;
}

enum System { of_A, of_AT, of_AH };

/* y = op(A) x */
static void multiply(enum System op, const double* x, double* y)
{
    for (int i = 0; i < 2 * N; ++i) y[i] = 0;
    for (int j = 0; j < N; ++j)
        for (int p = column[j]; p < column[j + 1]; ++p) {
            const int    to = op == of_A ? row[p] : j, from = op == of_A ? j : row[p];
            const double re = value[p], im = op == of_AH ? -imaginary[p] : imaginary[p];
            y[2 * to] += re * x[2 * from] - im * x[2 * from + 1];
            y[2 * to + 1] += re * x[2 * from + 1] + im * x[2 * from];
        }
}

static int all_near(const double* x, const double* y)
{
    for (int i = 0; i < 2 * N; ++i)
        if (!near(x[i], y[i])) return 0;
    return 1;
}

int klu_z_program(void)
{
    klu_common    common;
    klu_symbolic* symbolic;
    klu_numeric*  numeric;
    int           Ap[N + 1], Ai[NZ], W[N], i, k;
    double        Az[2 * NZ], x[2 * N], b1[2 * N], X[2 * 3 * 7], Rs[N];
    for (i = 0; i <= N; ++i) Ap[i] = column[i];
    for (i = 0; i < NZ; ++i) Ai[i] = row[i];
    complex_values(Az, 1);
    complex_solution(x);

    NEED(klu_defaults(&common));
    symbolic = klu_analyze(N, Ap, Ai, &common);
    NEED(symbolic);
    numeric = klu_z_factor(Ap, Ai, Az, symbolic, &common);
    NEED(numeric && common.status == KLU_OK && common.numerical_rank == N && common.singular_col == N);

    /* three right-hand sides, 7 apart; what lies between stays */
    multiply(of_A, x, b1);
    for (k = 0; k < 3; ++k)
        for (i = 0; i < 14; ++i) X[14 * k + i] = i < 2 * N ? (k + 1) * b1[i] : -99;
    NEED(klu_z_solve(symbolic, numeric, 7, 3, X, &common));
    for (k = 0; k < 3; ++k)
        for (i = 0; i < 14; ++i) NEED(near(X[14 * k + i], i < 2 * N ? (k + 1) * x[i] : -99));
    multiply(of_AT, x, X);
    NEED(klu_z_tsolve(symbolic, numeric, N, 1, X, 0, &common) && all_near(X, x));
    multiply(of_AH, x, X);
    NEED(klu_z_tsolve(symbolic, numeric, N, 1, X, 1, &common) && all_near(X, x));
    multiply(of_AH, x, X);
    NEED(klu_z_tsolve(symbolic, numeric, N, 1, X, 0, &common) && !all_near(X, x)); /* they do differ */
    NEED(!klu_z_solve(symbolic, numeric, N - 1, 1, X, &common) && common.status == KLU_INVALID);
    NEED(!klu_z_tsolve(symbolic, NULL, N, 1, X, 1, &common) && common.status == KLU_INVALID);

    NEED(klu_z_rcond(symbolic, numeric, &common) && common.rcond > 0 && common.rcond <= 1);
    NEED(klu_z_rgrowth(Ap, Ai, Az, symbolic, numeric, &common) && common.rgrowth > 0);
    NEED(klu_z_condest(Ap, Az, symbolic, numeric, &common) && common.condest >= 1);
    NEED(klu_z_flops(symbolic, numeric, &common) && common.flops > 0);
    NEED(klu_z_sort(symbolic, numeric, &common));
    NEED(klu_z_scale(2, N, Ap, Ai, Az, Rs, W, &common) && near(Rs[0], sqrt(13)) && near(Rs[3], sqrt(5)));
    NEED(klu_z_scale(1, N, Ap, Ai, Az, Rs, NULL, &common) && near(Rs[0], sqrt(5) + sqrt(13)));

    complex_values(Az, 2);
    NEED(klu_z_refactor(Ap, Ai, Az, symbolic, numeric, &common) && common.status == KLU_OK);
    multiply(of_A, x, X);
    NEED(klu_z_solve(symbolic, numeric, N, 1, X, &common));
    for (i = 0; i < 2 * N; ++i) NEED(near(X[i], x[i] / 2));
    Az[2 * 4] = Az[2 * 4 + 1] = Az[2 * 11] = Az[2 * 11 + 1] = 0; /* all but one entry of the last row */
    Az[2 * 8] = Az[2 * 8 + 1] = 0;
    NEED(!klu_z_refactor(Ap, Ai, Az, symbolic, numeric, &common) && common.status == KLU_SINGULAR);
    NEED(!klu_z_factor(Ap, Ai, Az, symbolic, &common) && common.status == KLU_SINGULAR && common.numerical_rank < N);

    NEED(klu_z_free_numeric(&numeric, &common) && numeric == NULL);
    NEED(klu_free_symbolic(&symbolic, &common) && symbolic == NULL && common.memusage == 0);
    return 0;
}

/* L U + F = Rs \ A(P, Q), entry by entry, real and imaginary parts apart */
int klu_z_extract_program(void)
{
    klu_common    common;
    klu_symbolic* symbolic;
    klu_numeric*  numeric;
    int           Ap[N + 1], Ai[NZ], i, j, k, p, q;
    int           Lp[N + 1], Li[N * N], Up[N + 1], Ui[N * N], Fp[N + 1], Fi[N * N], P[N], Q[N], R[N + 1];
    double        Az[2 * NZ], Lx[N * N], Lz[N * N], Ux[N * N], Uz[N * N], Fx[N * N], Fz[N * N], Rs[N];
    double        A[N][2 * N] = {{0}}, B[N][2 * N] = {{0}};
    for (i = 0; i <= N; ++i) Ap[i] = column[i];
    for (i = 0; i < NZ; ++i) Ai[i] = row[i];
    complex_values(Az, 1);
    for (j = 0; j < N; ++j)
        for (p = Ap[j]; p < Ap[j + 1]; ++p) A[Ai[p]][2 * j] = Az[2 * p], A[Ai[p]][2 * j + 1] = Az[2 * p + 1];

    klu_defaults(&common);
    symbolic = klu_analyze(N, Ap, Ai, &common);
    NEED(symbolic);
    numeric = klu_z_factor(Ap, Ai, Az, symbolic, &common);
    NEED(numeric && numeric->lnz <= N * N && numeric->unz <= N * N);
    NEED(klu_z_extract(numeric, symbolic, Lp, Li, Lx, Lz, Up, Ui, Ux, Uz, Fp, Fi, Fx, Fz, P, Q, Rs, R, &common));
    NEED(Lp[N] == numeric->lnz && Up[N] == numeric->unz && Fp[N] == numeric->nzoff && R[symbolic->nblocks] == N);
    for (k = 0; k < N; ++k) {
        for (q = Up[k]; q < Up[k + 1]; ++q)
            for (p = Lp[Ui[q]]; p < Lp[Ui[q] + 1]; ++p) {
                B[Li[p]][2 * k] += Lx[p] * Ux[q] - Lz[p] * Uz[q];
                B[Li[p]][2 * k + 1] += Lx[p] * Uz[q] + Lz[p] * Ux[q];
            }
        for (q = Fp[k]; q < Fp[k + 1]; ++q) B[Fi[q]][2 * k] += Fx[q], B[Fi[q]][2 * k + 1] += Fz[q];
    }
    for (i = 0; i < N; ++i)
        for (j = 0; j < 2 * N; ++j) NEED(near(B[i][j], A[P[i]][2 * Q[j / 2] + j % 2] / Rs[i]));
    klu_z_free_numeric(&numeric, &common);
    klu_free_symbolic(&symbolic, &common);
    NEED(common.memusage == 0);
    return 0;
}

int klu_zl_program(void)
{
    klu_l_common     common;
    klu_l_symbolic*  symbolic;
    klu_l_numeric*   numeric;
    SuiteSparse_long Ap[N + 1], Ai[NZ], i;
    double           Az[2 * NZ], x[2 * N], X[2 * N], Rs[N];
    for (i = 0; i <= N; ++i) Ap[i] = column[i];
    for (i = 0; i < NZ; ++i) Ai[i] = row[i];
    complex_values(Az, 1);
    complex_solution(x);

    NEED(klu_l_defaults(&common));
    symbolic = klu_l_analyze(N, Ap, Ai, &common);
    NEED(symbolic);
    numeric = klu_zl_factor(Ap, Ai, Az, symbolic, &common);
    NEED(numeric && common.status == KLU_OK && numeric->n == N);
    NEED(klu_zl_refactor(Ap, Ai, Az, symbolic, numeric, &common));
    multiply(of_A, x, X);
    NEED(klu_zl_solve(symbolic, numeric, N, 1, X, &common) && all_near(X, x));
    multiply(of_AT, x, X);
    NEED(klu_zl_tsolve(symbolic, numeric, N, 1, X, 0, &common) && all_near(X, x));
    multiply(of_AH, x, X);
    NEED(klu_zl_tsolve(symbolic, numeric, N, 1, X, 1, &common) && all_near(X, x));
    NEED(klu_zl_rcond(symbolic, numeric, &common) && common.rcond > 0);
    NEED(klu_zl_rgrowth(Ap, Ai, Az, symbolic, numeric, &common) && common.rgrowth > 0);
    NEED(klu_zl_condest(Ap, Az, symbolic, numeric, &common) && common.condest >= 1);
    NEED(klu_zl_flops(symbolic, numeric, &common) && common.flops > 0);
    NEED(klu_zl_sort(symbolic, numeric, &common));
    NEED(klu_zl_scale(2, N, Ap, Ai, Az, Rs, NULL, &common) && near(Rs[0], sqrt(13)));
    NEED(klu_zl_free_numeric(&numeric, &common) && klu_l_free_symbolic(&symbolic, &common));
    NEED(common.memusage == 0);
    return 0;
}
