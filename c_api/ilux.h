/* ilux from C, and from every language that calls C: one opaque solver, options by name, reports as JSON.

     ilux_solver* s = NULL;
     ilux_csr     A = {.n = n, .row_ptr = ptr, .row_ptr_bits = 32, .col = col, .values = val};
     int          status = ilux_create(ILUX_REAL, &s);
     if (status == ILUX_OK) status = ilux_analyse(s, &A, 1, 1);
     if (status == ILUX_OK) status = ilux_factor(s, NULL);
     if (status == ILUX_OK) status = ilux_solve(s, ILUX_PLAIN, 1, b, n, x, n);
     if (status != ILUX_OK) puts(s ? ilux_message(s) : ilux_last_error());
     ilux_destroy(s);

   Functions return a status; ilux_message says in words why it is not ILUX_OK. Numbers are doubles, or pairs re, im of them
   where the solver is of ILUX_COMPLEX. Rows and columns are counted from 0. Nothing is printed, and no C++ exception leaves.
   One solver serves one thread at a time; several do not disturb one another. A call for a
   solver whose own call is under way, as from its callback, is refused with ILUX_BAD_INPUT, and ilux_last_error says so. Link with -lilux; nothing else is needed. */
#ifndef ILUX_H
#define ILUX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ILUX_API_VERSION 7 /* grows with every change here; from 1.0 on nothing is changed or removed within one SONAME */

/* Statuses: the program's exit codes. */
#define ILUX_OK 0
#define ILUX_BAD_OPTION 1      /* an option that does not exist or makes no sense; the nearest name is told */
#define ILUX_BAD_INPUT 2       /* a matrix, a vector, a file, or a call that comes too early */
#define ILUX_NOT_CONVERGED 3   /* x is the best there is */
#define ILUX_SINGULAR 4        /* singular, or a breakdown */
#define ILUX_OUT_OF_MEMORY 5
#define ILUX_NO_DEVICE 6       /* no such GPU, or it failed */
#define ILUX_INTERNAL 7        /* a fault of ilux itself: please report it */
#define ILUX_CANCELLED 130     /* by ilux_cancel or a callback; x is the best there is */

enum { ILUX_REAL = 0, ILUX_COMPLEX = 1 };                     /* the numbers of A, b and x */
enum { ILUX_PLAIN = 0, ILUX_TRANSPOSED = 1, ILUX_ADJOINT = 2 }; /* A, A^T, A^H */
enum { ILUX_HOST = 0, ILUX_DEVICE = 1 };                      /* where arrays lie; ILUX_DEVICE: memory of a CUDA GPU */

typedef struct ilux_solver ilux_solver;

/* An n x n matrix by rows, in arrays of the caller's. Columns within a row may come in any order, and entries twice: they are
   added. Zero-initialize it; fields that are added later are 0 then. */
typedef struct ilux_csr {
    int64_t        n;
    const void*    row_ptr;      /* n + 1, from 0, of int32_t or int64_t */
    int32_t        row_ptr_bits; /* 32 or 64 */
    int32_t        memory;       /* of all three arrays: ILUX_HOST or ILUX_DEVICE */
    const int32_t* col;          /* nnz */
    const void*    values;       /* nnz, of the kind that ilux_create was told: nothing here could tell another */
} ilux_csr;

/* What became of one right-hand side. Unknown numbers are NaN. The caller sets size to sizeof(ilux_result). Later versions
   may add fields at the end: the library writes size bytes, and fields that it does not know become 0. ilux_factors has the
   same rule. A size that is too small is refused; ilux_last_error says so. */
typedef struct ilux_result {
    size_t  size;              /* sizeof(ilux_result) */
    int32_t outcome;           /* ilux_outcome_name gives its name */
    int32_t direct;            /* 1: by LU, 0: by an iteration */
    int64_t steps;
    double  relative_residual; /* |b - A x| / |b|, recomputed from A, b and x */
    double  backward_error;    /* |b - A x| / (|A| |x| + |b|) */
    double  worst_error;       /* estimated: the largest |e_i| / |x_i| of unknowns that count */
    double  seconds;           /* of the whole call */
} ilux_result;

/* What the factors at hand are. */
typedef struct ilux_factors {
    size_t  size;       /* sizeof(ilux_factors) */
    int32_t direct;     /* 1: LU, 0: a preconditioner */
    int32_t reused;     /* 1: made by the pivots or rounds of earlier values */
    int64_t levels;     /* of the multilevel ILU, else 0 */
    int64_t deficiency; /* the rank that the multilevel ILU lacks: A is singular or nearly so */
    int64_t bytes;
    double  fill;       /* stored values over those of A */
    double  seconds;    /* of analysis and factorization */
} ilux_factors;

/* P A Q = L U of an LU: its row i is row row_perm[i] of A, its column j column col_perm[j]. By columns, rows ascending; L has its diagonal
   of ones. Numbers as those of A. */
