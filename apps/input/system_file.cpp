#include "ilux/apps/input/system_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

#include "ilux/base/error.hpp"

namespace ilux::app {
namespace {

constexpr std::string_view kind = "iluxsys1";

template <class T>
void put(std::ofstream& out, std::span<const T> values)
{
    out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
}

template <class T>
std::vector<T> take(std::ifstream& in, std::uint64_t count)
{
    std::vector<T> values(count);
    in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    return values;
}

std::ofstream written(const std::string& file)
{
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    require(out.good(), [&] { return fmt::format("{}: cannot be written: {}", file, std::strerror(errno)); });
    return out;
}

void close_or_throw(std::ofstream& out, const std::string& file)
{
    out.close();
    require(!out.fail(), [&] { return fmt::format("{}: cannot be written: {}", file, std::strerror(errno)); });
}

std::uint64_t bytes_of(const std::string& file)
{
    std::error_code why;
    const auto      bytes = std::filesystem::file_size(file, why);
    require(!why, [&] { return fmt::format("{}: cannot be read: {}", file, why.message()); });
    return bytes;
}

}  // namespace

void write_system(const std::string& file, std::span<const Offset> row_ptr, std::span<const Index> col,
                  std::span<const double> val, std::span<const double> b)
{
    std::ofstream      out = written(file);
    const std::int64_t sizes[] = {std::ssize(b), std::ssize(val)};
    put(out, std::span(kind));
    put(out, std::span<const std::int64_t>(sizes));
    put(out, row_ptr);
    put(out, col);
    put(out, val);
    put(out, b);
    close_or_throw(out, file);
}

RawSystem read_system(const std::string& file)
{
    const std::uint64_t bytes = bytes_of(file), head = kind.size() + 2 * sizeof(std::int64_t);
    std::ifstream       in(file, std::ios::binary);
    const auto          name = take<char>(in, kind.size());
    const auto          sizes = take<std::int64_t>(in, 2);
    require(in.good() && std::ranges::equal(name, kind), [&] { return fmt::format("{}: no system of ilux", file); });
    constexpr std::int64_t most =
        std::numeric_limits<std::int64_t>::max() / 64;  // so that the sum below cannot overflow
    require(sizes[0] >= 0 && sizes[0] < std::numeric_limits<Index>::max() && sizes[1] >= 0 && sizes[1] < most,
            [&] { return fmt::format("{}: n {}, nnz {}", file, sizes[0], sizes[1]); });
    const auto n = static_cast<std::uint64_t>(sizes[0]), nnz = static_cast<std::uint64_t>(sizes[1]);
    const auto promised = head + (n + 1) * sizeof(Offset) + nnz * (sizeof(Index) + sizeof(double)) + n * sizeof(double);
    require(bytes == promised, [&] { return fmt::format("{}: {} bytes instead of {}", file, bytes, promised); });
    RawSystem system;
    system.row_ptr = take<Offset>(in, n + 1);
    system.col = take<Index>(in, nnz);
    system.val = take<double>(in, nnz);
    system.b = take<double>(in, n);
    require(in.good(), [&] { return fmt::format("{}: cannot be read", file); });
    return system;
}

void write_doubles(const std::string& file, std::span<const double> values)
{
    std::ofstream out = written(file);
    put(out, values);
    close_or_throw(out, file);
}

std::vector<double> read_doubles(const std::string& file, Index n)
{
    const std::uint64_t bytes = bytes_of(file), wanted = sizeof(double) * static_cast<std::uint64_t>(n);
    require(bytes == wanted, [&] { return fmt::format("{}: {} bytes instead of {}", file, bytes, wanted); });
    std::ifstream in(file, std::ios::binary);
    auto          values = take<double>(in, static_cast<std::uint64_t>(n));
    require(in.good(), [&] { return fmt::format("{}: cannot be read", file); });
    return values;
}

}  // namespace ilux::app
