package targets

// Loads and stores, above all those relative to RIP, whose displacement a copy
// must correct. An immediate after the displacement moves RIP along.

func loadRIP()
func storeRIP()
func storeImmRIP()
func storeByteRIP()
func leaRIP()
func cmpRIP()
func addRIP()
func incRIP()
func shiftRIP()
func imulRIP()
func movzxRIP()
func xchgRIP()
func pushRIP()
func popRIP()
func movAbs()
func sib()
func negativeDisp()
func fsLoad()
func pushKinds()
func pushSP()
func popSP()
func popMemSP()
func push16()
func enterLeave()
func enterNested()

func init() {
	add(
		Shape{f: loadRIP, want: is(0x0101010101010101)},
		Shape{f: storeRIP, want: is(3)},
		Shape{f: storeImmRIP, want: is(0x1234567)},
		Shape{f: storeByteRIP, want: is(0x080808080808085a)},
		Shape{f: leaRIP, want: is(24)},
		Shape{f: cmpRIP, want: is(1)},
		Shape{f: addRIP, want: is(0x0202020202020205)},
		Shape{f: incRIP, want: is(0x0202020202020203)},
		Shape{f: shiftRIP, want: is(0x2020202020202020)},
		Shape{f: imulRIP, want: is(0x0707070707070707)},
		Shape{f: movzxRIP, want: is(1)},
		Shape{f: xchgRIP, want: is(0x0202020202020202)},
		Shape{f: pushRIP, want: is(0x0202020202020202)},
		Shape{f: popRIP, want: is(3)},
		Shape{f: movAbs, want: is(0x123456789abcdef0)},
		Shape{f: sib, want: is(0x0505050505050505)},
		Shape{f: negativeDisp, want: is(0x1f1f1f1f1f1f1f1f)},
		Shape{f: fsLoad, want: is(1)},
		Shape{f: pushKinds, want: is(5 + 0x12345 + 0x0101010101010101)},
		Shape{f: pushSP, want: is(0)},
		Shape{f: popSP, want: is(0)},
		Shape{f: popMemSP, want: is(4)},
		Shape{f: push16, want: is(0x7788)},
		Shape{f: enterLeave, want: is(0x20)},
		Shape{f: enterNested, want: is(0x10)},
	)
}
