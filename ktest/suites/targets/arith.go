package targets

// Arithmetic, atomics, bits, and what does nothing.

func shiftImm()
func shiftCL()
func shiftDouble()
func rotate()
func multiply()
func divide()
func divideSigned()
func signExtend()
func byteSwap()
func bitScan()
func translate()
func bitTest()
func bitTestFar()
func lockBitSet()
func lockXadd()
func lockCmpxchg()
func cmpxchgFails()
func lockCmpxchg16()
func lockIncRIP()
func xchgMem()
func nops()
func fences()
func cpuid()
func rdtsc()

func init() {
	add(
		Shape{f: shiftImm, want: is(0x300)},
		Shape{f: shiftCL, want: is(0x30)},
		Shape{f: shiftDouble, want: is(0x31)},
		Shape{f: rotate, want: is(0x2233445566778811)},
		Shape{f: multiply, want: is(12)},
		Shape{f: divide, want: is(33)},
		Shape{f: divideSigned, want: is(1<<64 - 33)},
		Shape{f: signExtend, want: is(1<<64 - 5)},
		Shape{f: byteSwap, want: is(0x8877665544332211)},
		Shape{f: bitScan, want: is(2)},
		Shape{f: translate, want: is(1)},
		Shape{f: bitTest, want: is(1)},
		Shape{f: bitTestFar, want: is(1)},
		Shape{f: lockBitSet, want: is(0x0101010101010121)},
		Shape{f: lockXadd, want: is(0x0101010101010104 + 0x0101010101010101)},
		Shape{f: lockCmpxchg, want: is(3)},
		Shape{f: cmpxchgFails, want: is(0x0101010101010101)},
		Shape{f: lockCmpxchg16, needs: "cx16", want: is(4)},
		Shape{f: lockIncRIP, want: is(0x0101010101010102)},
		Shape{f: xchgMem, want: is(3)},
		Shape{f: nops, want: unchanged},
		Shape{f: fences, want: unchanged},
		Shape{f: cpuid},
		Shape{f: rdtsc, want: is(1)},
	)
}
