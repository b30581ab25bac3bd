/* The linear solver of SUNDIALS, call by call and under CVODE beside KLU. Exits with 0 where all of it holds. */
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunlinsol_ilux.h>
#include <sunmatrix/sunmatrix_sparse.h>

#if SUNDIALS_VERSION_MAJOR >= 7
#define NO_COMM SUN_COMM_NULL
#define BAD_ARGUMENT SUN_ERR_ARG_OUTOFRANGE
#else
#define NO_COMM NULL
#define BAD_ARGUMENT SUNLS_ILL_INPUT
#endif

enum { n = 200 };
static int failed = 0;

static void expect(int holds, const char* what)
{
    if (holds) return;
    printf("not so: %s\n", what);
    ++failed;
}

/* Three diagonals, unsymmetric. zero: a row or column of zeros at n/2. */
static void fill(SUNMatrix A, double scale, int zero)
{
    sunindextype *ptr = SM_INDEXPTRS_S(A), *index = SM_INDEXVALS_S(A), at = 0;
    for (sunindextype i = 0; i < n; ++i) {
        ptr[i] = at;
        for (sunindextype j = i - 1; j <= i + 1; ++j) {
            if (j < 0 || j >= n) continue;
            index[at] = j;
            SM_DATA_S(A)[at++] = zero && i == n / 2 ? 0 : j == i ? scale * (3 + (double)(i % 4)) : j < i ? -1.5 : -0.5;
        }
    }
    ptr[n] = at;
}

static double residual(SUNMatrix A, N_Vector x, N_Vector b, N_Vector r)
{
    SUNMatMatvec(A, x, r);
    N_VLinearSum(1, b, -1, r, r);
    return sqrt(N_VDotProd(r, r) / N_VDotProd(b, b));
}

static void calls(SUNContext context, int kind, const char* method)
{
    N_Vector  x = N_VNew_Serial(n, context), b = N_VClone(x), r = N_VClone(x);
    SUNMatrix A = SUNSparseMatrix(n, n, 3 * n, kind, context);
    for (int i = 0; i < n; ++i) NV_Ith_S(b, i) = 1 + i % 7;
    fill(A, 1, 0);
    SUNLinearSolver S = SUNLinSol_ilux(x, A, context);
    expect(S != NULL, "it is made");
    expect(SUNLinSol_iluxSet(S, "method", method) == 0, "an option is taken");
    expect(SUNLinSol_iluxSet(S, "methd", method) == BAD_ARGUMENT, "one that is none is refused");
    expect(ilux_message(SUNLinSol_iluxSolver(S))[0] != 0, "in words");
    expect(SUNLinSolInitialize(S) == 0 && SUNLinSolGetType(S) == SUNLINEARSOLVER_DIRECT, "it is a direct one");
    for (int k = 0; k < 3; ++k) {
        fill(A, 1 + 0.1 * k, 0);
        expect(SUNLinSolSetup(S, A) == 0, "numbers are factored");
        expect(SUNLinSolSolve(S, A, x, b, 0) == 0, "and solved with");
        expect(residual(A, x, b, r) < 1.01e-8, "x solves");
    }
    N_VScale(1, b, x);
    expect(SUNLinSolSolve(S, A, x, x, 0) == 0 && residual(A, x, b, r) < 1.01e-8, "b and x may be one");
    long int reals = 0, integers = 0;
    expect(SUNLinSolSpace(S, &reals, &integers) == 0 && reals > n, "its memory is told");
    if (method[0] == 'l') {
        fill(A, 1, 1);
        expect(SUNLinSolSetup(S, A) == SUNLS_LUFACT_FAIL && SUNLinSolLastFlag(S) == SUNLS_LUFACT_FAIL, "a singular A is told");
    }
    fill(A, 1, 0);
    SM_DATA_S(A)[5] = NAN;
    expect(SUNLinSolSetup(S, A) == SUNLS_PACKAGE_FAIL_REC, "NaN is recoverable");
    fill(A, 1, 0);
    SM_INDEXVALS_S(A)[0] = 7; /* another pattern */
    SM_DATA_S(A)[0] = 2;
    SM_INDEXVALS_S(A)[1] = 0;
    SM_DATA_S(A)[1] = 3;
    expect(SUNLinSolSetup(S, A) == 0 && SUNLinSolSolve(S, A, x, b, 0) == 0, "another pattern is analysed");
    expect(residual(A, x, b, r) < 1.01e-8, "and its x solves");
    SUNLinSolFree(S);
    SUNMatDestroy(A);
    N_VDestroy(x);
    N_VDestroy(b);
    N_VDestroy(r);
}

