package targets

// Conditions: each is tried with every combination of the flags it can depend
// on, as a jump near and far, and as set and move.

func jcc8Overflow()
func jcc8NoOverflow()
func jcc8Below()
func jcc8NotBelow()
func jcc8Equal()
func jcc8NotEqual()
func jcc8BelowEqual()
func jcc8Above()
func jcc8Sign()
func jcc8NoSign()
func jcc8Parity()
func jcc8NoParity()
func jcc8Less()
func jcc8NotLess()
func jcc8LessEqual()
func jcc8Greater()

func jcc32Overflow()
func jcc32NoOverflow()
func jcc32Below()
func jcc32NotBelow()
func jcc32Equal()
func jcc32NotEqual()
func jcc32BelowEqual()
func jcc32Above()
func jcc32Sign()
func jcc32NoSign()
func jcc32Parity()
func jcc32NoParity()
func jcc32Less()
func jcc32NotLess()
func jcc32LessEqual()
func jcc32Greater()

func condOverflow()
func condNoOverflow()
func condBelow()
func condNotBelow()
func condEqual()
func condNotEqual()
func condBelowEqual()
func condAbove()
func condSign()
func condNoSign()
func condParity()
func condNoParity()
func condLess()
func condNotLess()
func condLessEqual()
func condGreater()

// conditions has the functions by the condition's number in the opcode.
var conditions = [16]struct{ near, far, set func() }{
	{jcc8Overflow, jcc32Overflow, condOverflow},
	{jcc8NoOverflow, jcc32NoOverflow, condNoOverflow},
	{jcc8Below, jcc32Below, condBelow},
	{jcc8NotBelow, jcc32NotBelow, condNotBelow},
	{jcc8Equal, jcc32Equal, condEqual},
	{jcc8NotEqual, jcc32NotEqual, condNotEqual},
	{jcc8BelowEqual, jcc32BelowEqual, condBelowEqual},
	{jcc8Above, jcc32Above, condAbove},
	{jcc8Sign, jcc32Sign, condSign},
	{jcc8NoSign, jcc32NoSign, condNoSign},
	{jcc8Parity, jcc32Parity, condParity},
	{jcc8NoParity, jcc32NoParity, condNoParity},
	{jcc8Less, jcc32Less, condLess},
	{jcc8NotLess, jcc32NotLess, condNotLess},
	{jcc8LessEqual, jcc32LessEqual, condLessEqual},
	{jcc8Greater, jcc32Greater, condGreater},
}

const (
	flagCF = 1 << 0
	flagPF = 1 << 2
	flagZF = 1 << 6
	flagSF = 1 << 7
	flagOF = 1 << 11
)

// allFlags are the inputs that differ in the flags that conditions look at.
var allFlags []func(*State)

func init() {
	for i := range 32 {
		var flags uint64
		for bit, f := range [...]uint64{flagCF, flagPF, flagZF, flagSF, flagOF} {
			if i>>bit&1 != 0 {
				flags |= f
			}
		}
		allFlags = append(allFlags, func(s *State) { s.Flags |= flags })
	}
	for cc, c := range conditions {
		taken := func(in *State) uint64 {
			if holds(cc, in.Flags) {
				return 2
			}
			return 1
		}
		set := func(in *State) uint64 {
			if holds(cc, in.Flags) {
				return 1 + in.BX
			}
			return 0
		}
		add(Shape{f: c.near, want: taken, vary: allFlags},
			Shape{f: c.far, want: taken, vary: allFlags},
			Shape{f: c.set, want: set, vary: allFlags})
	}
}

// holds is the manual's table of conditions, on purpose not the kernel's own.
//
// Source: Intel SDM vol. 1, "EFLAGS Condition Codes".
func holds(cc int, flags uint64) bool {
	cf, pf, zf := flags&flagCF != 0, flags&flagPF != 0, flags&flagZF != 0
	sf, of := flags&flagSF != 0, flags&flagOF != 0
	v := [8]bool{of, cf, zf, cf || zf, sf, pf, sf != of, zf || sf != of}[cc/2]
	return v != (cc%2 == 1)
}
