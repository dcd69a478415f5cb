//go:build tamago

package targets

import (
	"sonde/arch/amd64"
	"sonde/kernel/cpu"
)

// What only a kernel may do, and what no probe may be set on.

func cliSti()
func cliPopf()
func portImm()
func portDX()
func repOutsb()
func controlRegs()
func readMSR()
func invalidate()
func gsLoad()
func callFS()
func callGS()
func jmpGS()
func int3()
func int90()
func spin()
func refused()
func data()

func init() {
	features = func() []string { return amd64.Features(cpu.CPUID) }
	add(
		Shape{f: cliSti, want: is(2)},
		Shape{f: cliPopf, want: is(1)},
		Shape{f: portImm},
		Shape{f: portDX},
		Shape{f: repOutsb, want: is(0)},
		Shape{f: controlRegs},
		Shape{f: readMSR},
		Shape{f: invalidate, want: unchanged},
		Shape{f: gsLoad, want: is(1)},
		Shape{f: callFS, want: is(viaCallee + 1)},
		Shape{f: callGS, want: is(viaCallee + 1)},
		Shape{f: jmpGS, want: is(viaCallee)},
	)
	for _, s := range []*Shape{&Int3, &Int90, &Spin, &Refused, &Data} {
		s.Entry, s.Name = entry(s.f), nameOf(s.f)
	}
}

// Shapes that are not probed, so not in the list.
var (
	Int3    = Shape{f: int3, want: unchanged}  // an int3 that is no probe's
	Int90   = Shape{f: int90, want: unchanged} // interrupt 0x90, for cases that set a handler
	Spin    = Shape{f: spin, want: is(0)}      // half a millisecond or so with every register in use
	Refused = Shape{f: refused}                // is never run: nothing in it can be probed but its RET
	Data    = Shape{f: data}                   // is never run: not all of it is code
)

// RaiseInt90 is interrupt 0x90, for code that is no Shape.
//
// Context: any.
func RaiseInt90()

// RaiseMachineCheck is interrupt 18, which arrives as a machine check does.
//
// Context: any.
func RaiseMachineCheck()

// Clobber changes all registers a function may, X0-X15 among them: for handlers
// by which a case shows that they are saved.
//
// Context: any.
func Clobber()
