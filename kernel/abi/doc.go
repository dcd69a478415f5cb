// Package abi has what Linux programs for x86-64 and their kernel agree on: the numbers of
// flags and the layout of structures in memory. It has no behaviour and imports nothing of
// the kernel.
//
// A structure here has Linux's size, offsets and padding, and no pointers, so that Bytes
// gives what a program sees.
//
// Source: System V ABI, AMD64 supplement, "Data Representation"; man pages,
// section 2. The tests compare with the host's headers.
package abi
