/* Direct solution from C, with the calling sequence of SuiteSparse's KLU: defaults, analyze, factor, refactor, solve, free.
   Matrices come by columns (Ap, Ai, Ax: n + 1 pointers, then row numbers and values of nz entries), counted from 0.
   ilux_klu_* counts in int, ilux_klu_l_* in int64_t. Complex values: ilux_klu_z.h. klu.h has all of this under KLU's names.
   The structs are laid out as KLU's, so a program compiled with KLU's own header can be given either.

   Functions that return a number return 1 for success and 0 for failure, others a pointer or NULL; common->status says
   more. Nothing is printed and no C++ exception leaves. Differences from KLU are listed in docs/klu_interface.md. */
#ifndef ILUX_KLU_H
#define ILUX_KLU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* common->status; negative: an error */
#define ILUX_KLU_OK 0
#define ILUX_KLU_SINGULAR 1        /* a pivot is 0, or overflowed */
#define ILUX_KLU_OUT_OF_MEMORY (-2)
#define ILUX_KLU_INVALID (-3)      /* an argument makes no sense, the pattern is another, or a value is NaN or Inf */
#define ILUX_KLU_TOO_LARGE (-4)    /* a number does not fit its type */

/* Parameters, then what the calls report. A new one goes through ilux_klu_defaults first. -1: not computed */
typedef struct ilux_klu_common_struct {
    double tol;              /* 1e-3; keep the diagonal as pivot where it is at least this part of its column's largest */
    double memgrow, initmem_amd, initmem, maxwork; /* not used: memory is sized as needed */
    int    btf;              /* 1; order to block triangular form first */
    int    ordering;         /* 0: AMD, 1: COLAMD, 2: as given, 3: user_order, 4: of the fewest operations */
    int    scale;            /* 2; rows by powers of two to a largest entry of about 1; 0 or less: not */
    /* (n, Ap, Ai, perm, common): fills perm[new] = old for rows and columns of the whole matrix; 0: failure */
    int (*user_order)(int, int*, int*, int*, struct ilux_klu_common_struct*);
    void*  user_data;        /* for user_order; never looked at */
    int    halt_if_singular; /* 1; 0: factors of a singular matrix are kept, 0 on the diagonal of U; SINGULAR is a warning then */
    int    status;
    int    nrealloc;         /* 0 */
    int    structural_rank;  /* by analyze, with btf */
    int    numerical_rank;   /* by factor: n; after a failure, of refactor too: the number of pivots before the bad one */
    int    singular_col;     /* the same: n, or that pivot's column of A */
    int    noffdiag;         /* by factor: exchanges of rows for the sake of pivots */
    double flops, rcond, condest, rgrowth; /* by the functions of these names */
    double work;             /* 0 */
    size_t memusage, mempeak; /* bytes of the living objects made with this struct */
} ilux_klu_common;

/* P A Q as analysed. Free it after every numeric made from it. */
typedef struct ilux_klu_symbolic_struct {
    double  symmetry;          /* -1 */
    double  est_flops;         /* predicted, pivots on the diagonal */
    double  lnz, unz;          /* the same, diagonals counted */
    double* Lnz;               /* nblocks; 1 for a block of one row, else -1 */
    int     n, nz;
    int *   P, *Q;             /* n; perm[new] = old */
    int*    R;                 /* nblocks + 1; where each diagonal block starts */
    int     nzoff;             /* entries above the diagonal blocks */
    int     nblocks, maxblock;
    int     ordering, do_btf;
    int     structural_rank;
} ilux_klu_symbolic;

/* L U + F = Rs^-1 P A Q, L with a unit diagonal. Several threads may solve with one at a time. What KLU keeps for itself only is
   NULL or 0: Lip, Uip, LUbx, LUsize, worksize, Work, Xwork, Iwork. ilux_klu_extract has L and U. */
typedef struct ilux_klu_numeric_struct {
    int     n, nblocks;
    int     lnz, unz;                     /* diagonals counted */
    int     max_lnz_block, max_unz_block; /* largest in a block */
    int *   Pnum, *Pinv;                  /* n; perm[new] = old, and its inverse */
    int *   Lip, *Uip;
    int *   Llen, *Ulen;                  /* n; entries of a column of L and U, diagonals not counted */
    void**  LUbx;
    size_t* LUsize;
    void*   Udiag;                        /* n doubles, or pairs of them */
    double* Rs;                           /* n by new number: what rows were divided by; NULL: nothing */
    size_t  worksize;
    void *  Work, *Xwork;
    int*    Iwork;
    int *   Offp, *Offi;                  /* F by columns: n + 1, nzoff */
    void*   Offx;                         /* nzoff, as Udiag */
    int     nzoff;
} ilux_klu_numeric;

/* Beyond KLU, for the whole process. Each returns what was set before; at first it is what the environment variable says, if
   that is a number. */

