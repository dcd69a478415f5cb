package targets

// Jumps, calls and returns. A call must leave the address after the original
// on the stack, not one in a copy: callee reports what it finds there in R11.

func callee()
func jmpShort()
func jmpLong()
func jmpBack()
func jmpReg()
func jmpMem()
func jmpIndexed()
func jmpSP()
func callRel()
func callNext()
func callReg()
func callR12()
func callMem()
func callRIP()
func callIndexed()
func callSP()
func ret()
func retImm()
func repRet()
func loop()
func loopEqual()
func loopNotEqual()
func jrcxz()
func jecxz()

// counters are inputs that differ in CX: as loops have it, and as jecxz and
// jrcxz tell apart.
var counters = []func(*State){
	func(s *State) { s.CX = 4 },
	func(s *State) { s.CX = 1 },
	func(s *State) { s.CX = 7 },
}

var zeros = []func(*State){
	func(s *State) { s.CX = 0 },
	func(s *State) { s.CX = 1 },
	func(s *State) { s.CX = 1 << 32 },
}

// viaCallee is what callee leaves in AX.
const viaCallee = 3 + 100

func init() {
	add(
		Shape{f: jmpShort, want: is(2)},
		Shape{f: jmpLong, want: is(2)},
		Shape{f: jmpBack, want: is(7)},
		Shape{f: jmpReg, want: is(viaCallee)},
		Shape{f: jmpMem, want: is(viaCallee)},
		Shape{f: jmpIndexed, want: is(viaCallee)},
		Shape{f: jmpSP, want: is(viaCallee)},
		Shape{f: callRel, want: is(viaCallee + 1)},
		Shape{f: callNext, want: is(5)},
		Shape{f: callReg, want: is(viaCallee + 1)},
		Shape{f: callR12, want: is(viaCallee + 1)},
		Shape{f: callMem, want: is(viaCallee + 1)},
		Shape{f: callRIP, want: is(viaCallee + 1)},
		Shape{f: callIndexed, want: is(viaCallee + 1)},
		Shape{f: callSP, want: is(viaCallee + 1)},
		Shape{f: ret, want: unchanged},
		Shape{f: retImm, want: is(0)},
		Shape{f: repRet, want: unchanged},
		Shape{f: loop, vary: counters, want: func(in *State) uint64 { return in.CX * (in.CX + 1) / 2 }},
		Shape{f: loopEqual, vary: counters, want: func(in *State) uint64 { return in.CX }},
		Shape{f: loopNotEqual, vary: counters, want: func(in *State) uint64 { return min(in.CX, 2) }},
		Shape{f: jrcxz, vary: zeros, want: func(in *State) uint64 { return 1 + b2i(in.CX == 0) }},
		Shape{f: jecxz, vary: zeros, want: func(in *State) uint64 { return 1 + b2i(uint32(in.CX) == 0) }},
	)
}

func b2i(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
