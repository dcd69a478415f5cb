package kprobes

import (
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/refusal"
	"sonde/kprobes/machine"
	"sonde/probe/glass"
	"sonde/probe/ledger"
)

// A Camera records one hit of a place, whatever probes are there: package glass. It is the first
// member of the point's list, and has flags that no other probe has, so hits elsewhere do not execute
// an instruction more for it.
//
// At the wanted hit it calls the other probes of the point itself, and adds a frame around each.
// What follows is done by the code of all hits; place.Recorded leads it through performFilmed, and
// the phase filming leads the trap after a step through stepFilmed.
//
// A call that a return probe notes gets instances of the camera's own before and after that
// probe's, so that the trampoline calls the camera before and after each return handler.
type Camera struct {
	KP Kprobe // first: a *Kprobe of kindCamera is a *Camera. Set SymbolName and Offset, or Addr
	// Film takes the frames; it decides which hit is recorded.
	Film *glass.Film
	// NoJump keeps the place a breakpoint.
	NoJump bool
	// Witness says that UseWitness is called before the hit is over: the hit then ends where the witness
	// is hit.
	Witness bool

	ret     Kretprobe // see follow
	calling uintptr   // the *Kprobe whose return handler is called next
	back    bool      // the recorded call has returned
	noted   bool      // it has instances of ret
	after   bool      // the frame after the instruction has been made
	watcher *Kprobe   // the witness
}

// asCamera returns the camera that p, an address, is of. Safe because: KP is its first field, and
// asProbe's reason.
func asCamera[P *Kprobe | uintptr](p P) *Camera { return *(**Camera)(unsafe.Pointer(&p)) }

// entry is c's Kprobe, nil for nil. Safe because: as asCamera.
func (c *Camera) entry() *Kprobe { return (*Kprobe)(unsafe.Pointer(c)) }

// cameraOf returns the camera that rp is the return probe of. Safe because: it is a field of one.
func cameraOf(rp *Kretprobe) *Camera {
	return (*Camera)(unsafe.Add(unsafe.Pointer(rp), -int(unsafe.Offsetof(Camera{}.ret))))
}

// RegisterCamera begins to wait for the hit that c.Film wants.
//
// Errors: those of RegisterKprobe; EBUSY a camera is there already.
func RegisterCamera(c *Camera) error { return registerOne(kindCamera, c) }

// UnregisterCamera removes c and its witness. When it returns, nothing is added to the film any more; a
// call that is being recorded returns as if there had been no camera.
//
// Context: goroutine, not a handler.
func UnregisterCamera(c *Camera) {
	machine.This.Forbid("unregisters a camera")
	unregister([]*Kprobe{c.entry(), c.watcher})
}

// UseWitness puts a probe where the code continues after a hit of c's place, and records that: the
// hit runs the copy of the instruction without a trap, and the frames otherwise end there.
//
// Errors: those of RegisterKprobe; ENOTSUP the witness would keep the jump away, or there is no
// address at which the place's code continues.
func (c *Camera) UseWitness() error {
	if err := inHandler(); err != nil {
		return err
	}
	at, err := c.behind()
	if err != nil {
		return err
	}
	w := &Kprobe{Addr: at, PreHandler: func(k *Kprobe, r *amd64.Regs) int { return witnessed(c, k, r) }}
	if err := RegisterKprobe(w); err != nil {
		return err
	}
	c.watcher = w
	return nil
}

// behind returns where the code continues.
func (c *Camera) behind() (uintptr, error) {
	mu.Lock()
	defer mu.Unlock()
	pt := c.KP.point
	switch {
	case pt == nil:
		return 0, refusal.New(syscall.EINVAL, "the camera is not registered")
	case !pt.In.Flow.FallsThrough():
		return 0, refusal.New(syscall.ENOTSUP, "the code does not go on behind the instruction")
	case pt.detour != nil && !c.NoJump:
		return pt.Addr + pt.detour.Len, nil
	case !c.NoJump && pt.jumpable():
		return 0, refusal.New(syscall.ENOTSUP, "a witness behind the instruction would keep a jump away; give -t int3")
	}
	return pt.Addr + uintptr(pt.In.Len), nil
}

// camera returns the camera of pt, nil if there is none.
//
// Context: any.
func (pt *point) camera() *Camera {
	if p := pt.list.First(); p != nil && *p != nil && (*p).kind == kindCamera {
		return asCamera(*p)
	}
	return nil
}

// jumpable reports whether a jump may lead to k's handlers.
func (k *Kprobe) jumpable() bool {
	return k.kind != kindJprobe && !(k.kind == kindCamera && asCamera(k).NoJump)
}

// instances is how many return handlers of one call can be recorded, and one.
const instances = 16

// prepare implements whole.
//
// Errors: EINVAL there is no film; EBUSY a call from before has not returned.
func (c *Camera) prepare() error {
	if c.Film == nil {
		return refusal.New(syscall.EINVAL, "the camera has no film")
	}
	c.KP.PreHandler, c.KP.PostHandler = film, filmPost
	c.ret.KP.kind, c.ret.Handler, c.ret.MaxActive, c.ret.careful = kindKretprobe, filmReturn, instances, true
	if err := c.ret.prepare(); err != nil {
		return err
	}
	c.ret.KP.ledger.Open(machine.This.CPUs)
	c.ret.KP.Flags.Set(flagRegistered)
	return nil
}

// manner: what it calls may do anything; and what it returns is another probe's.
func (c *Camera) manner() ledger.Flags { return flagCareful | flagSpecial | flagTold }
func (c *Camera) handlers() []function { return nil } // none that a user has written
func (c *Camera) account() Ledger      { return c.KP.Ledger() }

func (c *Camera) detached() {
	c.ret.KP.Flags.Clear(flagRegistered)
	c.ret.detached()
}
