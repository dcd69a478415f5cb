package runtime

// What a goroutine in ring 3 has in the processor besides its program's general registers,
// and how long it has had one.
//
// Why it is here: the kernel leaves the x87's registers alone, so a program's stay in them
// while its goroutine keeps its CPU, and only the scheduler knows when it does not. The same
// moments begin and end the time for which a program's thread is charged.

import "unsafe"

// SondeUser is that of one goroutine. It begins at a multiple of 16.
type SondeUser struct {
	Left uint64 // the TSC when it left ring 3; time without a CPU is added, so that it is left out
	off  uint64 // the TSC when the goroutine lost its CPU
	Live uint32 // not 0: the x87's registers have what X87 has not
	_    [3]uint32
	X87  [512]byte // as FXSAVE stores it; only the x87's part counts
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

// SondeSaveX87 stores the x87's registers, if they are u's. The caller is u's goroutine.
//
//go:nosplit
func SondeSaveX87(u *SondeUser) {
	if u.Live != 0 {
		sondeFXSave(unsafe.Pointer(&u.X87))
		u.Live = 0
	}
}

func sondeFXSave(to unsafe.Pointer)

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
