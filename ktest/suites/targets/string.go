package targets

// String instructions. A repeated one traps after every round when stepped,
// and is still one instruction: one hit.

func repMovsb()
func repStosq()
func repeCmpsb()
func repneScasb()
func repDown()
func lodsb()

var lengths = []func(*State){
	func(s *State) { s.CX = 4 },
	func(s *State) { s.CX = 0 },
	func(s *State) { s.CX = 1 },
	func(s *State) { s.CX = 64 },
}

func init() {
	add(
		Shape{f: repMovsb, vary: lengths, want: func(in *State) uint64 {
			return map[uint64]uint64{0: 0x2020202020202020, 1: 0x2020202020202000, 4: 0x2020202000000000, 64: 0}[in.CX]
		}},
		Shape{f: repStosq, want: is(0x77 + 0x2424242424242424)},
		Shape{f: repeCmpsb, want: is(3)},
		Shape{f: repneScasb, want: is(64 - 9)},
		Shape{f: repDown, want: is(0x0202020202020202)},
		Shape{f: lodsb, want: is(1)},
	)
}
