// A library to preload: lets a program believe that this processor has AMX with bf16 and bytes, and
// computes its instructions in software, so that what is written for it runs on any machine with
// AVX512-BF16. Products of bytes need no AVX-512, so they run on machines with AVX2 too; where
// these lack VNNI, they believe to have AVX-VNNI, whose vpdpbusd is computed as well. See
// emulated_amx.sh, which starts programs so.
//
// Such instructions raise SIGILL on processors without; the handler does what the instruction
// would, up to rounding, and goes on after it. `cpuid` and `xgetbv` do not fault, so the ones that
// EMULATED_AMX_SITES lists (lines of: "program" or the path of a library, offset in hexadecimal,
// instruction) are overwritten with `ud2`, which does. Linux's permission for tiles is granted by a
// `syscall` of our own. At its end the program says how many products of tiles there were; with
// EMULATED_AMX_MUST_MULTIPLY it ends with 99 if none was its own, or (unless that is "own") none
// that of other code, such as oneDNN makes while it runs. If that is "bytes", the program's own
// must be of tiles of bytes and of vectors.
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kTiles = 8, kRows = 16, kWords = 16;
using Tile = std::array<std::array<uint32_t, kWords>, kRows>;

// The shapes as LDTILECFG reads them.
struct Shapes {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(Shapes) == 64);

struct TileState {
  Shapes shapes;
  std::array<Tile, kTiles> tiles;
};
thread_local TileState state;

enum class Query : uint8_t { kCpuid, kXgetbv };
struct Site {
  const uint8_t* at;
  Query query;
};
std::array<Site, 256> sites;
size_t site_count = 0;

struct Range {
  uintptr_t begin, end;
};
Range program{};
std::atomic<long> products_of_program = 0, products_of_others = 0;
std::atomic<long> products_of_bytes = 0;    // in tiles
std::atomic<long> products_of_vectors = 0;  // in vectors, of bytes too

// What was wrong and the instruction; ends the program.
[[noreturn]] void Stop(const char* what, const uint8_t* instruction) {
  std::array<char, 200> text;
  int length = std::snprintf(text.data(), text.size(), "emulated_amx: %s:", what);
  for (int i = 0; i < 12; ++i) {
    length += std::snprintf(text.data() + length, text.size() - static_cast<size_t>(length),
                            " %02x", instruction[i]);
  }
  text[static_cast<size_t>(length++)] = '\n';
  [[maybe_unused]] const auto written = ::write(2, text.data(), static_cast<size_t>(length));
  ::_exit(99);
}

// --- Questions about the processor ---------------------------------------------------------------

bool HasAvx512Vnni() {
  uint32_t a = 7, b = 0, c = 0, d = 0;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return (c >> 11 & 1U) != 0;
}

void AnswerCpuid(greg_t* registers) {
  const auto leaf = static_cast<uint32_t>(registers[REG_RAX]);
  const auto part = static_cast<uint32_t>(registers[REG_RCX]);
  uint32_t a = leaf, b = 0, c = part, d = 0;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if (leaf == 0) a = std::max(a, 0x1EU);  // the highest leaf
  // AMX-BF16, -TILE and -INT8; and AVX512-FP16, without which oneDNN 3 does not use AMX. Every
  // processor with AMX has it; nothing that is tested multiplies in fp16.
  if (leaf == 7 && part == 0) {
    a = std::max(a, 1U);  // the last part
    d |= 1U << 22 | 1U << 24 | 1U << 25 | 1U << 23;
  }
  if (leaf == 7 && part == 1 && !HasAvx512Vnni()) a |= 1U << 4;  // AVX-VNNI
  if (leaf == 0x1D && part == 0) a = 1, b = c = d = 0;           // palettes
  if (leaf == 0x1D && part == 1) a = 8192 | 1024U << 16, b = 64 | 8U << 16, c = 16, d = 0;
  if (leaf == 0x1E) a = c = d = 0, b = 16 | 64U << 8;  // largest depth and row of a product
  registers[REG_RAX] = a;
  registers[REG_RBX] = b;
  registers[REG_RCX] = c;
  registers[REG_RDX] = d;
  registers[REG_RIP] += 2;
}

