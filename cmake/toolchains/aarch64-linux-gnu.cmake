# For arm64, by Debian's cross compiler (g++-aarch64-linux-gnu), with Debian's libraries of that
# architecture beside this machine's own (dpkg --add-architecture arm64). Tests run under QEMU's emulation
# (qemu-user), in which the dynamic linker finds these libraries in /usr/lib/aarch64-linux-gnu, as on an
# arm64 machine.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# One of the first processors of arm64 (ARMv8.0): what later ones have is an illegal instruction.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu cortex-a72)
