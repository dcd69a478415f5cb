// Package handoff has the information that a loader gives the kernel: the memory map, the command
// line, the ACPI tables, the modules, the screen. The rest of boot reads an Info and does not know
// which loader filled it in. Each boot protocol has its own package: boot/pvh, boot/multiboot2.
//
// It runs before the Go runtime does: it does not allocate, and an Info is a variable of the caller
// because the boot stack is small.
package handoff

// Capacity of an Info; a command line of MaxCmdline bytes or more is cut.
const (
	MaxCmdline = 4096
	MaxRegions = 64
	MaxModules = 4
)

// Type is the kind of a Region, numbered as in E820.
type Type uint32

const (
	RAM Type = 1 + iota
	Reserved
	ACPI // tables, RAM after they have been read
	NVS
	Unusable
	Disabled
	PMEM
)

// String returns Linux's name for such memory.
func (t Type) String() string {
	if t < Type(len(typeNames)) && typeNames[t] != "" {
		return typeNames[t]
	}
	return "Reserved"
}

var typeNames = [...]string{RAM: "System RAM", ACPI: "ACPI Tables", NVS: "ACPI Non-volatile Storage", Unusable: "Unusable memory", PMEM: "Persistent Memory"}

// Span is Len bytes at physical address PA.
type Span struct{ PA, Len uint64 }

// Region is a Span of the memory map.
type Region struct {
	Span
	Type Type
}

// Info is the loader's information. Cmdline and Modules lie in memory that is RAM in the Map: the
// code that allocates pages must leave them out (and the ACPI tables).
//
// Data that does not fit is left out, and Truncated is set; a page that is not in Map is not used
// as RAM, so a truncated map is still safe.
type Info struct {
	Cmdline   Span
	RSDP      uint64 // 0 if the loader gave none
	EFI       uint64 // EFI's system table; 0 on a machine with a BIOS
	Modules   [MaxModules]Span
	NModules  int
	Map       [MaxRegions]Region // sorted, no overlaps, adjacent regions of a type merged
	NMap      int
	Truncated bool // more regions, modules or command line than fit

	Framebuffer Framebuffer
}

// Picture is the kind of a Framebuffer, numbered as in Multiboot2.
type Picture uint8

const (
	Indexed Picture = iota // pixels are numbers of colours
	Pixels
	Text // two bytes a character, as in VGA text mode
)

// Framebuffer is the screen's memory; with Width 0 there is none. Width and Height are in pixels,
// or in characters for Text; Pitch is in bytes from one row to the next. Red, Green and Blue are
// the bits of a pixel for each colour.
type Framebuffer struct {
	PA                   uint64
	Pitch, Width, Height uint32
	Bits                 uint8 // of a pixel
	Kind                 Picture
	Red, Green, Blue     Field
}

// Field is bits of a pixel: the lowest one, and how many.
type Field struct{ At, Bits uint8 }

// AddModule appends a module.
func (out *Info) AddModule(m Span) {
	if out.NModules == MaxModules {
		out.Truncated = true
		return
	}
	out.Modules[out.NModules] = m
	out.NModules++
}
