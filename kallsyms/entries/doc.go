// Package entries lists the addresses inside functions that are reached in ways that the
// function's own code does not show. A probe's jump must not cover one of them, except with
// its first byte.
//
// The host finds them in the linked kernel ([Find], and pcln.Table.Recovers), packs them
// ([Encode]) and carries them in the image next to the symbol table (package
// internal/image); the kernel reads them with [Kernel]. They are:
//
//   - targets of direct branches and calls from other functions, as assembly may have them (older Go
//     called into the middle of runtime.duffzero);
//   - addresses that other functions compute with LEA and may jump to
//     (runtime.gosave_systemstack_switch does so);
//   - the points where a function continues after recover, which only pclntab knows;
//   - runtime.goexit+1, the return address at the bottom of every goroutine's stack, which the runtime
//     computes by addition.
//
// # What is not looked for
//
// Addresses in data: Go's data has function entries and, in read-only data, jump tables,
// which only their own function uses; the safety check reads them there. In the test
// kernel, 2,050 words of data are addresses of code; no other of them is inside a function
// except by coincidence, as a number.
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
//	address 4n bytes  ascending; extended by their sign
//
// Rejected: finding them in the kernel at boot. It would decode all of the text each time
// to find what never changes.
package entries
