#include "ilux/base/io/atomic_file.hpp"
#include "ilux/base/io/text_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "ilux/base/io/matrix_file.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux::test {
namespace {

const std::string header = "%%MatrixMarket matrix coordinate real general\n";

std::string gzip(const std::string& bytes)
{
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string packed(deflateBound(&stream, bytes.size()), '\0');
    std::string in = bytes;
    stream.next_in = reinterpret_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

/// Standard input is the file while this lives.
class StandardInput {
public:
    explicit StandardInput(const std::string& path) : saved_(dup(STDIN_FILENO))
    {
        const int fd = open(path.c_str(), O_RDONLY);
        dup2(fd, STDIN_FILENO);
        close(fd);
    }
    ~StandardInput()
    {
        dup2(saved_, STDIN_FILENO);
        close(saved_);
    }

private:
    int saved_;
};

TEST(MatrixMarketFile, IsReadPlainPackedAndFromStandardInput)
{
    const TempFolder folder;
    const auto       A = random_matrix(33, 31, 5, 1);
    const auto       text = matrix_text(A);
    const auto       half = text.size() / 2;
    for (const auto& path :
         {folder.write("plain.mtx", text), folder.write("packed.mtx.gz", gzip(text)),
          folder.write("packed_without_the_name", gzip(text)), folder.write("named_but_plain.mtx.gz", text),
          folder.write("two_members.gz", gzip(text.substr(0, half)) + gzip(text.substr(half)))}) {
        EXPECT_TRUE(identical(read_matrix(path), A)) << path;
        const StandardInput in(path);
        EXPECT_TRUE(identical(read_matrix("-"), A)) << path;
    }
    const StandardInput in(folder.write("bad.mtx", "hello"));
    expect_refusal([] { read_matrix("-"); }, {"standard input:1:"});
}

TEST(MatrixMarketFile, IsReadFromAPipe)
{
    const TempFolder folder;
    const auto       A = random_matrix(5, 5, 2, 1);
    int              ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const auto text = matrix_text(A);
    ASSERT_EQ(::write(ends[1], text.data(), text.size()), std::ssize(text));
    close(ends[1]);
    const StandardInput in(fmt::format("/dev/fd/{}", ends[0]));
    close(ends[0]);
    EXPECT_TRUE(identical(read_matrix("-"), A));
}

TEST(MatrixMarketFile, StaysAsItWasReadWhenItIsShortened)
{
    const TempFolder  folder;
    const std::string text(100'000, 'x');
    const auto        path = folder.write("t.mtx", text);
    const TextFile    file(path);
    std::filesystem::resize_file(path, 10);
    EXPECT_TRUE(file.view() == text);
}

TEST(MatrixMarketFile, ThatChangesWhileItIsReadIsRefused)
{
    const TempFolder  folder;
    const std::string path = folder.file("t.mtx"), text(10'000'000, '1');
    const auto        refused = [&](auto&& change, const std::vector<std::string>& words) {
        folder.write("t.mtx", text);
        std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
        bool       changed = false;
        const auto once = [&] {
            if (!std::exchange(changed, true)) change();
            return false;
        };
        expect_refusal([&] { TextFile file(path, StopToken().asking(once)); }, words);
        EXPECT_TRUE(changed);
    };
    refused([&] { std::filesystem::resize_file(path, 5'000'000); },
            {"t.mtx changed while it was read", "had 10000000 bytes", "now has 5000000", "5000000 could be read"});
    refused([&] { std::filesystem::resize_file(path, 0); }, {"now has 0"});
    refused([&] { std::filesystem::resize_file(path, 10'000'001); }, {"now has 10000001"});
    refused([&] { folder.write("t.mtx", std::string(10'000'000, '2')); }, {"t.mtx changed"});
}

TEST(MatrixMarketFile, CanBeGivenUpWheneverTheTokenIsAsked)
{
    const TempFolder folder;
    const auto       A = random_matrix(60'000, 60'000, 5, 1);
    const auto       text = matrix_text(A);
    ASSERT_GT(text.size(), 8U << 20) << "shorter files are read in one piece";
    for (const auto& path : {folder.write("plain.mtx", text), folder.write("packed.mtx.gz", gzip(text))})
        for (int threads : {1, 3}) {
            int        wanted = -1;
            const auto read = [&](int last) {
                std::atomic<int> asked;
                const auto       stop = test::stop_at(last, asked);
                const auto       B = read_matrix_market(path, {.threads = threads, .line_order = true, .stop = stop});
                EXPECT_TRUE(identical(B.A, A));
                wanted = asked;
            };
            read(0);
            EXPECT_GE(wanted, 50) << path;
            for (int last = 1; last <= wanted; last += thinning)
                EXPECT_THROW(read(last), Cancelled) << path << ", " << last;
        }
}

TEST(MatrixMarketFile, ThatCannotBeReadIsNamedWithTheReason)
{
    const TempFolder folder;
    expect_refusal([&] { read_matrix(folder.file("none.mtx")); }, {"none.mtx", "No such file"});
    expect_refusal([&] { read_matrix(folder.path().string()); }, {folder.path().string(), "folder"});
    expect_refusal([&] { read_matrix(folder.write("empty.mtx", "")); }, {"empty.mtx:1:", "empty"});
    const auto secret = folder.write("secret.mtx", header + "0 0 0\n");
    ASSERT_EQ(chmod(secret.c_str(), 0), 0);
    if (geteuid() != 0) expect_refusal([&] { read_matrix(secret); }, {"secret.mtx", "Permission denied"});
}

TEST(MatrixMarketFile, ThatIsCorruptlyPackedIsRefused)
{
    const TempFolder folder;
    const auto       packed = gzip(matrix_text(random_matrix(300, 300, 3, 2)));
    auto             flipped = packed;
    flipped[flipped.size() / 2] ^= 0x55;
    auto bad_sum = packed;
    bad_sum[bad_sum.size() - 6] ^= 1;
    expect_refusal([&] { read_matrix(folder.write("cut.gz", packed.substr(0, packed.size() / 2))); },
                   {"cut.gz", "breaks off at byte"});
    expect_refusal([&] { read_matrix(folder.write("tailless.gz", packed.substr(0, packed.size() - 4))); },
                   {"tailless.gz", "breaks off"});
    expect_refusal([&] { read_matrix(folder.write("flipped.gz", flipped)); }, {"flipped.gz"});
    expect_refusal([&] { read_matrix(folder.write("sum.gz", bad_sum)); }, {"sum.gz", "incorrect data check"});
    expect_refusal([&] { read_matrix(folder.write("tail.gz", packed + "junk")); }, {"tail.gz", "4 bytes follow"});
    expect_refusal([&] { read_matrix(folder.write("magic.gz", "\x1f\x8b")); }, {"magic.gz", "breaks off"});
    for (std::size_t size = 2; size < packed.size(); size += 97)
        expect_refusal([&] { unpack_gzip(packed.substr(0, size), "x"); }, {"breaks off"});
    const auto small = gzip(std::string(1 << 20, ' '));  // takes several pieces, and more bytes lie behind the cut
    std::string_view cut = small;
    cut.remove_suffix(small.size() / 2);
    expect_refusal([&] { unpack_gzip(cut, "x"); }, {"breaks off at byte " + std::to_string(cut.size())});
}

TEST(MatrixMarketFile, IsWrittenWholeOrNotAtAll)
{
    const TempFolder folder;
    const auto       A = random_matrix(300, 300, 9, 1);
    for (const char* name : {"a.mtx", "a.mtx.gz"}) {
        const auto path = folder.write(name, "old");
        {
            AtomicFile unfinished(path);
            unfinished.write("half of it");
        }
        EXPECT_EQ(read_bytes(path), "old");
        write_matrix(path, A);
        EXPECT_TRUE(identical(read_matrix(path), A));
    }
    EXPECT_EQ(folder.entries(), 2U);
    EXPECT_EQ(read_bytes(folder.file("a.mtx.gz")).substr(0, 2), "\x1f\x8b");
    EXPECT_LT(read_bytes(folder.file("a.mtx.gz")).size(), read_bytes(folder.file("a.mtx")).size());
    const auto nothing =
        CsrMatrix<double>::from_triplets(2, 2, std::vector<Index>{1}, std::vector<Index>{0}, std::vector<double>{1});
    expect_refusal([&] { write_matrix(folder.file("b.mtx"), nothing, {.symmetry = Symmetry::symmetric}); },
                   {"not symmetric"});
    EXPECT_EQ(folder.entries(), 2U) << "a refused write left something behind";
}

TEST(MatrixMarketFile, ThatCannotBeWrittenIsNamedWithTheReason)
{
    const TempFolder folder;
    const auto       A = random_matrix(300, 300, 300, 1);  // more than any buffer on the way
    expect_refusal([&] { write_matrix(folder.file("no/such/folder/a.mtx"), A); },
                   {"cannot write", "no/such/folder/a.mtx", "No such file"});
    expect_refusal([&] { write_matrix(folder.path().string(), A); }, {folder.path().string(), "Is a directory"});
    expect_refusal([&] { write_vector("/dev/full", A.val()); }, {"/dev/full", "No space left"});
    expect_refusal([&] { write_matrix("/dev/full", CsrMatrix<double>::identity(1)); }, {"/dev/full", "No space left"});
    EXPECT_EQ(folder.entries(), 0U);
    if (geteuid() != 0) {
        const auto locked = folder.write("locked.mtx", "old");
        ASSERT_EQ(chmod(locked.c_str(), 0400), 0);
        expect_refusal([&] { write_matrix(locked, A); }, {"locked.mtx", "Permission denied"});
        EXPECT_EQ(read_bytes(locked), "old");
    }
}

TEST(MatrixMarketFile, KeepsSymbolicLinksAndGivesOrdinaryPermissions)
{
    const TempFolder folder;
    const auto       target = folder.write("target.mtx", "old"), link = folder.file("link.mtx");
    std::filesystem::create_symlink(target, link);
    write_vector(link, std::vector<double>{1, 2});
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(read_bytes(target), "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
    const auto plain = folder.write("plain", "x");
    EXPECT_EQ(std::filesystem::status(target).permissions(), std::filesystem::status(plain).permissions());
}

TEST(MatrixMarketFile, SaysSoWhenMemoryRunsOutAnywhere)
{
    const TempFolder folder;
    const auto       A = random_matrix(3000, 3000, 5, 1);
    const auto       path = folder.write("t.mtx.gz", gzip(matrix_text(A)));
    EXPECT_GE(fail_each_allocation([&] { read_matrix(path, {.threads = 1}); }), 5);
    EXPECT_GE(fail_each_allocation([&] { write_matrix(folder.file("out.mtx"), A); }), 3);
    EXPECT_EQ(folder.entries(), 2U) << "a failed write left something behind";
    EXPECT_TRUE(identical(read_matrix(folder.file("out.mtx")), A));
}

TEST(TextFile, APipeThatNobodyWritesToIsGivenUp)
{
    const TempFolder folder;
    const auto       path = folder.file("silent");
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    std::atomic<int> asked;
    EXPECT_THROW(TextFile(path, test::stop_at(3, asked)), Cancelled);
}

TEST(TextFile, ASignalDoesNotEndThePatienceWithAPipe)
{
    const TempFolder folder;
    const auto       path = folder.file("late");
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    struct sigaction ignored {
    }, former{};
    ignored.sa_handler = [](int) {};
    sigaction(SIGUSR1, &ignored, &former);
    const pthread_t reader = pthread_self();
    std::thread     writer([&] {
        for (int k = 0; k < 20; ++k) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            pthread_kill(reader, SIGUSR1);
        }
        std::ofstream(path) << "at last";
    });
    const TextFile  file(path);
    const int still = open(path.c_str(), O_RDONLY | O_NONBLOCK);  // the writer ends also where nobody reads any more
    writer.join();
    close(still);
    sigaction(SIGUSR1, &former, nullptr);
    EXPECT_EQ(file.view(), "at last");
}

TEST(TextFile, APipeIsReadToItsEndBetweenQuestions)
{
    const TempFolder folder;
    const auto       path = folder.file("slow");
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    std::thread      writer([&] {
        std::ofstream out(path);
        for (int k = 0; k < 5; ++k) {
            out << k << std::flush;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    });
    std::atomic<int> asked;
    const TextFile   file(path, test::stop_at(0, asked));
    writer.join();
    EXPECT_EQ(file.view(), "01234");
    EXPECT_GE(asked, 2);
}

}  // namespace
}  // namespace ilux::test
