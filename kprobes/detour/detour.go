// Package detour describes what the jump of an optimized probe leads to. A detour begins
// with a copy of a template, assembly of package kprobes that calls handlers, followed by a
// copy of what the jump replaces, which package optprobe makes.
package detour

import (
	"sonde/kprobes/machine"
	"sonde/sysctl"
)

// Size is how much memory a detour gets, in bytes. None is on two pages.
const Size = machine.DetourSize

// MaxLen bounds Detour.Len, in bytes.
const MaxLen = 32

// A Detour is where the jump of a point leads, made by package optprobe.
type Detour struct {
	Addr   uintptr  // the probed address
	Head   uintptr  // of the detour, in detour memory
	Entry  uintptr  // what the jump leads to
	Resume uintptr  // where the copy begins
	Len    uintptr  // bytes from Addr on that the jump replaces or the copy executes
	Begins Template // what it begins with

	// Code that has the handler in it, from Slow to Past: package fuse. It is entered at Fused; 0: there is none, and Why
	// is the reason. For is the *Kprobe whose handler that is. It is in front of Resume, or in a piece of detour memory of
	// its own, Apart.
	Slow  uintptr
	Fused uintptr
	Past  uintptr
	Apart uintptr // 0: there is none
	For   any
	Why   error
	End   uintptr // after all of it
	// Original returns where the instruction at ip, in the detour, belongs.
	// Context: any.
	Original func(ip uintptr) uintptr
	// Depth returns how many words the code at ip, in the detour, has pushed: what the handler's code saves, or a return
	// address. Context: any.
	Depth func(ip uintptr) int

	Point   any     // kept for CPUs still on their way to its handlers
	PointAt uintptr // where its address stands in the detour; by Fill
}

// Contains reports whether ip is in the memory that d has.
//
// Context: any.
func (d *Detour) Contains(ip uintptr) bool {
	return ip-d.Head < Size || d.Apart != 0 && ip-d.Apart < Size
}

// A Stub is the code of an INT3 that has the handler in it: package fuse. It is in detour memory.
type Stub struct {
	Head  uintptr
	Len   int     // bytes; 0: there is none, and Why is the reason
	For   any     // the *Kprobe whose handler it is
	Leads uintptr // where the place's own code continues
	Why   error
}

// A Template is what a detour begins with (kprobes/detour_amd64.s).
type Template uint8

// The templates.
const (
	Call    Template = iota // calls the handler of the place's probe, or of what is in place of several
	Note                    // notes the call for a lone return probe, and calls Go for others
	CallsGo                 // calls Go
)

// Plain has detours that are made from now on, and return probes registered from
// now on, decide nothing in assembly: what mirrors a Go function elsewhere only
// moves registers and calls that function.
var Plain = sysctl.NewBool("debug.kprobes-plain", false,
	"let new detours only save and restore registers, and do the rest in Go")

// Fusing has programs compiled into detours.
var Fusing = sysctl.NewBool("debug.kprobes-fused", true,
	"put small programs into the detours of their places, where no call is needed")