void AnswerXgetbv(greg_t* registers) {
  uint32_t a = 0, d = 0;
  __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(static_cast<uint32_t>(registers[REG_RCX])));
  registers[REG_RAX] = a | 1U << 17 | 1U << 18;  // Linux saves tiles and their shapes
  registers[REG_RDX] = d;
  registers[REG_RIP] += 3;
}

bool Answered(greg_t* registers) {
  const auto* at = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
  for (size_t i = 0; i < site_count; ++i) {
    if (sites[i].at != at) continue;
    sites[i].query == Query::kCpuid ? AnswerCpuid(registers) : AnswerXgetbv(registers);
    return true;
  }
  return false;
}

// --- Instructions --------------------------------------------------------------------------------

// An instruction with a three-byte VEX prefix of the map 0F38, to which all of AMX and AVX-VNNI
// belong.
struct Instruction {
  const uint8_t* start;
  const uint8_t* next;
  int prefix;  // 0: none, 1: 66, 2: F3, 3: F2
  bool wide;   // vectors of 256 bits
  uint8_t operation;
  int third;  // the register in the prefix
  int first;  // and the two after the operation; `second` only without memory
  int second;
  bool memory, indexed;
  uint8_t* address;  // without the index
  uintptr_t index;   // scaled
};

greg_t Register(const greg_t* registers, int number) {
  constexpr int kNames[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return registers[kNames[number]];
}

Instruction Decode(const greg_t* registers) {
  const auto* at = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
  if (at[0] != 0xC4 || (at[1] & 0x1F) != 2 || (at[2] & 0x80) != 0) Stop("not emulated", at);
  Instruction found{};
  found.start = at;
  found.prefix = at[2] & 3;
  found.wide = (at[2] & 4) != 0;
  found.third = ~at[2] >> 3 & 15;
  found.operation = at[3];
  const int high_index = at[1] & 0x40 ? 0 : 8, high_base = at[1] & 0x20 ? 0 : 8;
  const int mode = at[4] >> 6, low = at[4] & 7;
  found.first = (at[4] >> 3 & 7) | (at[1] & 0x80 ? 0 : 8);
  found.second = low | high_base;
  found.memory = mode != 3;
  found.next = at + 5;
  if (!found.memory) return found;
  int base = low | high_base;
  bool has_base = !(low == 5 && mode == 0);
  const bool from_next = !has_base;
  if (low == 4) {
    const uint8_t scaled = *found.next++;
    base = (scaled & 7) | high_base;
    has_base = !((scaled & 7) == 5 && mode == 0);
    const int index = (scaled >> 3 & 7) | high_index;
    found.indexed = index != 4;  // 4 would be the stack's register, and says that there is none
    if (found.indexed) {
      found.index = static_cast<uintptr_t>(Register(registers, index)) << (scaled >> 6);
    }
  }
  int64_t distance = 0;
  if (mode == 1) {
    distance = static_cast<int8_t>(*found.next++);
  } else if (mode == 2 || !has_base) {
    int32_t wide = 0;
    std::memcpy(&wide, found.next, 4);
    distance = wide;
    found.next += 4;
  }
  const auto origin = from_next  ? reinterpret_cast<greg_t>(found.next)
                      : has_base ? Register(registers, base)
                                 : 0;
  found.address = reinterpret_cast<uint8_t*>(origin + distance);
  return found;
}

// A tile that has a shape.
Tile& TileOf(const Instruction& of, int number) {
  if (number >= kTiles || state.shapes.rows[number] == 0) Stop("no such tile", of.start);
  return state.tiles[static_cast<size_t>(number)];
}

void Configure(const Instruction& of) {
  Shapes shapes;
  std::memcpy(&shapes, of.address + of.index, sizeof shapes);
  if (shapes.palette > 1 || shapes.start_row != 0) Stop("palette or row not supported", of.start);
  for (const uint8_t byte : shapes.reserved) {
    if (byte != 0) Stop("reserved byte set", of.start);
  }
  for (int i = 0; i < 16; ++i) {
    const bool none = shapes.rows[i] == 0;
    if (shapes.rows[i] > kRows || shapes.row_bytes[i] > 4 * kWords ||
        shapes.row_bytes[i] % 4 != 0 || none != (shapes.row_bytes[i] == 0) ||
        (i >= kTiles && !none)) {
      Stop("shape not supported", of.start);
    }
  }
  state = {};
  if (shapes.palette == 1) state.shapes = shapes;
}

// Numbers below 2^-126 count as 0.
float HighHalf(uint32_t word) {
  const uint32_t bits = word & 0xFFFF0000U;
  return std::bit_cast<float>((bits & 0x7F800000U) != 0 ? bits : bits & 0x80000000U);
}

// Replaces each word of the sum by plus(word, word of A, word of B) for all of the depth.
template <typename Plus>
void ForTerms(const Instruction& of, const Plus& plus) {
  Tile& sum = TileOf(of, of.first);
  const Tile& a = TileOf(of, of.second);
  const Tile& b = TileOf(of, of.third);
  const Shapes& shapes = state.shapes;
  const size_t rows = shapes.rows[of.first], columns = shapes.row_bytes[of.first] / 4U;
  const size_t depth = shapes.rows[of.third];
  if (&sum == &a || &sum == &b || &a == &b || shapes.rows[of.second] != rows ||
      shapes.row_bytes[of.second] / 4U != depth || shapes.row_bytes[of.third] / 4U != columns) {
    Stop("tiles do not fit each other", of.start);
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t k = 0; k < depth; ++k) {
      for (size_t c = 0; c < columns; ++c) sum[r][c] = plus(sum[r][c], a[r][k], b[k][c]);
    }
  }
}

