// A build without the library matio.

#include <fmt/core.h>

#include "ilux/base/error.hpp"
#include "ilux/base/io/file_formats.hpp"

namespace ilux::detail {

bool reads_matlab() { return false; }

AnyMatrix parse_matlab(std::string_view, std::string_view name, const ReadOptions&)
{
    throw InvalidInput(fmt::format(
        "{}: a MATLAB file, and this build has no reader of these (the library matio; ILUX_MATIO=ON at configuration). "
        "Convert it: python3 -c \"import scipy.io as i, scipy.sparse as s; s.save_npz('A.npz', "
        "s.csr_matrix(i.loadmat('FILE')['A']))\"; in MATLAB save it without -v7.3 first",
        name));
}

}  // namespace ilux::detail