/* u' = d u'' + u (1 - u) (u - 0.3) on n points: a front, stiff. */
static const double d = 4000;

static int rhs(sunrealtype t, N_Vector u, N_Vector f, void* user)
{
    (void)t, (void)user;
    for (int i = 0; i < n; ++i) {
        const double here = NV_Ith_S(u, i), left = i > 0 ? NV_Ith_S(u, i - 1) : here, right = i < n - 1 ? NV_Ith_S(u, i + 1) : here;
        NV_Ith_S(f, i) = d * (left - 2 * here + right) + 50 * here * (1 - here) * (here - 0.3);
    }
    return 0;
}

static int jacobian(sunrealtype t, N_Vector u, N_Vector f, SUNMatrix J, void* user, N_Vector a, N_Vector b, N_Vector c)
{
    (void)t, (void)f, (void)user, (void)a, (void)b, (void)c;
    sunindextype at = 0;
    for (sunindextype i = 0; i < n; ++i) {
        const double here = NV_Ith_S(u, i);
        SM_INDEXPTRS_S(J)[i] = at;
        for (sunindextype j = i - 1; j <= i + 1; ++j) {
            if (j < 0 || j >= n) continue;
            SM_INDEXVALS_S(J)[at] = j;
            SM_DATA_S(J)[at++] = j != i ? d
                                        : -d * ((i > 0) + (i < n - 1)) +
                                              50 * ((1 - here) * (here - 0.3) - here * (here - 0.3) + here * (1 - here));
        }
    }
    SM_INDEXPTRS_S(J)[n] = at;
    return 0;
}

/* Integrates; the steps, and u at the end. */
static long integrate(SUNContext context, int kind, const char* method, N_Vector u)
{
    SUNMatrix       A = SUNSparseMatrix(n, n, 3 * n, kind, context);
    SUNLinearSolver S = method ? SUNLinSol_ilux(u, A, context) : SUNLinSol_KLU(u, A, context);
    void*           cvode = CVodeCreate(CV_BDF, context);
    sunrealtype     reached = 0;
    long            steps = 0;
    for (int i = 0; i < n; ++i) NV_Ith_S(u, i) = 1 / (1 + exp(0.2 * (i - 40)));
    if (method) SUNLinSol_iluxSet(S, "method", method);
    int done = CVodeInit(cvode, rhs, 0, u);
    if (done == 0) done = CVodeSStolerances(cvode, 1e-6, 1e-9);
    if (done == 0) done = CVodeSetLinearSolver(cvode, S, A);
    if (done == 0) done = CVodeSetJacFn(cvode, jacobian);
    if (done == 0) done = CVodeSetMaxNumSteps(cvode, 5000);
    if (done == 0) done = CVode(cvode, 1, u, &reached, CV_NORMAL);
    expect(done == 0, "CVODE arrives");
    CVodeGetNumSteps(cvode, &steps);
    CVodeFree(&cvode);
    SUNLinSolFree(S);
    SUNMatDestroy(A);
    return steps;
}

int main(void)
{
    SUNContext context;
    if (SUNContext_Create(NO_COMM, &context) != 0) return 1;
    for (int kind = CSC_MAT; kind <= CSR_MAT; ++kind) {
        calls(context, kind, "lu");
        calls(context, kind, "gmres");
    }
    N_Vector   by_klu = N_VNew_Serial(n, context), u = N_VClone(by_klu);
    const long steps = integrate(context, CSC_MAT, NULL, by_klu);
    for (int kind = CSC_MAT; kind <= CSR_MAT; ++kind)
        for (int k = 0; k < 2; ++k) {
            const char* method = k ? "gmres" : "lu";
            const long  ours = integrate(context, kind, method, u);
            N_VLinearSum(1, u, -1, by_klu, u);
            printf("%s: %ld steps, by KLU %ld, largest difference %.1e\n", method, ours, steps, N_VMaxNorm(u));
            expect(labs(ours - steps) <= steps / 50 + 1 && N_VMaxNorm(u) < 1e-4, "as by KLU");
        }
    expect(SUNLinSol_ilux(NULL, NULL, context) == NULL, "nothing is made of nothing");
    N_VDestroy(u);
    N_VDestroy(by_klu);
    SUNContext_Free(&context);
    return failed;
}
