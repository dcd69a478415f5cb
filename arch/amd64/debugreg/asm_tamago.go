//go:build tamago

package debugreg

// One instruction each. Context: any.

func ReadDR6() uint64
func WriteDR6(v uint64)
func ReadDR7() uint64
func WriteDR7(v uint64)

func writeDR0(v uint64)
func writeDR1(v uint64)
func writeDR2(v uint64)
func writeDR3(v uint64)

// Load makes this CPU watch exactly what addr and dr7 say, and clears DR6.
//
// Context: any, with interrupts off.
func Load(addr *[Num]uint64, dr7 uint64) {
	WriteDR7(DR7_FIXED) // first, so that no old kind is applied to a new address
	writeDR0(addr[0])
	writeDR1(addr[1])
	writeDR2(addr[2])
	writeDR3(addr[3])
	WriteDR6(DR6_FIXED)
	WriteDR7(dr7)
}
