// Package vdso gives programs functions that tell the time, and the number of their CPU, without a
// system call: an ELF shared object of one page, which is mapped into each program, with a page of
// data in front of it. The auxiliary vector has its address (AT_SYSINFO_EHDR). The C library and
// Go look up the functions there by name and version, as on Linux.
//
// The functions are Go assembly (code_amd64.s), linked into the kernel as any; Object takes their
// bytes from there and makes the file around them. So there is no other compiler and no binary file
// in the repository.
//
// # The data
//
// The clock is the TSC: cpu.Nanotime multiplies its ticks by a factor that is measured once at
// boot. The functions do the same with the same numbers, so they agree with the system calls to the
// nanosecond. The wall clock is the same count plus an offset, which is also set once, before the
// first program runs: nothing can set the time here. So the data never changes, and needs no
// sequence counter, as Linux's does. A call that sets the time would have to add one.
//
// An offset below 0 means that the function makes the system call: for clocks that only the kernel
// knows, such as CPU time, and for all where the data is not filled in.
//
// # What a program can do to it
//
// Both pages are mapped privately. A program that makes them writable and changes them gets copies
// of its own, as does one in which a probe is placed. It may move them, both together, or unmap
// them: then its calls go wrong, and no other program's.
//
// Source: Linux, vdso(7); Documentation/ABI/stable/vdso; System V ABI, "Dynamic Linking" and
// "Symbol Versioning" (LSB).
package vdso
