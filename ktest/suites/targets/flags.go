package targets

// Instructions that move or change the flags. Where a probe single-steps, the
// CPU's own TF and IF are not the program's.

func pushf()
func popf()
func popfOwn()
func lahfSahf()
func carry()
func carryChain()
func direction()

const statusFlags = 0xcd5 // CF PF AF ZF SF OF DF

func init() {
	add(
		Shape{f: pushf, vary: allFlags, want: func(in *State) uint64 { return in.Flags & (statusFlags | flagIF) }},
		Shape{f: popf, want: is(0xad7)},
		Shape{f: popfOwn, vary: allFlags, want: func(in *State) uint64 { return in.Flags & (statusFlags | flagIF) }},
		Shape{f: lahfSahf, needs: "lahf_lm", want: is(0xd701)},
		Shape{f: carry, want: is(3)},
		Shape{f: carryChain, want: is(1)},
		Shape{f: direction, want: is(0x1f1f1f1f1f1f1f1f)},
	)
}
