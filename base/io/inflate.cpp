#include "ilux/base/io/inflate.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "ilux/base/error.hpp"

namespace ilux::detail {

Inflated inflate_all(std::string_view packed, Deflated kind, std::span<char> kept, std::string_view name,
                     const StopToken& stop)
{
    constexpr std::size_t at_once = std::size_t{1} << 22;  // a few milliseconds: the token is asked between two
    z_stream              stream{};
    if (inflateInit2(&stream, kind == Deflated::raw ? -MAX_WBITS : MAX_WBITS) != Z_OK)
        throw OutOfMemory(fmt::format("no memory to unpack {}", name));
    const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
    std::vector<char>                                   not_kept;
    Inflated                                            done;
    for (int status = Z_OK; status != Z_STREAM_END;) {
        if (stop.possible()) stop.check();
        std::span<char> out = kept.subspan(std::min<std::uint64_t>(done.out, kept.size()));
        if (out.empty()) {
            not_kept.resize(std::size_t{1} << 16);
            out = not_kept;
        }
        stream.next_in =
            reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + done.in));  // zlib does not write there
        stream.avail_in = static_cast<uInt>(std::min<std::uint64_t>(packed.size() - done.in, at_once));
        stream.next_out = reinterpret_cast<Bytef*>(out.data());
        stream.avail_out = static_cast<uInt>(std::min(out.size(), at_once));
        const uInt had_in = stream.avail_in, had_out = stream.avail_out;
        status = inflate(&stream, Z_NO_FLUSH);
        done.in += had_in - stream.avail_in;
        done.out += had_out - stream.avail_out;
        if (status == Z_MEM_ERROR) throw OutOfMemory(fmt::format("no memory to unpack {}", name));
        const bool moved = had_in != stream.avail_in || had_out != stream.avail_out;
        require(status == Z_STREAM_END || (status == Z_OK && moved), [&] {
            return fmt::format("{}: its packed data are bad at byte {}{}", name, done.in,
                               stream.msg != nullptr ? fmt::format(": {}", stream.msg) : ": do they end early?");
        });
    }
    return done;
}

}  // namespace ilux::detail
