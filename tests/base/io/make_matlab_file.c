/* Writes the matrix A of make_files as MATLAB 7.3 does, by matio: make_matlab_file FILE. */
#include <matio.h>

int main(int argc, char** argv)
{
    mat_uint32_t row[] = {0, 2, 1, 3, 0, 2, 1, 3}, begin[] = {0, 2, 4, 6, 8};
    double       values[] = {4, 2, 3, -7, -1.5, 5, 1e-3, 6.25};
    size_t       dims[] = {4, 4};
    mat_sparse_t A = {8, row, 8, begin, 5, 8, values};
    mat_t*       file = argc > 1 ? Mat_CreateVer(argv[1], NULL, MAT_FT_MAT73) : NULL;
    matvar_t*    variable = Mat_VarCreate("A", MAT_C_SPARSE, MAT_T_DOUBLE, 2, dims, &A, 0);
    const int    failed = !file || Mat_VarWrite(file, variable, MAT_COMPRESSION_NONE);
    Mat_VarFree(variable);
    if (file) Mat_Close(file);
    return failed;
}
