package program

// Trap context. The calls of a process, by the pointers to frames in its memory.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/probe/attach"
)

// userStack stores where the process is that was hit, and which calls led there, and returns how many.
func userStack(hit *attach.Hit, cpu int, pcs []uintptr) int {
	if kind := hit.Place.Site.Kind; kind == attach.Program || kind == attach.Call {
		return framesOf(hit, cpu, hit.Regs, atEntry(hit), pcs)
	}
	if r := userRegs(hit, cpu); r != nil {
		return framesOf(hit, cpu, r, false, pcs)
	}
	return 0
}

// atEntry reports whether a function of a process is entered, which has no frame then.
func atEntry(hit *attach.Hit) bool {
	s := hit.Place.Site
	return s.Kind == attach.Program && s.Symbol != "" && s.Offset == 0 && !hit.Returns
}

// framesOf follows the frames from registers on. It ends where a frame does not lie above the one before.
func framesOf(hit *attach.Hit, cpu int, r *amd64.Regs, entry bool, pcs []uintptr) int {
	if len(pcs) == 0 {
		return 0
	}
	pcs[0] = uintptr(r.IP)
	n, frame := 1, uintptr(r.BP)
	pair := (*[2]uintptr)(unsafe.Pointer(&scratch[cpu].piece))
	if entry && n < len(pcs) && peek(hit, cpu, unsafe.Pointer(pair), wordSize, uintptr(r.SP)) == wordSize {
		pcs[n] = pair[0]
		n++
	}
	for n < len(pcs) && frame != 0 {
		if peek(hit, cpu, unsafe.Pointer(pair), 2*wordSize, frame) != 2*wordSize || pair[1] == 0 {
			break
		}
		pcs[n] = pair[1]
		n++
		if pair[0] <= frame {
			break
		}
		frame = pair[0]
	}
	return n
}