void AddProduct(const Instruction& of) {
  ForTerms(of, [](uint32_t sum, uint32_t a, uint32_t b) {
    float total = std::bit_cast<float>(sum);
    total += HighHalf(a << 16) * HighHalf(b << 16);
    total += HighHalf(a) * HighHalf(b);
    return std::bit_cast<uint32_t>(total);
  });
}

// A word of four unsigned bytes times one of signed bytes, added up.
uint32_t PlusProductOfBytes(uint32_t sum, uint32_t a, uint32_t b) {
  for (int shift = 0; shift < 32; shift += 8) {
    sum += static_cast<uint32_t>(static_cast<uint8_t>(a >> shift) *
                                 static_cast<int8_t>(static_cast<uint8_t>(b >> shift)));
  }
  return sum;
}

void AddProductOfBytes(const Instruction& of) {
  ForTerms(of, [](uint32_t sum, uint32_t a, uint32_t b) { return PlusProductOfBytes(sum, a, b); });
}

// The words of the vector registers at the signal. The kernel stores the upper halves at the
// place that processors give them in XSAVE's format, and leaves them out while all are 0.
class Vectors {
 public:
  Vectors(fpregset_t saved, const uint8_t* instruction) : low_(saved->_xmm[0].element) {
    constexpr uint32_t kMagic = 0x46505853;  // FP_XSTATE_MAGIC1
    constexpr int kMagicAt = 464, kPartsAt = 512, kHighAt = 576, kAllHigh = 256;
    auto* bytes = reinterpret_cast<uint8_t*>(saved);
    uint32_t magic = 0;
    std::memcpy(&magic, bytes + kMagicAt, sizeof magic);
    if (magic != kMagic) Stop("no vectors of 256 bits", instruction);
    uint64_t parts = 0;
    std::memcpy(&parts, bytes + kPartsAt, sizeof parts);
    if ((parts & 4U) == 0) std::memset(bytes + kHighAt, 0, kAllHigh);
    parts |= 6U;
    std::memcpy(bytes + kPartsAt, &parts, sizeof parts);
    high_ = reinterpret_cast<uint32_t*>(bytes + kHighAt);
  }
  uint32_t& Word(int number, int word) const {
    return word < 4 ? low_[4 * number + word] : high_[4 * number + word - 4];
  }

