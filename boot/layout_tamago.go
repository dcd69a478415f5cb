//go:build tamago

package main

import (
	"io"

	"sonde/arch/amd64"
	"sonde/arch/amd64/phys"
	"sonde/internal/exitcode"
	"sonde/kernel/mm"
	"sonde/kernel/vfs/ctl"
)

// Addresses in memory: physical ones, and the virtual ones of the regions in layout.
const (
	imagePA      = 64 << 20            // where the loader puts the image
	kernelBase   = 0xffffffff_80000000 // plus the physical address: the image and what it must reach
	directBase   = phys.DirectBase     // plus the physical address: in boot's tables 4 GiB
	upper        = 0xffff8100_00000000
	lowEnd       = 1 << 20
	leastRAM     = 94 << 20 // what firmware leaves of 96 MiB; with less, its own data might lie over the image
	devices      = 1<<32 - 32<<20
	devicesEnd   = 1 << 32
	aliasBase    = upper + 640<<30
	screenBase   = upper + 672<<30
	windowBase   = upper + 680<<30
	consoleBase  = upper + 684<<30
	registerBase = upper + 688<<30
	recorderBase = upper + 696<<30
	modulesBase  = upper + 704<<30
	heapBase     = 0xffffffc0_00000000
	hugePage     = 2 << 20
	pageSize     = 4096
	nearEnd      = 1 << 31 // the image can reach addresses below
	bootMapped   = 1 << 32 // entry_amd64.s maps the addresses below
	tablesBytes  = 1 << 20 // space for page tables: enough to map 64 GiB
)

// layout is the address space. Programs have the lower half, and tables of their own, which share the
// upper half (linux/usermode); in the kernel's own tables nothing is in the lower one. Traps' stacks
// are below those of goroutines, which are in the heap: gdb wants a caller's frame above.
var layout = [...]mm.Region{
	{Start: directBase, End: upper, Rights: "rw-", Linear: true, Use: "the first MiB (firmware's; start-up of further CPUs); traps' stacks; devices below 4 GiB, uncached"},
	{Start: aliasBase, End: screenBase, Rights: "rw-", Linear: true, Use: "text and slots again: kernel/text writes here"},
	{Start: screenBase, End: windowBase, Rights: "rw-", Use: "the screen, if there is one, write-combining"},
	{Start: windowBase, End: consoleBase, Rights: "rw-", Use: "a page of physical memory that is being inspected, uncached (kernel/inspect)"},
	{Start: consoleBase, End: registerBase, Rights: "rw-", Use: "registers of serial ports that are in memory, uncached"},
	{Start: registerBase, End: recorderBase, Rights: "rw-", Use: "registers of PCI devices that have a driver, uncached (kernel/pci)"},
	{Start: recorderBase, End: modulesBase, Rights: "rw-", Use: "the flight recorder, write-combining"},
	{Start: modulesBase, End: heapBase, Rights: "r--", Linear: true, Use: "what the loader has loaded beside the image (an initramfs)"},
	{Start: heapBase, End: kernelBase, Rights: "rw-", Use: "the heap: all other memory"},
	{Start: kernelBase, End: 1<<64 - 1, Linear: true, Use: "the image: text r-x, rodata and symbols r--, data rw-; page tables and IDT, rw-; trap stubs, slots, detours and compiled programs, r-x"},
}

// Messages of refuse_amd64.s when entry_amd64.s cannot continue, and the launcher's exit port.
var (
	noBasics   = refusal + "the processor lacks TSC, MSR, PAE, APIC, PGE, FXSR, SSE or SSE2\r\n"
	noLongMode = refusal + "the processor has no 64-bit mode\r\n"
	noNX       = refusal + "the processor has no NX, so data could be executed\r\n"
	noEntry    = refusal + "it was entered in 64-bit mode, but has only 32-bit entries, for PVH and Multiboot2\r\n"
	noLoader   = refusal + "the loader is not a Multiboot2 loader\r\n"
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
	bootTables [8 * pageSize]byte
	bootStack  [bootStackSize]byte
	bootG      [64]uintptr
	bootTLS    [2]uintptr
	bootIDT    [32 * 16]byte
	bootIDTR   [10]byte
	bootGDT    = [3]uint64{0, 0x00af9b000000ffff, 0x00cf93000000ffff}
	bootGDTR   [10]byte
	kernelCR3  uint32
	mxcsr      uint32 = amd64.MXCSR
)

// writeLayout prints a line for each region: where it begins, the last address, its rights, "---" if they differ
// within it, and its use.
func writeLayout(w io.Writer) {
	for _, r := range layout {
		rights := r.Rights
		if rights == "" {
			rights = "---"
		}
		ctl.Line(w, "%016x-%016x %s %s", r.Start, (r.End-1)|(pageSize-1), rights, r.Use)
	}
}
