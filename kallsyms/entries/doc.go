// Package entries knows the addresses inside functions that are reached in
// ways the function itself does not show. Behind a probe's jump there must be
// none of them.
//
// The host finds them in the linked kernel ([Find], [Defers]), packs them
// ([Encode]) and carries them in the image next to the symbol table (package
// internal/image); the kernel reads them with [Kernel]. They are:
//
//   - targets of direct branches and calls from other functions, as assembly
//     may have them (older Go called into the middle of runtime.duffzero);
//   - addresses that other functions compute with LEA and may jump to
//     (runtime.gosave_systemstack_switch does so);
//   - the points where a function goes on after recover, which only pclntab
//     knows;
//   - runtime.goexit+1, the return address at the bottom of every goroutine's
//     stack, which the runtime computes by addition.
//
// # What is not looked for
//
// Addresses in data: Go's data holds function entries and, in read-only data,
// jump tables, which only their own function uses and which the safety check
// reads there. Of 2,050 words in the data of the test kernel that are addresses
// of code, no other is inside a function but by chance, as a number.
//
// Immediate operands: neither the compiler nor the assembler loads an address
// of code that way, and numbers of this size are common.
//
// Return addresses: the safety check sees the calls.
//
// # The table
//
// All numbers little-endian, n = number of addresses:
//
//	header  16 bytes  magic, n, 0
//	address 4n bytes  ascending; the kernel is below 4 GB
//
// Rejected: finding them in the kernel at boot. It would decode all of the
// text each time to find what never changes.
package entries