typedef struct ilux_lu {
    int64_t        n;
    const int32_t *row_perm, *col_perm;   /* n */
    const int64_t *l_col_ptr, *u_col_ptr; /* n + 1 */
    const int32_t *l_row, *u_row;
    const void    *l_values, *u_values;
} ilux_lu;

const char* ilux_version(void);     /* "0.1.0" */
int         ilux_api_version(void); /* ILUX_API_VERSION of the library in use */
const char* ilux_outcome_name(int32_t outcome);

/* values: ILUX_REAL or ILUX_COMPLEX. *solver is NULL where it fails. */
int  ilux_create(int values, ilux_solver** solver);
void ilux_destroy(ilux_solver* solver); /* NULL is allowed */

/* Options have the names and values of the command line: "method" "gmres", "precond.drop_tol" "1e-3", ...; JSON takes the same
   as a tree. They take effect with the next ilux_analyse or ilux_solve_operator. ilux_options gives all of them with their values.
   The option "plan" names a file in which an LU keeps what it prepares for a pattern: where it is not there, the first factors write it; a
   later solver, also of another process, loads it in ilux_analyse instead. ilux_analyse refuses a file of another pattern or other options,
   a damaged one, and one that cannot be written, with ILUX_BAD_INPUT. */
int         ilux_set(ilux_solver* solver, const char* name, const char* value);
int         ilux_set_json(ilux_solver* solver, const char* text);
const char* ilux_options(ilux_solver* solver); /* valid until the next call with this solver; NULL without memory */

/* The stream (a cudaStream_t) of the GPU `device` in whose order arrays of ILUX_DEVICE are read and written; 0 and NULL, the
   default stream of the first device, unless it is called. It must stand until another is set or ilux_destroy. A call may return before
   what it wrote there is complete: the stream is not waited for. */
int ilux_set_stream(ilux_solver* solver, int device, void* stream);

/* Vectors that A takes to 0, in place of the option krylov.null_space: b and x are kept clear of them. count columns of n numbers, one
   after another, of the host; copied. count 0: no vectors any more. They take effect with the next ilux_analyse. ilux_factor and ilux_refactor
   refuse vectors of another length than A has rows, and those that A does not take to 0, with ILUX_BAD_INPUT. */
int ilux_set_null_space(ilux_solver* solver, int64_t n, int64_t count, const void* columns);

/* Vectors t that A takes to little, ‖A t‖ being small beside ‖A‖ ‖t‖, such as the rigid-body modes of an elastic body: a multilevel ILU
   keeps what A does to them, and a coarse space is made of them. They change no solution, but how many steps it takes. count columns of n real
   numbers, one after another, of the host; copied, also for a complex A. 64 at most, and not all numbers 0. count 0: no vectors
   any more, which is a constant. They take effect with the next ilux_analyse, which refuses those of another length than A has rows. */
int ilux_set_near_null(ilux_solver* solver, int64_t n, int64_t count, const double* columns);

/* analyse -> factor -> solve, and refactor for every further system of the same pattern.
   analyse forgets the former matrix, also where it fails. It borrows row_ptr (of 64 bits), col and values, which must stand until the next ilux_analyse or ilux_destroy. It
   copies row_ptr of 32 bits, and all three where a row is not in ascending order or they lie on a GPU.
   systems, columns: how many systems of this pattern are to come, and how many right-hand sides each of them has; 1 and 1 where nothing is
   known. The method auto counts with both: the more there are, the more an LU pays. Other numbers may follow all the same. Where
   one is less than 1, infinite or NaN, the call is refused with ILUX_BAD_INPUT.
   values: nnz numbers in the order of A, on the host or the GPU as A is; copied. NULL in factor: those of A. */
int ilux_analyse(ilux_solver* solver, const ilux_csr* A, double systems, double columns);
int ilux_factor(ilux_solver* solver, const void* values);
int ilux_refactor(ilux_solver* solver, const void* values);
int ilux_factors_of(ilux_solver* solver, ilux_factors* factors); /* ILUX_BAD_INPUT where there are none */
/* L and U of the last values, made for this call, which costs a factorization: of the whole of A and by entries, whereas the factors at hand
   may be by diagonal blocks and by dense fronts. The arrays are valid until the next call with this solver. ILUX_BAD_INPUT where the last
   values have no LU. */
int ilux_lu_of(ilux_solver* solver, ilux_lu* lu);
/* The vectors of the coarse space beside the preconditioner at hand: those of ilux_set_near_null, or constants of the kinds of unknowns, and
   those that were found; scaled by powers of two, or smoothed. They are *count columns of n numbers as A has them, one after another, on the
   host, and are valid until the next call with this solver. *count is 0, and *columns NULL, where there is no coarse space. */
int ilux_near_null_of(ilux_solver* solver, int64_t* count, const void** columns);