/* ILUX_KLU_THREADS, else 1: threads of refactor with what factor makes from now on, and of solve. 0: as OpenMP says */
int ilux_klu_set_threads(int threads);
/* ILUX_KLU_REPIVOT, else 0. 1: refactor chooses new pivots where the old ones have gone stale and solve badly */
int ilux_klu_set_repivot(int repivot);
/* How often refactor did so with this numeric */
int     ilux_klu_repivots(const ilux_klu_numeric* numeric);

int ilux_klu_defaults(ilux_klu_common* common);

ilux_klu_symbolic* ilux_klu_analyze(int n, int Ap[], int Ai[], ilux_klu_common* common);
/* P, Q: n, perm[new] = old; NULL: the identity. With btf they order the blocks from within. */
ilux_klu_symbolic* ilux_klu_analyze_given(int n, int Ap[], int Ai[], int P[], int Q[], ilux_klu_common* common);

/* Chooses pivots. tol and scale count as they are now. Ap, Ai: as analysed; else INVALID. */
ilux_klu_numeric* ilux_klu_factor(int Ap[], int Ai[], double Ax[], ilux_klu_symbolic* symbolic, ilux_klu_common* common);
/* New values, the same pivots, unless ilux_klu_set_repivot says otherwise. symbolic: what numeric was made from, or another of the same
   pattern, here and below; numeric: of real values; else INVALID. After a failure, INVALID arguments and common == NULL included, solve refuses
   until a refactor succeeds. */
int ilux_klu_refactor(int Ap[], int Ai[], double Ax[], ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric,
                      ilux_klu_common* common);

/* B <- A^-1 B or A^-T B for nrhs vectors, ldim >= n apart. After a refactor that failed B is filled with NaN; with factors of a
   singular matrix it holds what division by 0 gives. */
int ilux_klu_solve(ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric, int ldim, int nrhs, double B[],
                   ilux_klu_common* common);
int ilux_klu_tsolve(ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric, int ldim, int nrhs, double B[],
                    ilux_klu_common* common);

/* common->rcond: smallest |u_kk| / largest; 0 and SINGULAR after a failure, or where numeric is NULL */
int ilux_klu_rcond(ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric, ilux_klu_common* common);
/* common->rgrowth: least of largest |entry| of a column of the scaled blocks / of U. Ap, Ai, Ax: what was factored */
int ilux_klu_rgrowth(int Ap[], int Ai[], double Ax[], ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric,
                     ilux_klu_common* common);
/* common->condest: estimate of |A|_1 |A^-1|_1 by at most 5 pairs of solves; Inf and SINGULAR after a failure */
int ilux_klu_condest(int Ap[], double Ax[], ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric,
                     ilux_klu_common* common);
/* common->flops: of one factorization */
int ilux_klu_flops(ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric, ilux_klu_common* common);
/* Rs: n; with scale 1 the sums of a row's |entries|, with 2 or more their maxima, 1 for a row of zeros; with 0 or less it is
   not written and may be NULL. W: n, scratch; where it is not NULL, duplicate entries are INVALID. A negative scale checks
   nothing, not even n. What factor divides by is in numeric->Rs: other numbers. */
int ilux_klu_scale(int scale, int n, int Ap[], int Ai[], double Ax[], double Rs[], int W[], ilux_klu_common* common);
/* Does nothing: columns of L and U are sorted. */
int ilux_klu_sort(ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric, ilux_klu_common* common);
/* Copies what is not NULL. Lp, Up, Fp: n + 1; Li, Lx: lnz; Ui, Ux: unz; Fi, Fx: nzoff; P, Q, Rs: n; R: nblocks + 1.
   The diagonal comes first in a column of L, last in one of U. */
int ilux_klu_extract(ilux_klu_numeric* numeric, ilux_klu_symbolic* symbolic, int Lp[], int Li[], double Lx[], int Up[],
                     int Ui[], double Ux[], int Fp[], int Fi[], double Fx[], int P[], int Q[], double Rs[], int R[],
                     ilux_klu_common* common);

/* Set the pointer to NULL; a NULL is no error. A numeric may hold complex values. */
int ilux_klu_free_symbolic(ilux_klu_symbolic** symbolic, ilux_klu_common* common);
int ilux_klu_free_numeric(ilux_klu_numeric** numeric, ilux_klu_common* common);

/* malloc, free and realloc that count memusage; size: of an item */
void* ilux_klu_malloc(size_t n, size_t size, ilux_klu_common* common);
void* ilux_klu_free(void* p, size_t n, size_t size, ilux_klu_common* common);
void* ilux_klu_realloc(size_t n_new, size_t n_old, size_t size, void* p, ilux_klu_common* common);

/* The same, counting in int64_t. n must fit an int32_t: TOO_LARGE otherwise. */

/* In SuiteSparse 6 and later some fields of the 64-bit common stayed int; in 5 they are as wide as all others. */
#ifdef ILUX_KLU_2
typedef int ilux_klu_l_option;
#else
typedef int64_t ilux_klu_l_option;
#endif

