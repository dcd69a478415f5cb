//go:build tamago

package cpu

// One instruction each; the name says which.
//
// Context: any.
func Rdtsc() uint64
func Pause()
func Serialize()
func CPUID(leaf, sub uint32) (a, b, c, d uint32)
func ReadCR2() uint64
func ReadCR3() uint64
func ReadCR4() uint64
func WriteCR3(v uint64)
func Invlpg(va uintptr)
func Wbinvd()
func In8(port uint16) uint8
func In16(port uint16) uint16
func In32(port uint16) uint32
func Out8(port uint16, v uint8)
func Out16(port uint16, v uint16)
func Out32(port uint16, v uint32)
func WriteMMIO8(addr uintptr, v uint8)
func ReadMMIO32(addr uintptr) uint32
func WriteMMIO32(addr uintptr, v uint32)

// fence waits until all stores are done.
func fence()

// HaltForever stops this CPU for good.
func HaltForever()

// IRQOff turns interrupts off and returns the flags for IRQRestore.
func IRQOff() (flags uint64)

// IRQRestore turns interrupts on again if flags say so.
func IRQRestore(flags uint64)

// haltOnce waits for an interrupt, takes it, and leaves interrupts off.
func haltOnce()

// haltAt returns the address of haltOnce's HLT.
func haltAt() uintptr
