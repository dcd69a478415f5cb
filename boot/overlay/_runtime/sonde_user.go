package runtime

// What a goroutine in ring 3 has in the processor besides its program's general registers,
// and how long it has had one.
//
// Why it is here: the kernel leaves alone the x87's registers and the upper halves of AVX's, so a
// program's stay in them while its goroutine keeps its CPU, and only the scheduler knows when it
// does not. The same
// moments begin and end the time for which a program's thread is charged.

import (
	"internal/abi"
	"unsafe"
)

// SondeUser is that of one goroutine. It begins at a multiple of 64.
type SondeUser struct {
	Left uint64 // the TSC when it left ring 3; time without a CPU is added, so that it is left out
	off  uint64 // the TSC when the goroutine lost its CPU
	Live uint32 // not 0: the registers have what X87 has not
	_    [11]uint32
	X87  [832]byte // as FXSAVE or XSAVE stores it; what it says of XMM registers does not count
}

// Where in a g its SondeUser is, and in that the rest, in bytes.
const SondeUserOff = unsafe.Offsetof(g{}.sondeUser)

// SondeSetUser says what the calling goroutine has in ring 3.
func SondeSetUser(u *SondeUser) {
	gp := getg()
	if old := (*SondeUser)(gp.sondeUser); old != nil {
		SondeSaveX87(old)
	}
	gp.sondeUser = unsafe.Pointer(u)
}

// SondeSaveX87 stores the registers of the x87 and the upper halves of AVX's, if they are u's. The caller is u's goroutine.
//
//go:nosplit
func SondeSaveX87(u *SondeUser) {
	if u.Live != 0 {
		sondeFXSave(unsafe.Pointer(&u.X87))
		u.Live = 0
	}
}

// sondeFXSave stores by FXSAVE, or by XSAVE if that has been written in its place.
func sondeFXSave(to unsafe.Pointer)

// SondeFXSave returns the address of sondeFXSave.
func SondeFXSave() uintptr { return abi.FuncPCABIInternal(sondeFXSave) }

// sondeOff is called when gp loses its CPU, and sondeOn when it has one again, which may be
// another.
//
//go:nosplit
//go:nowritebarrierrec
func sondeOff(gp *g) {
	if u := (*SondeUser)(gp.sondeUser); u != nil {
		SondeSaveX87(u)
		u.off = uint64(cputicks())
	}
}

//go:nosplit
//go:nowritebarrierrec
func sondeOn(gp *g) {
	if u := (*SondeUser)(gp.sondeUser); u != nil {
		u.Left += uint64(cputicks()) - u.off
	}
}
