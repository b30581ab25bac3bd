#pragma once
// malloc and its kin, as C libraries call them, counted and made to fail on demand. They are interposed in this test
// program alone, and not under sanitizers, which interpose them themselves.

#include <span>
#include <string>

namespace ilux::test {

/// Empty, or why the C library's allocations cannot be made to fail in this build.
std::string why_no_c_allocations();

/// While it lives, makes the k-th (from 1) allocation fail that one of the given libraries asks for, by a part of the
/// file name of the library; 0: none. One at a time; on one thread.
class CAllocations {
public:
    CAllocations(std::span<const char* const> libraries, long fail_at = 0);
    ~CAllocations();
    CAllocations(const CAllocations&) = delete;
    CAllocations& operator=(const CAllocations&) = delete;

    long count() const;   ///< those of the libraries, so far
    bool failed() const;  ///< whether the fail_at-th came
};

/// Blocks of the whole program that malloc and its kin gave and free has not taken back.
long live_c_allocations();

}  // namespace ilux::test
