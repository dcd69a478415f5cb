// Package kallsyms maps kernel addresses to symbols and names back to addresses.
//
// The host tool reads the linked ELF file, encodes its symbols into one flat
// blob and appends that blob to the image as a read-only segment (package
// internal/image). The kernel maps it at boot, checks it once with Load, and
// from then on reads it in place: a lookup by address is a binary search over
// plain bytes that never allocates, so the trap handlers may call it.
//
// The blob, all numbers little-endian, n = number of symbols:
//
//	header   32 bytes   magic, version, n, length of names, total length
//	address  8n bytes   ascending; several symbols may share an address
//	entry    12n bytes  name offset, size, name length, type letter, flags
//	by name  4n bytes   symbol numbers in the order of their names
//	names               the bytes of all names, no separators
//
// Rejected: Linux's token compression of names (it would save about 300 KB of
// an image that has megabytes to spare, and then no name could be handed out
// without copying); a Go map (allocates, cannot be read from trap context);
// using pclntab alone (it has no data symbols, no sizes of assembly functions,
// and finding a function by name means walking all of it).
//
// Names are the linker's: "sonde/kernel/vfs.(*File).Read", "runtime.memmove",
// "internal/cpu.cpuid.abi0". Resolve spares users the path.
package kallsyms
