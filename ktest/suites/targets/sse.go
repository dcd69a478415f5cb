package targets

// SSE and x87. Handlers use the same registers.

func movupsRIP()
func paddRIP()
func pshufdRIP()
func storeupsRIP()
func convert()
func compare()
func x15()
func mxcsr()
func x87()

func init() {
	add(
		Shape{f: movupsRIP, want: is(0x0101010101010101)},
		Shape{f: paddRIP, want: is(0x0202020202020205)},
		Shape{f: pshufdRIP, want: is(0x0303030303030303)},
		Shape{f: storeupsRIP, want: is(0x5756555453525150)},
		Shape{f: convert, want: is(6)},
		Shape{f: compare, want: is(1)},
		Shape{f: x15, want: is(0xf7f6f5f4f3f2f1f0)},
		Shape{f: mxcsr, want: is(0x1f80)},
		Shape{f: x87, want: is(2)},
	)
}
