/* A linear solver for SUNDIALS: LU with pivots that are kept while they hold, or GMRES with a multilevel ILU.

     SUNLinearSolver LS = SUNLinSol_ilux(y, A, sunctx);   // A: sparse, CSC or CSR; y: with an array on the host
     SUNLinSol_iluxSet(LS, "method", "gmres");            // optional, before the first setup; as `ilux solve --help`
     CVodeSetLinearSolver(cvode_mem, LS, A);

   To SUNDIALS it is a direct solver, also as an iteration: it solves to krylov.rtol (1e-8) and not to the integrator's
   tolerance. Where the pattern of A changes it is analysed anew by itself; there is no ReInit. Link with
   -lsunlinsol_ilux. */
#ifndef SUNLINSOL_ILUX_H
#define SUNLINSOL_ILUX_H

#include <ilux.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nvector.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NULL where A is no square sparse matrix of y's length, y has no array, or there is no memory. */
SUNDIALS_EXPORT SUNLinearSolver SUNLinSol_ilux(N_Vector y, SUNMatrix A, SUNContext sunctx);

/* 0, or SUNLS_ILL_INPUT (SUN_ERR_ARG_OUTOFRANGE of SUNDIALS 7). It takes effect with the next setup, which then analyses anew. */
SUNDIALS_EXPORT int SUNLinSol_iluxSet(SUNLinearSolver S, const char* name, const char* value);

/* The solver behind it, for ilux_message, ilux_report and ilux_factors_of. */
SUNDIALS_EXPORT ilux_solver* SUNLinSol_iluxSolver(SUNLinearSolver S);

#ifdef __cplusplus
}
#endif

#endif