 private:
  uint32_t* low_;
  uint32_t* high_;
};

void AddProductOfVectors(const Instruction& of, fpregset_t saved) {
  const Vectors vectors(saved, of.start);
  for (int word = 0; word < 8; ++word) {
    uint32_t& sum = vectors.Word(of.first, word);
    sum = PlusProductOfBytes(sum, vectors.Word(of.third, word), vectors.Word(of.second, word));
  }
}

// Rows lie as far apart as the index register says.
void MoveTile(const Instruction& of, bool load) {
  if (!of.indexed) Stop("no distance between rows", of.start);
  Tile& tile = TileOf(of, of.first);
  const size_t bytes = state.shapes.row_bytes[of.first];
  if (load) tile = {};
  for (size_t r = 0; r < state.shapes.rows[of.first]; ++r) {
    uint8_t* row = of.address + r * of.index;
    load ? std::memcpy(tile[r].data(), row, bytes) : std::memcpy(row, tile[r].data(), bytes);
  }
}

void Count(const Instruction& product) {
  const auto at = reinterpret_cast<uintptr_t>(product.start);
  ++(program.begin <= at && at < program.end ? products_of_program : products_of_others);
}

void OnIllegalInstruction(int /*signal*/, siginfo_t* /*info*/, void* context) {
  mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  greg_t* registers = machine.gregs;
  if (Answered(registers)) return;
  const Instruction found = Decode(registers);
  const auto is = [&found](uint8_t operation, int prefix, bool memory) {
    return found.operation == operation && found.prefix == prefix && found.memory == memory &&
           !found.wide;
  };
  if (is(0x49, 0, true) && found.first == 0) {
    Configure(found);  // ldtilecfg
  } else if (is(0x49, 0, false) && found.first == 0 && found.second == 0) {
    state = {};  // tilerelease
  } else if (is(0x49, 1, true) && found.first == 0) {
    std::memcpy(found.address + found.index, &state.shapes, sizeof state.shapes);  // sttilecfg
  } else if (is(0x49, 3, false)) {
    TileOf(found, found.first) = {};  // tilezero
  } else if (is(0x4B, 3, true) || is(0x4B, 1, true)) {
    MoveTile(found, true);  // tileloadd, tileloaddt1
  } else if (is(0x4B, 2, true)) {
    MoveTile(found, false);  // tilestored
  } else if (is(0x5C, 2, false)) {
    AddProduct(found);  // tdpbf16ps
    Count(found);
  } else if (is(0x5E, 1, false)) {
    AddProductOfBytes(found);  // tdpbusd
    Count(found);
    ++products_of_bytes;
  } else if (found.operation == 0x50 && found.prefix == 1 && !found.memory && found.wide) {
    AddProductOfVectors(found, machine.fpregs);  // vpdpbusd
    ++products_of_vectors;
  } else {
    Stop("not emulated", found.start);
  }
  registers[REG_RIP] = reinterpret_cast<greg_t>(found.next);
}

// --- Start and end -------------------------------------------------------------------------------

struct WantedSite {
  std::array<char, 512> object;
  unsigned long offset;
  std::array<char, 16> instruction;
};
std::array<WantedSite, 256> wanted;
size_t wanted_count = 0;

