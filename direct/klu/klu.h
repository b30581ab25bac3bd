/* <klu.h> of programs written to SuiteSparse's KLU, for those who have no other: `-I` this folder, and link ilux instead of
   -lklu. See docs/klu_interface.md. */
#ifndef ILUX_KLU_KLU_H
#define ILUX_KLU_KLU_H

#include "ilux/direct/klu/ilux_klu.h"
#include "ilux/direct/klu/ilux_klu_z.h"
#include "ilux/direct/klu/klu_names.h"

#ifndef SuiteSparse_long
#define SuiteSparse_long int64_t
#endif

/* The interface is that of KLU 1.3. */
#define KLU_VERSION_CODE(main, sub) ((main)*1000 + (sub))
#define KLU_MAIN_VERSION 1
#define KLU_SUB_VERSION 3
#define KLU_SUBSUB_VERSION 0
#define KLU_VERSION KLU_VERSION_CODE(KLU_MAIN_VERSION, KLU_SUB_VERSION)

#define KLU_OK ILUX_KLU_OK
#define KLU_SINGULAR ILUX_KLU_SINGULAR
#define KLU_OUT_OF_MEMORY ILUX_KLU_OUT_OF_MEMORY
#define KLU_INVALID ILUX_KLU_INVALID
#define KLU_TOO_LARGE ILUX_KLU_TOO_LARGE

#define klu_common_struct ilux_klu_common_struct
#define klu_l_common_struct ilux_klu_l_common_struct
typedef ilux_klu_common     klu_common;
typedef ilux_klu_symbolic   klu_symbolic;
typedef ilux_klu_numeric    klu_numeric;
typedef ilux_klu_l_common   klu_l_common;
typedef ilux_klu_l_symbolic klu_l_symbolic;
typedef ilux_klu_l_numeric  klu_l_numeric;

#endif
