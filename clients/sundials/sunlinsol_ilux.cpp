#include <sunlinsol_ilux.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

namespace {

static_assert(sizeof(sunrealtype) == sizeof(double), "ilux computes in double");

#if SUNDIALS_VERSION_MAJOR >= 7
constexpr int success = SUN_SUCCESS, bad_argument = SUN_ERR_ARG_OUTOFRANGE, no_memory = SUN_ERR_MEM_FAIL,
              failure = SUN_ERR_EXT_FAIL;
#else
constexpr int success = SUNLS_SUCCESS, bad_argument = SUNLS_ILL_INPUT, no_memory = SUNLS_MEM_FAIL,
              failure = SUNLS_PACKAGE_FAIL_UNREC;
#endif

/// Copies of the pattern, since SUNDIALS' columns are of 64 bits and its arrays come and go.
struct Content {
    ilux_solver*              solver = nullptr;
    std::vector<std::int64_t> ptr;
    std::vector<std::int32_t> col;
    std::vector<double>       b;  // where a caller has b and x in one array
    bool                      analysed = false;
    sunindextype              last = success;
};

Content& of(SUNLinearSolver S) { return *static_cast<Content*>(S->content); }

int flag(Content& content, int status)
{
    switch (status) {
        case ILUX_OK:
            return content.last = success, success;
        case ILUX_SINGULAR:
            return content.last = SUNLS_LUFACT_FAIL, SUNLS_LUFACT_FAIL;
        case ILUX_NOT_CONVERGED:
            return content.last = SUNLS_CONV_FAIL, SUNLS_CONV_FAIL;
        case ILUX_BAD_INPUT:  // numbers that are not finite: another step may do better
        case ILUX_CANCELLED:
            return content.last = SUNLS_PACKAGE_FAIL_REC, SUNLS_PACKAGE_FAIL_REC;
        case ILUX_OUT_OF_MEMORY:
            return content.last = no_memory, no_memory;
        default:
            return content.last = failure, failure;
    }
}

bool same_pattern(const Content& content, SUNMatrix A)
{
    const sunindextype *ptr = SM_INDEXPTRS_S(A), *col = SM_INDEXVALS_S(A), rows = SM_NP_S(A);
    return content.analysed && content.ptr.size() == static_cast<std::size_t>(rows) + 1 &&
           std::equal(content.ptr.begin(), content.ptr.end(), ptr) &&
           std::equal(content.col.begin(), content.col.end(), col);
}

int analyse(Content& content, SUNMatrix A)
{
    const sunindextype *ptr = SM_INDEXPTRS_S(A), *col = SM_INDEXVALS_S(A), rows = SM_NP_S(A);
    content.analysed = false;
    content.ptr.assign(ptr, ptr + rows + 1);
    content.col.assign(col, col + ptr[rows]);
    ilux_csr csr{};
    csr.n = rows;
    csr.row_ptr = content.ptr.data();
    csr.row_ptr_bits = 64;
    csr.col = content.col.data();
    csr.values = SM_DATA_S(A);
    const int status = ilux_analyse(content.solver, &csr, 1000, 1);  // an integrator makes many
    content.analysed = status == ILUX_OK;
    return status;
}

/// The columns of a CSC matrix are the rows of its transpose, which is what is factored then.
int operation(SUNMatrix A) { return SM_SPARSETYPE_S(A) == CSC_MAT ? ILUX_TRANSPOSED : ILUX_PLAIN; }

SUNLinearSolver_Type type(SUNLinearSolver) { return SUNLINEARSOLVER_DIRECT; }
SUNLinearSolver_ID   id(SUNLinearSolver) { return SUNLINEARSOLVER_CUSTOM; }

int initialize(SUNLinearSolver S)
{
    of(S).analysed = false;
    of(S).last = success;
    return success;
}

int setup(SUNLinearSolver S, SUNMatrix A)
{
    Content& content = of(S);
    try {
        const bool same = same_pattern(content, A);
        int        status = same ? ILUX_OK : analyse(content, A);
        // Values are given, though they are those analysed: ilux keeps a copy of them then.
        if (status == ILUX_OK)
            status = same ? ilux_refactor(content.solver, SM_DATA_S(A)) : ilux_factor(content.solver, SM_DATA_S(A));
        return flag(content, status);
    } catch (const std::bad_alloc&) {
        return flag(content, ILUX_OUT_OF_MEMORY);
    }
}

int solve(SUNLinearSolver S, SUNMatrix A, N_Vector x, N_Vector b, sunrealtype)
{
    Content&      content = of(S);
    const double* from = N_VGetArrayPointer(b);
    double*       to = N_VGetArrayPointer(x);
    const auto    n = static_cast<std::int64_t>(SM_NP_S(A));
    if (!from || !to) return flag(content, ILUX_INTERNAL);
    try {
        if (from == to) {
            content.b.assign(from, from + n);
            from = content.b.data();
        }
    } catch (const std::bad_alloc&) {
        return flag(content, ILUX_OUT_OF_MEMORY);
    }
    return flag(content, ilux_solve(content.solver, operation(A), 1, from, n, to, n));
}

sunindextype last_flag(SUNLinearSolver S) { return of(S).last; }

int space(SUNLinearSolver S, long int* reals, long int* integers)
{
    ilux_factors facts{};
    facts.size = sizeof facts;
    *reals = ilux_factors_of(of(S).solver, &facts) == ILUX_OK ? static_cast<long int>(facts.bytes / 8) : 0;
    *integers = static_cast<long int>(of(S).ptr.size() + of(S).col.size());
    return success;
}

int release(SUNLinearSolver S)
{
    if (!S) return success;
    if (S->content) {
        ilux_destroy(of(S).solver);
        delete &of(S);
        S->content = nullptr;
    }
    SUNLinSolFreeEmpty(S);
    return success;
}

bool fits(N_Vector y, SUNMatrix A)
{
    return y && A && SUNMatGetID(A) == SUNMATRIX_SPARSE && SM_ROWS_S(A) == SM_COLUMNS_S(A) && N_VGetArrayPointer(y) &&
           N_VGetLength(y) == SM_ROWS_S(A);
}

}  // namespace

SUNLinearSolver SUNLinSol_ilux(N_Vector y, SUNMatrix A, SUNContext sunctx)
{
    if (!fits(y, A)) return nullptr;
    SUNLinearSolver S = SUNLinSolNewEmpty(sunctx);
    if (!S) return nullptr;
    S->ops->gettype = type;
    S->ops->getid = id;
    S->ops->initialize = initialize;
    S->ops->setup = setup;
    S->ops->solve = solve;
    S->ops->lastflag = last_flag;
    S->ops->space = space;
    S->ops->free = release;
    auto* content = new (std::nothrow) Content;
    S->content = content;
    const bool made = content && ilux_create(ILUX_REAL, &content->solver) == ILUX_OK;
    if (made && ilux_set(content->solver, "method", "lu") == ILUX_OK &&
        ilux_set(content->solver, "threads", "1") == ILUX_OK && ilux_set(content->solver, "device", "cpu") == ILUX_OK &&
        ilux_set(content->solver, "time_limit", "0") == ILUX_OK)
        return S;
    release(S);
    return nullptr;
}

int SUNLinSol_iluxSet(SUNLinearSolver S, const char* name, const char* value)
{
    of(S).analysed = false;
    of(S).last = ilux_set(of(S).solver, name, value) == ILUX_OK ? success : bad_argument;
    return static_cast<int>(of(S).last);
}

ilux_solver* SUNLinSol_iluxSolver(SUNLinearSolver S) { return of(S).solver; }