int PatchObject(dl_phdr_info* object, size_t /*size*/, void* /*unused*/) {
  const bool is_program = object->dlpi_name == nullptr || *object->dlpi_name == '\0';
  const char* name = is_program ? "program" : object->dlpi_name;
  for (size_t i = 0; is_program && i < object->dlpi_phnum && program.begin == 0; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    program = {object->dlpi_addr + part.p_vaddr, object->dlpi_addr + part.p_vaddr + part.p_memsz};
  }
  for (size_t i = 0; i < wanted_count; ++i) {
    const WantedSite& site = wanted[i];
    if (std::strcmp(name, site.object.data()) != 0) continue;
    auto* at = reinterpret_cast<uint8_t*>(object->dlpi_addr + site.offset);
    const Query query =
        std::strcmp(site.instruction.data(), "xgetbv") == 0 ? Query::kXgetbv : Query::kCpuid;
    if (at[0] != 0x0F || at[1] != (query == Query::kCpuid ? 0xA2 : 0x01)) {
      Stop("the list of sites is of another file", at);
    }
    auto* page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(at + 1) / 4096 * 4096);
    if (::mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) Stop("no permission", at);
    at[1] = 0x0B;  // ud2
    ::mprotect(page, 4096, PROT_READ | PROT_EXEC);
    sites[site_count++] = {at, query};
  }
  return 0;
}

// Runs before all other libraries, some of which ask at once what the processor is; the C library's
// own environment is not there yet either.
__attribute__((constructor)) void Start(int /*argc*/, char** /*argv*/, char** environment) {
  constexpr const char kVariable[] = "EMULATED_AMX_SITES=";
  for (; *environment != nullptr; ++environment) {
    if (std::strncmp(*environment, kVariable, sizeof kVariable - 1) != 0) continue;
    std::FILE* file = std::fopen(*environment + sizeof kVariable - 1, "r");
    if (file == nullptr) Stop("no list of sites", reinterpret_cast<const uint8_t*>(kVariable));
    WantedSite site;
    while (wanted_count < wanted.size() &&
           std::fscanf(file, "%511s %lx %15s", site.object.data(), &site.offset,
                       site.instruction.data()) == 3) {
      wanted[wanted_count++] = site;
    }
    std::fclose(file);
    struct sigaction action {};
    action.sa_sigaction = OnIllegalInstruction;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    ::sigaction(SIGILL, &action, nullptr);
    ::dl_iterate_phdr(PatchObject, nullptr);
    if (site_count == 0 || site_count != wanted_count || site_count == sites.size()) {
      Stop("not every site of the list was found", reinterpret_cast<const uint8_t*>(kVariable));
    }
  }
}

__attribute__((destructor)) void End() {
  const long own = products_of_program, others = products_of_others;
  std::fprintf(stderr, "emulated_amx: products of tiles: %ld of the program, %ld of other code\n",
               own, others);
  const long bytes = products_of_bytes, vectors = products_of_vectors;
  std::fprintf(stderr, "emulated_amx: of bytes: %ld of tiles, %ld of vectors\n", bytes, vectors);
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* must = std::getenv("EMULATED_AMX_MUST_MULTIPLY");
  if (must != nullptr && std::strcmp(must, "bytes") == 0) {
    if (bytes == 0 || vectors == 0) ::_exit(99);
    return;
  }
  if (must != nullptr && (own == 0 || (others == 0 && std::strcmp(must, "own") != 0))) ::_exit(99);
}

}  // namespace

// The C library's, but for the questions about permission for tiles.
extern "C" long syscall(long number, ...) noexcept {
  constexpr long kGetPermission = 0x1022, kRequestPermission = 0x1023, kTileData = 18;
  std::va_list list;
  va_start(list, number);
  std::array<long, 6> with;
  for (long& argument : with) argument = va_arg(list, long);
  va_end(list);
  if (number == SYS_arch_prctl && with[0] == kRequestPermission && with[1] == kTileData) return 0;
  if (number == SYS_arch_prctl && with[0] == kGetPermission) {
    *reinterpret_cast<uint64_t*>(with[1]) = 0x600E7;  // everything up to tiles
    return 0;
  }
  register long fourth __asm__("r10") = with[3];
  register long fifth __asm__("r8") = with[4];
  register long sixth __asm__("r9") = with[5];
  long result = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(with[0]), "S"(with[1]), "d"(with[2]), "r"(fourth), "r"(fifth),
                     "r"(sixth)
                   : "rcx", "r11", "memory");
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}
