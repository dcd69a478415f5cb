//go:build tamago

package main

import (
	"sonde/arch/amd64"
	"sonde/internal/exitcode"
)

// The address space, lowest first. Everything is mapped at its physical address,
// except the heap, which is one range whatever holes the machine's memory has.
//
//	0                 nothing: nil dereferences fault
//	4 KiB .. 1 MiB    firmware's; start-up of further CPUs
//	64 MiB            the image: text r-x, rodata r--, data rw-
//	behind it         page tables, traps' stacks and tables: anywhere below 2 GiB if there is no room
//	                  probe slots and detours, r-x, likewise: near enough to text for a 32-bit displacement
//	4 GiB - 32 MiB    device registers, uncached
//	640 GiB           text and slots again, rw-: kernel/text writes here
//	672 GiB           the screen, if there is one, write-combining
//	680 GiB           a page of physical memory that somebody looks at (kernel/inspect), uncached
//	684 GiB           registers of serial ports that are in memory, uncached
//	696 GiB           the flight recorder's memory, write-combining
//	704 GiB + address what the loader has loaded beside the image (an initramfs), r--
//	768 GiB           the heap: all other memory, rw-
//
// User programs have tables of their own, which hold all this but what is below 1 MiB,
// for the supervisor only (kernel/usermode). The usual 0x400000 is free there: the image
// lies above any of reasonable size.
const (
	imageBase    = 64 << 20 // the address for which internal/image links it
	lowEnd       = 1 << 20
	leastRAM     = 94 << 20 // what firmware leaves of 96 MiB; with less, its own data might lie over the image
	devices      = 1<<32 - 32<<20
	devicesEnd   = 1 << 32
	aliasBase    = 640 << 30
	screenBase   = 672 << 30
	consoleBase  = 684 << 30
	recorderBase = 696 << 30
	modulesBase  = 704 << 30
	heapBase     = 768 << 30
	hugePage     = 2 << 20
	pageSize     = 4096
	nearEnd      = 1 << 31 // the image can reach addresses below
	bootMapped   = 1 << 32 // entry_amd64.s maps the addresses below
	tablesBytes  = 1 << 20 // space for page tables: enough to map 64 GiB
)

// Messages of refuse_amd64.s when entry_amd64.s cannot continue, and the launcher's exit port.
var (
	noBasics   = refusal + "the processor lacks TSC, MSR, PAE, APIC, PGE, FXSR, SSE or SSE2\r\n"
	noLongMode = refusal + "the processor has no 64-bit mode\r\n"
	noNX       = refusal + "the processor has no NX, so data could be executed\r\n"
	noEntry    = refusal + "it was entered in 64-bit mode, and knows the 32-bit entries for PVH and Multiboot2 only\r\n"
	noLoader   = refusal + "the loader says that it is none for Multiboot2\r\n"
)

const (
	refusal    = "sonde: boot failed: "
	crashPort  = exitcode.Port
	crashValue = exitcode.Crash
)

// viaMultiboot is added to the address of the loader's information, which is even, if that is
// Multiboot2's boot information.
const viaMultiboot = 1

// Memory that entry_amd64.s uses before there is any other.
const bootStackSize = 256 << 10

var (
	bootTables [7 * pageSize]byte
	bootStack  [bootStackSize]byte
	bootG      [64]uintptr
	bootTLS    [2]uintptr
	bootIDT    [32 * 16]byte
	bootIDTR   [10]byte
	bootGDT    = [3]uint64{0, 0x00af9b000000ffff, 0x00cf93000000ffff}
	kernelCR3  uint32
	mxcsr      uint32 = amd64.MXCSR
)
