#include "back_end/load.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "back_end/interface.h"
#include "back_end/library_file.h"
#include "back_end/table.h"
#include "base/error.h"
#include "tensor/core/back_end/device_functions.h"
#include "tensor/core/back_end/missing_back_end.h"

namespace tandem::back_end {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName = "libtandem-torch.so";

fs::path FolderOfProgram() { return fs::read_symlink("/proc/self/exe").parent_path(); }

// TANDEM_PLUG_IN_FOLDER leads from the folder of an installation's programs to that of its plug-in.
fs::path FolderOfLibraries() {
  return (FolderOfProgram() / TANDEM_PLUG_IN_FOLDER).lexically_normal();
}

// The path in TANDEM_BACK_END; none: it is not set, or empty.
std::optional<fs::path> GivenPath() {
  const char* given = std::getenv("TANDEM_BACK_END");  // NOLINT(concurrency-mt-unsafe)
  if (given == nullptr || *given == '\0') return std::nullopt;
  return fs::absolute(given);
}

fs::path RequirePlugIn() {
  if (const std::optional<fs::path> found = FindPlugIn()) return *found;
  const std::string missed = fmt::format("{} is neither in {} nor in {}", kName,
                                         FolderOfProgram().native(), FolderOfLibraries().native());
  throw tensor::MissingBackEnd(
      fmt::format(
          "this needs Tandem's back end for GPUs and for several processes, and {}: "
          "install the package tandem-torch, or build with -DTANDEM_WITH_TORCH=ON (for "
          "GPUs with -DTANDEM_WITH_CUDA=ON, docs/building.md); TANDEM_BACK_END may name it, "
          "too",
          missed),
      missed);
}

// What to do about a file that cannot be the plug-in.
std::string_view AnotherFile() {
  return GivenPath().has_value() ? "mend TANDEM_BACK_END or install tandem-torch anew"
                                 : "install tandem-torch anew";
}

void CheckFile(const fs::path& path) {
  const LibraryFile file = LookAtLibrary(path);
  switch (file.kind) {
    case LibraryFile::Kind::kNotThere: {
      const std::string missed =
          GivenPath().has_value()
              ? fmt::format("TANDEM_BACK_END names {}, which is not there", path.native())
              : fmt::format("{} is not there", path.native());
      throw tensor::MissingBackEnd(fmt::format("{}: {}", missed, AnotherFile()), missed);
    }
    case LibraryFile::Kind::kNoLibrary:
      throw UsageError(fmt::format("{}: is no shared library: {}", path.native(), AnotherFile()));
    case LibraryFile::Kind::kCutShort:
      throw UsageError(fmt::format("{}: is cut short ({} of {} bytes): install tandem-torch anew",
                                   path.native(), file.bytes, file.whole_bytes));
    case LibraryFile::Kind::kLibrary:
      break;
  }
}

// What the dynamic linker says of the last call.
std::string Reason() {
  const char* reason = ::dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread
  return reason == nullptr ? "no reason is known" : reason;
}

// What to do where the dynamic linker refuses a file. It names the file that a reason is about
// first: the plug-in itself (`own`), or a library that it needs. Empty: nothing is known.
std::string_view AdviceFor(std::string_view reason, bool own) {
  // The plug-in's symbols are the program's, of the same build; all others are libtorch's.
  if (reason.find("undefined symbol") != std::string_view::npos) {
    return "it was built with another version of tandem or of libtorch: install tandem, "
           "tandem-torch and libtorch as they belong together";
  }
  if (own) return AnotherFile();
  if (reason.find("cannot open shared object file") != std::string_view::npos) {
    return "install the libtorch that it was built with (Debian: the packages that tandem-torch "
           "depends on; else PyPI's torch in the folder where it was then)";
  }
  return "";
}

void* Open(const fs::path& path) {
  CheckFile(path);
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const std::string reason = Reason();
  const std::string prefix = path.native() + ": ";
  const bool own = reason.starts_with(prefix);
  const std::string_view advice = AdviceFor(reason, own);
  throw UsageError(fmt::format("{} cannot be loaded: {}{}{}", path.native(),
                               own ? reason.substr(prefix.size()) : reason,
                               advice.empty() ? "" : "; ", advice));
}

const Table& TableOf(void* library, const fs::path& path) {
  using Entry = const Table* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, "TandemBackEnd"));
  if (entry == nullptr) {
    throw UsageError(
        fmt::format("{} is no back end of Tandem: it has no TandemBackEnd", path.native()));
  }
  return *entry();
}

}  // namespace

std::optional<fs::path> FindPlugIn() {
  if (std::optional<fs::path> given = GivenPath()) return given;
  for (const fs::path& folder : {FolderOfProgram(), FolderOfLibraries()}) {
    std::error_code error;  // a folder that it may not look into has none for it
    if (fs::exists(folder / kName, error)) return folder / kName;
  }
  return std::nullopt;
}

void LoadPlugIn() {
  const fs::path path = RequirePlugIn();
  const Table& table = TableOf(Open(path), path);
  if (table.version != kBackEndVersion) {
    throw UsageError(
        fmt::format("{} is a back end of version {}, and this tandem takes version {}: install "
                    "tandem and tandem-torch of one version",
                    path.native(), table.version, kBackEndVersion));
  }
  if (std::string_view(table.release) != TANDEM_VERSION) {
    throw UsageError(
        fmt::format("{} belongs to tandem {}, and this is tandem {}: install tandem and "
                    "tandem-torch of one version",
                    path.native(), table.release, TANDEM_VERSION));
  }
  if (std::string_view(table.interface) != kInterface) {
    throw UsageError(fmt::format(
        "{} and this tandem were built from different sources of tandem {}: build both, or "
        "install tandem and tandem-torch, from one",
        path.native(), TANDEM_VERSION));
  }
  table.use();
}

void UsePlugIn() { tensor::SetBackEndLoader(LoadPlugIn); }

}  // namespace tandem::back_end
