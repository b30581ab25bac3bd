// A build without the library HDF5.

#include "ilux/base/io/matlab.hpp"

namespace ilux::detail {

std::vector<MatlabVariable> matlab_7_3_variables(std::string_view, std::string_view name)
{
    throw_without_hdf5(name, "this build has no reader of these (the library HDF5; ILUX_HDF5=ON at configuration)");
}

}  // namespace ilux::detail
