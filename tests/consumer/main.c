/* A C program that uses the installed libilux.so: one system, forwards and transposed, and what is said of it. */
#include <ilux.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define N 4

static int fail(const char* what, const ilux_solver* solver)
{
    printf("%s: %s\n", what, ilux_message(solver));
    return 1;
}

int main(void)
{
    const int32_t ptr[N + 1] = {0, 2, 5, 8, 10}, col[10] = {0, 1, 0, 1, 2, 1, 2, 3, 2, 3};
    const double  val[10] = {4, -1, -2, 4, -1, -2, 4, -1, -2, 4}, b[N] = {2, -1, 1, 10}, b_transposed[N] = {0, -1, -1, 1};
    double        x[N] = {0}, r = 0;
    ilux_csr      A;
    ilux_solver*  solver;
    ilux_result   result;
    int           i, j;

    memset(&A, 0, sizeof A);
    A.n = N;
    A.row_ptr = ptr;
    A.row_ptr_bits = 32;
    A.col = col;
    A.values = val;
    if (ilux_create(ILUX_REAL, &solver) != ILUX_OK) return puts(ilux_last_error()), 1;
    if (ilux_set(solver, "krylov.rtol", "1e-12") != ILUX_OK) return fail("ilux_set", solver);
    if (ilux_analyse(solver, &A, 1, 1) != ILUX_OK) return fail("ilux_analyse", solver);
    if (ilux_factor(solver, NULL) != ILUX_OK) return fail("ilux_factor", solver);

    if (ilux_solve(solver, ILUX_PLAIN, 1, b, N, x, N) != ILUX_OK) return fail("ilux_solve", solver);
    for (i = 0; i < N; ++i) {
        double row = b[i];
        for (j = ptr[i]; j < ptr[i + 1]; ++j) row -= val[j] * x[col[j]];
        r += fabs(row);
    }
    if (ilux_solve(solver, ILUX_TRANSPOSED, 1, b_transposed, N, x, N) != ILUX_OK) return fail("transposed", solver);
    {
        double column[N];
        memcpy(column, b_transposed, sizeof column);
        for (i = 0; i < N; ++i)
            for (j = ptr[i]; j < ptr[i + 1]; ++j) column[col[j]] -= val[j] * x[i];
        for (i = 0; i < N; ++i) r += fabs(column[i]);
    }
    result.size = sizeof result;
    if (ilux_result_of(solver, 0, &result) != ILUX_OK || !ilux_report(solver, 0)) return fail("report", solver);
    printf("ilux %s: %s, %s, residuals %.1e\n", ilux_version(), ilux_outcome_name(result.outcome),
           result.direct ? "direct" : "iterative", r);
    ilux_destroy(solver);
    return r < 1e-10 ? 0 : 1;
}
