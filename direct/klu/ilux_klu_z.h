/* The calls of ilux_klu.h for complex values, under the names of SuiteSparse's KLU: ilux_klu_z_* counts in int, ilux_klu_zl_* in
   int64_t. Complex arrays are interleaved: re, im, re, im, … A symbolic object serves real and complex values, so analyze,
   free_symbolic and defaults are those of ilux_klu.h. A numeric object holds real or complex values: the calls of the other
   kind find it INVALID, except that each free_numeric frees both.

   What a call does and returns, its real namesake says. n, nz, lnz, ldim and all other sizes count numbers, of two doubles each. */
#ifndef ILUX_KLU_Z_H
#define ILUX_KLU_Z_H

#include "ilux/direct/klu/ilux_klu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ax: 2 nz. tol compares |z|. */
ilux_klu_numeric* ilux_klu_z_factor(int Ap[], int Ai[], double Ax[], ilux_klu_symbolic* symbolic,
                                    ilux_klu_common* common);
int ilux_klu_z_refactor(int Ap[], int Ai[], double Ax[], ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric,
                        ilux_klu_common* common);

/* B: 2 ldim nrhs. tsolve solves A^T x = b, or where conj_solve is not 0, A^H x = b. */
int ilux_klu_z_solve(ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric, int ldim, int nrhs, double B[],
                     ilux_klu_common* common);
int ilux_klu_z_tsolve(ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric, int ldim, int nrhs, double B[],
                      int conj_solve, ilux_klu_common* common);

int ilux_klu_z_rcond(ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric, ilux_klu_common* common);
int ilux_klu_z_rgrowth(int Ap[], int Ai[], double Ax[], ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric,
                       ilux_klu_common* common);
int ilux_klu_z_condest(int Ap[], double Ax[], ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric,
                       ilux_klu_common* common);
/* common->flops: a complex operation counts as a real one does */
int ilux_klu_z_flops(ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric, ilux_klu_common* common);
int ilux_klu_z_scale(int scale, int n, int Ap[], int Ai[], double Ax[], double Rs[], int W[], ilux_klu_common* common);
int ilux_klu_z_sort(ilux_klu_symbolic* symbolic, ilux_klu_numeric* numeric, ilux_klu_common* common);
/* Lx, Lz and so on: the real and the imaginary parts, lnz, unz and nzoff doubles each. */
int ilux_klu_z_extract(ilux_klu_numeric* numeric, ilux_klu_symbolic* symbolic, int Lp[], int Li[], double Lx[],
                       double Lz[], int Up[], int Ui[], double Ux[], double Uz[], int Fp[], int Fi[], double Fx[],
                       double Fz[], int P[], int Q[], double Rs[], int R[], ilux_klu_common* common);
int ilux_klu_z_free_numeric(ilux_klu_numeric** numeric, ilux_klu_common* common);

/* The same with 64-bit integers. */

ilux_klu_l_numeric* ilux_klu_zl_factor(int64_t Ap[], int64_t Ai[], double Ax[], ilux_klu_l_symbolic* symbolic,
                                       ilux_klu_l_common* common);
int64_t ilux_klu_zl_refactor(int64_t Ap[], int64_t Ai[], double Ax[], ilux_klu_l_symbolic* symbolic,
                             ilux_klu_l_numeric* numeric, ilux_klu_l_common* common);
int64_t ilux_klu_zl_solve(ilux_klu_l_symbolic* symbolic, ilux_klu_l_numeric* numeric, int64_t ldim, int64_t nrhs,
                          double B[], ilux_klu_l_common* common);
int64_t ilux_klu_zl_tsolve(ilux_klu_l_symbolic* symbolic, ilux_klu_l_numeric* numeric, int64_t ldim, int64_t nrhs,
                           double B[], int64_t conj_solve, ilux_klu_l_common* common);
int64_t ilux_klu_zl_rcond(ilux_klu_l_symbolic* symbolic, ilux_klu_l_numeric* numeric, ilux_klu_l_common* common);
int64_t ilux_klu_zl_rgrowth(int64_t Ap[], int64_t Ai[], double Ax[], ilux_klu_l_symbolic* symbolic,
                            ilux_klu_l_numeric* numeric, ilux_klu_l_common* common);
int64_t ilux_klu_zl_condest(int64_t Ap[], double Ax[], ilux_klu_l_symbolic* symbolic, ilux_klu_l_numeric* numeric,
                            ilux_klu_l_common* common);
int64_t ilux_klu_zl_flops(ilux_klu_l_symbolic* symbolic, ilux_klu_l_numeric* numeric, ilux_klu_l_common* common);
int64_t ilux_klu_zl_scale(int64_t scale, int64_t n, int64_t Ap[], int64_t Ai[], double Ax[], double Rs[], int64_t W[],
                          ilux_klu_l_common* common);
int64_t ilux_klu_zl_sort(ilux_klu_l_symbolic* symbolic, ilux_klu_l_numeric* numeric, ilux_klu_l_common* common);
int64_t ilux_klu_zl_extract(ilux_klu_l_numeric* numeric, ilux_klu_l_symbolic* symbolic, int64_t Lp[], int64_t Li[],
                            double Lx[], double Lz[], int64_t Up[], int64_t Ui[], double Ux[], double Uz[],
                            int64_t Fp[], int64_t Fi[], double Fx[], double Fz[], int64_t P[], int64_t Q[],
                            double Rs[], int64_t R[], ilux_klu_l_common* common);
int64_t ilux_klu_zl_free_numeric(ilux_klu_l_numeric** numeric, ilux_klu_l_common* common);

#ifdef __cplusplus
}
#endif
#endif
