// Package acpi reads the few static ACPI tables that a kernel needs: those with the CPUs
// and interrupt controllers (MADT), the clocks (PM timer, HPET), and the ways to reset and
// power off (FADT, \_S5_).
//
// It is a reader, not an interpreter: it only scans AML for the one package that power-off
// needs. It runs before the Go runtime does, so it does not allocate and fills a variable
// of the caller. Firmware is not trusted: every table is checked for its checksum and for
// lying inside memory, fields beyond its length read as zero, and every loop is bounded by
// that length.
//
// Without ACPI the result is the zero Info, in which nothing is Found; it can be used as it
// is.
//
// Source: ACPI Specification 6.5, chapter 5 "ACPI Software Programming Model".
package acpi

import "sonde/arch/amd64/phys"

// Info is what the tables say.
type Info struct {
	Found     bool  // the RSDP and a root table are good
	Rev       uint8 // of the RSDP: 0 is ACPI 1.0
	Root      uint64
	Wide      bool // Root is the address of an XSDT, not of an RSDT
	BadTables int  // tables left out: wrong checksum or length
	MADT      MADT
	FADT      FADT
	HPET      HPET
	SPCR      SPCR
	S5        S5
}

// HPET is the High Precision Event Timer's table.
type HPET struct {
	Found bool
	Base  Register
}

// Code says how Parse ended.
type Code uint8

const (
	OK Code = iota
	NoRSDP
	NoRoot
)

// String returns the reason in words.
func (c Code) String() string {
	return [...]string{OK: "ok", NoRSDP: "no valid RSDP", NoRoot: "no valid RSDT or XSDT"}[c]
}

// Table signatures as little-endian words.
const (
	sigRSDP = 0x2052545020445352 // "RSD PTR "
	sigRSDT = 0x54445352
	sigXSDT = 0x54445358
	sigAPIC = 0x43495041
	sigFACP = 0x50434146
	sigHPET = 0x54455048
	sigSPCR = 0x52435053
	sigDSDT = 0x54445344
	sigSSDT = 0x54445353
)

const maxRoot = 1024 // entries of the root table looked at

// Parse reads the tables to which the RSDP at physical address rsdp leads into out.
// Of tables that should exist once, the first good one counts.
//
// Errors: NoRSDP, NoRoot; out.Found is then false.
func Parse(mem phys.Mem, rsdp uint64, out *Info) Code {
	*out = Info{}
	if rsdp == 0 || mem.Read64(rsdp) != sigRSDP || !sumOK(mem, rsdp, 20) {
		return NoRSDP
	}
	out.Rev = mem.Read8(rsdp + 15)
	root, width := findRoot(mem, rsdp, out)
	if root.len == 0 {
		return NoRoot
	}
	out.Found, out.Root, out.Wide = true, root.pa, width == 8
	out.walk(root, width, false)
	if out.FADT.DSDT != 0 {
		if t, ok := open(mem, out.FADT.DSDT); ok && t.sig() == sigDSDT {
			out.S5.scan(t)
		} else {
			out.BadTables++
		}
	}
	if !out.S5.Found {
		out.walk(root, width, true) // some boards keep it in an SSDT
	}
	return OK
}

// findRoot prefers the XSDT; a damaged one, or a damaged second half of the
// RSDP, leaves the RSDT.
func findRoot(mem phys.Mem, rsdp uint64, out *Info) (root table, width uint64) {
	if out.Rev >= 2 {
		if n := uint64(mem.Read32(rsdp + 20)); n >= 36 && n <= 4096 && sumOK(mem, rsdp, n) {
			if t, ok := open(mem, mem.Read64(rsdp+24)); ok && t.sig() == sigXSDT {
				return t, 8
			}
		}
		out.BadTables++
	}
	if t, ok := open(mem, uint64(mem.Read32(rsdp+16))); ok && t.sig() == sigRSDT {
		return t, 4
	}
	return table{}, 0
}

// walk reads the tables that root lists: the SSDTs or the others. Tables this
// package has no use for are not even checked.
func (out *Info) walk(root table, width uint64, ssdt bool) {
	for off, n := uint64(headSize), 0; off+width <= root.len && n < maxRoot; off, n = off+width, n+1 {
		pa := uint64(root.u32(off))
		if width == 8 {
			pa = root.u64(off)
		}
		if pa == 0 {
			continue // page 0 may be unmapped
		}
		sig := root.mem.Read32(pa)
		if (sig == sigSSDT) != ssdt || sig != sigAPIC && sig != sigFACP && sig != sigHPET && sig != sigSPCR && !ssdt {
			continue
		}
		t, ok := open(root.mem, pa)
		if !ok {
			out.BadTables++
			continue
		}
		switch sig {
		case sigAPIC:
			out.MADT.parse(t)
		case sigFACP:
			out.FADT.parse(t)
		case sigHPET:
			out.HPET.parse(t)
		case sigSPCR:
			out.SPCR.parse(t)
		case sigSSDT:
			out.S5.scan(t)
		}
	}
}

func (h *HPET) parse(t table) {
	if h.Found || t.len < 56 {
		return
	}
	h.Found = true
	h.Base = t.reg(40)
}