/* The same with 64-bit integers, as all that follows. */
typedef struct ilux_klu_l_common_struct {
    double            tol, memgrow, initmem_amd, initmem, maxwork;
    ilux_klu_l_option btf, ordering, scale;
    int64_t (*user_order)(int64_t, int64_t*, int64_t*, int64_t*, struct ilux_klu_l_common_struct*);
    void*             user_data;
    ilux_klu_l_option halt_if_singular, status, nrealloc;
    int64_t           structural_rank, numerical_rank, singular_col, noffdiag;
    double            flops, rcond, condest, rgrowth, work;
    size_t            memusage, mempeak;
} ilux_klu_l_common;

/* As ilux_klu_symbolic. */
typedef struct ilux_klu_l_symbolic_struct {
    double   symmetry, est_flops, lnz, unz;
    double*  Lnz;
    int64_t  n, nz;
    int64_t *P, *Q, *R;
    int64_t  nzoff, nblocks, maxblock, ordering, do_btf, structural_rank;
} ilux_klu_l_symbolic;

/* As ilux_klu_numeric. */
typedef struct ilux_klu_l_numeric_struct {
    int64_t  n, nblocks, lnz, unz, max_lnz_block, max_unz_block;
    int64_t *Pnum, *Pinv, *Lip, *Uip, *Llen, *Ulen;
    void**   LUbx;
    size_t*  LUsize;
    void*    Udiag;
    double*  Rs;
    size_t   worksize;
    void *   Work, *Xwork;
    int64_t *Iwork, *Offp, *Offi;
    void*    Offx;
    int64_t  nzoff;
} ilux_klu_l_numeric;

int64_t ilux_klu_l_repivots(const ilux_klu_l_numeric* numeric);
int64_t ilux_klu_l_defaults(ilux_klu_l_common* common);
ilux_klu_l_symbolic* ilux_klu_l_analyze(int64_t n, int64_t Ap[], int64_t Ai[], ilux_klu_l_common* common);
ilux_klu_l_symbolic* ilux_klu_l_analyze_given(int64_t n, int64_t Ap[], int64_t Ai[], int64_t P[], int64_t Q[],
                                              ilux_klu_l_common* common);
ilux_klu_l_numeric* ilux_klu_l_factor(int64_t Ap[], int64_t Ai[], double Ax[], ilux_klu_l_symbolic* symbolic,
                                      ilux_klu_l_common* common);
int64_t ilux_klu_l_refactor(int64_t Ap[], int64_t Ai[], double Ax[], ilux_klu_l_symbolic* symbolic,
                            ilux_klu_l_numeric* numeric, ilux_klu_l_common* common);
int64_t ilux_klu_l_solve(ilux_klu_l_symbolic* symbolic, ilux_klu_l_numeric* numeric, int64_t ldim, int64_t nrhs,
                         double B[], ilux_klu_l_common* common);
int64_t ilux_klu_l_tsolve(ilux_klu_l_symbolic* symbolic, ilux_klu_l_numeric* numeric, int64_t ldim, int64_t nrhs,
                          double B[], ilux_klu_l_common* common);
int64_t ilux_klu_l_rcond(ilux_klu_l_symbolic* symbolic, ilux_klu_l_numeric* numeric, ilux_klu_l_common* common);
int64_t ilux_klu_l_rgrowth(int64_t Ap[], int64_t Ai[], double Ax[], ilux_klu_l_symbolic* symbolic,
                           ilux_klu_l_numeric* numeric, ilux_klu_l_common* common);
int64_t ilux_klu_l_condest(int64_t Ap[], double Ax[], ilux_klu_l_symbolic* symbolic, ilux_klu_l_numeric* numeric,
                           ilux_klu_l_common* common);
int64_t ilux_klu_l_flops(ilux_klu_l_symbolic* symbolic, ilux_klu_l_numeric* numeric, ilux_klu_l_common* common);
int64_t ilux_klu_l_scale(int64_t scale, int64_t n, int64_t Ap[], int64_t Ai[], double Ax[], double Rs[], int64_t W[],
                         ilux_klu_l_common* common);
int64_t ilux_klu_l_sort(ilux_klu_l_symbolic* symbolic, ilux_klu_l_numeric* numeric, ilux_klu_l_common* common);
int64_t ilux_klu_l_extract(ilux_klu_l_numeric* numeric, ilux_klu_l_symbolic* symbolic, int64_t Lp[], int64_t Li[],
                           double Lx[], int64_t Up[], int64_t Ui[], double Ux[], int64_t Fp[], int64_t Fi[],
                           double Fx[], int64_t P[], int64_t Q[], double Rs[], int64_t R[], ilux_klu_l_common* common);
int64_t ilux_klu_l_free_symbolic(ilux_klu_l_symbolic** symbolic, ilux_klu_l_common* common);
int64_t ilux_klu_l_free_numeric(ilux_klu_l_numeric** numeric, ilux_klu_l_common* common);
void* ilux_klu_l_malloc(size_t n, size_t size, ilux_klu_l_common* common);
void* ilux_klu_l_free(void* p, size_t n, size_t size, ilux_klu_l_common* common);
void* ilux_klu_l_realloc(size_t n_new, size_t n_old, size_t size, void* p, ilux_klu_l_common* common);

#ifdef __cplusplus
}
#endif
#endif