/* Solves op(A) X = B for `columns` right-hand sides, column after column: b and x of column k begin at k * ldb and k * ldx
   numbers. Every x is measured; the status is that of the first column that did not converge. x is overwritten; with the option
   sequence.reuse_x it is the guess. On a GPU where A is: b and x stay there, in the order of the stream of ilux_set_stream, where the
   solver works on that GPU. They pass through the host for device=cpu, and where other factors have to be tried. The option
   time_limit is of all columns together; after a column that was cancelled or late the others are not begun, their x is as it was,
   and their status is that of that column. */
int ilux_solve(ilux_solver* solver, int op, int64_t columns, const void* b, int64_t ldb, void* x, int64_t ldx);
/* Z <- op(M)^-1 R by the factors at hand, once; M is the preconditioner, or A where the strategy is LU. */
int ilux_precondition(ilux_solver* solver, int op, int64_t columns, const void* r, int64_t ldr, void* z, int64_t ldz);
/* Solves members systems of the analysed pattern together where LU's pivots serve: values of members * nnz numbers, B and X of
   members * n, all of the host. */
int ilux_solve_batch(ilux_solver* solver, int64_t members, const void* values, const void* b, void* x);

/* y <- op(A) x for n numbers of the host, or of a GPU. 0: done; anything else breaks the call off with ILUX_BAD_INPUT. */
typedef int (*ilux_apply)(void* user, int op, const void* x, void* y);
/* Solves A x = b for an A that is known by its products, and an M that is known by z <- op(M)^-1 r; M may be NULL.
   ILUX_ADJOINT is asked for by BiCG alone. To take the preconditioner of another solver, made for a matrix near A, pass
   ilux_apply_preconditioner and that solver. With the option device=gpu all vectors are in the memory of the GPU of
   ilux_set_stream; A and M enqueue their work on its stream and need not wait for it, and the matrix near A has to lie there, too. */
int ilux_solve_operator(ilux_solver* solver, int64_t n, ilux_apply A, void* user_A, ilux_apply M, void* user_M,
                        const void* b, void* x);
int ilux_apply_preconditioner(void* solver, int op, const void* r, void* z);

/* What can be said of A before it is factored, and what solving with it would take, as JSON with the keys of `ilux info --json`;
   levels 1: factor as well, and tell the levels of L + U. What the solver has analysed stays. *json is valid until the next call
   with this solver, and NULL where it fails. */
int ilux_info(ilux_solver* solver, const ilux_csr* A, int levels, const char** json);
/* Solves A x = b by several strategies, one after another, as `ilux compare` does: {"version", "rtol", "rows": [...]}, a row for
   each of `strategies` ("direct,iterative,auto", some of these; NULL: direct and iterative) on the CPU and, unless the option device is cpu, on a GPU. A row whose x
   does not meet krylov.rtol is no failure of the call. The options of the solver hold for all.
   repeats: of what takes at most a second; the median is told. b: n numbers, where A is. The rest as ilux_info. */
int ilux_compare(ilux_solver* solver, const ilux_csr* A, const void* b, const char* strategies, int64_t repeats, const char** json);

/* Called on the calling thread, many times a second: phase 0 setup (done of total columns), 1 solve (done of at most total
   steps, residual), 2 work that tells nothing but that it goes on, as an LU. A number other than 0 cancels the call. NULL: nobody listens. */
typedef int (*ilux_progress)(void* user, int phase, int64_t done, int64_t total, double residual);
int  ilux_listen(ilux_solver* solver, ilux_progress progress, void* user);
/* From the listener, in phase 1: x as it stands, n numbers. ILUX_BAD_INPUT elsewhere, and where the host has no x: on a GPU, and in mixed
   precision. GMRES renews it at the end of a cycle. */
int  ilux_iterate(ilux_solver* solver, void* x);
void ilux_cancel(ilux_solver* solver); /* from another thread or a signal handler: the call under way */

/* Of the last call. Texts are valid until the next call with this solver. */
const char* ilux_message(const ilux_solver* solver);                        /* why it failed, or "" */
int64_t     ilux_columns(const ilux_solver* solver);                        /* right-hand sides of the last solve */
int         ilux_result_of(const ilux_solver* solver, int64_t column, ilux_result* result);
const char* ilux_report(ilux_solver* solver, int64_t column);               /* JSON; NULL: no such column, or no memory */

/* Matrices of the library's own: model problems, and files of the kinds that docs/files.md lists. */
typedef struct ilux_matrix ilux_matrix;
int         ilux_gallery(const char* spec, ilux_matrix** matrix); /* "convdiff3d:n=32" */
int         ilux_read(const char* path, ilux_matrix** matrix);    /* .mtx, .npz, ... */
void        ilux_matrix_free(ilux_matrix* matrix);
int         ilux_matrix_values(const ilux_matrix* matrix); /* ILUX_REAL or ILUX_COMPLEX */
int         ilux_matrix_csr(const ilux_matrix* matrix, ilux_csr* csr); /* its arrays; ILUX_BAD_INPUT where it is not square */
const char* ilux_last_error(void); /* why the last ilux_create, ilux_gallery or ilux_read of this thread failed, or a
                                       call from a callback was refused, or "" */

#ifdef __cplusplus
}
#endif

#endif
