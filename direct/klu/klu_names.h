/* KLU's functions become ours, whatever klu.h declares them: include this before it, or compile with
   `-include ilux/direct/klu/klu_names.h`, and link ilux instead of -lklu. Types are those of that klu.h, which must be laid out as
   SuiteSparse 5's is; of later ones, only klu_l_common is not, so no klu_l or klu_zl call may be made with such a klu.h: it would
   write where nothing is. See docs/klu_interface.md. */
#ifndef ILUX_KLU_NAMES_H
#define ILUX_KLU_NAMES_H

#define klu_defaults ilux_klu_defaults
#define klu_analyze ilux_klu_analyze
#define klu_analyze_given ilux_klu_analyze_given
#define klu_factor ilux_klu_factor
#define klu_refactor ilux_klu_refactor
#define klu_solve ilux_klu_solve
#define klu_tsolve ilux_klu_tsolve
#define klu_rcond ilux_klu_rcond
#define klu_rgrowth ilux_klu_rgrowth
#define klu_condest ilux_klu_condest
#define klu_flops ilux_klu_flops
#define klu_scale ilux_klu_scale
#define klu_sort ilux_klu_sort
#define klu_extract ilux_klu_extract
#define klu_free_symbolic ilux_klu_free_symbolic
#define klu_free_numeric ilux_klu_free_numeric
#define klu_malloc ilux_klu_malloc
#define klu_free ilux_klu_free
#define klu_realloc ilux_klu_realloc

#define klu_l_defaults ilux_klu_l_defaults
#define klu_l_analyze ilux_klu_l_analyze
#define klu_l_analyze_given ilux_klu_l_analyze_given
#define klu_l_factor ilux_klu_l_factor
#define klu_l_refactor ilux_klu_l_refactor
#define klu_l_solve ilux_klu_l_solve
#define klu_l_tsolve ilux_klu_l_tsolve
#define klu_l_rcond ilux_klu_l_rcond
#define klu_l_rgrowth ilux_klu_l_rgrowth
#define klu_l_condest ilux_klu_l_condest
#define klu_l_flops ilux_klu_l_flops
#define klu_l_scale ilux_klu_l_scale
#define klu_l_sort ilux_klu_l_sort
#define klu_l_extract ilux_klu_l_extract
#define klu_l_free_symbolic ilux_klu_l_free_symbolic
#define klu_l_free_numeric ilux_klu_l_free_numeric
#define klu_l_malloc ilux_klu_l_malloc
#define klu_l_free ilux_klu_l_free
#define klu_l_realloc ilux_klu_l_realloc

#define klu_z_factor ilux_klu_z_factor
#define klu_z_refactor ilux_klu_z_refactor
#define klu_z_solve ilux_klu_z_solve
#define klu_z_tsolve ilux_klu_z_tsolve
#define klu_z_rcond ilux_klu_z_rcond
#define klu_z_rgrowth ilux_klu_z_rgrowth
#define klu_z_condest ilux_klu_z_condest
#define klu_z_flops ilux_klu_z_flops
#define klu_z_scale ilux_klu_z_scale
#define klu_z_sort ilux_klu_z_sort
#define klu_z_extract ilux_klu_z_extract
#define klu_z_free_numeric ilux_klu_z_free_numeric

#define klu_zl_factor ilux_klu_zl_factor
#define klu_zl_refactor ilux_klu_zl_refactor
#define klu_zl_solve ilux_klu_zl_solve
#define klu_zl_tsolve ilux_klu_zl_tsolve
#define klu_zl_rcond ilux_klu_zl_rcond
#define klu_zl_rgrowth ilux_klu_zl_rgrowth
#define klu_zl_condest ilux_klu_zl_condest
#define klu_zl_flops ilux_klu_zl_flops
#define klu_zl_scale ilux_klu_zl_scale
#define klu_zl_sort ilux_klu_zl_sort
#define klu_zl_extract ilux_klu_zl_extract
#define klu_zl_free_numeric ilux_klu_zl_free_numeric

#endif
