package uprobes

import (
	"slices"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/refusal"
	"sonde/linux/proc"
	"sonde/probe/glass"
	"sonde/probe/ledger"
)

// A Camera records one hit of a place in programs, or one call whose return is probed: package glass. It is
// registered as a probe of its own, with an empty handler. While it is there, its points' lists have seams
// between the probes, which hits call as they call any other probe. So hits elsewhere do not execute an
// instruction more for it, and all that a hit does is done by the code of all hits, in the trap or in the
// thread's goroutine.
//
// At the wanted hit, a seam adds a frame for what has been done since the one before it, and one for what
// comes next. The end of an instruction that is executed in the goroutine, or stepped, is told as to a
// KprobeUser (thread.after); so a step that began in the trap ends in the goroutine for this one hit.
type Camera struct {
	// Film takes the frames; it decides which hit is recorded.
	Film *glass.Film
	// RP.U says where. Handlers and TrapSafe are the camera's.
	RP Uretprobe
	// Return says that calls are recorded until they have returned, whatever probes are there.
	Return bool
	// Blocks keeps hits out of trap context, as a handler that may block does.
	Blocks bool

	phase  atomic.Uint32
	who    atomic.Int64 // the thread whose hit is recorded
	off    bool         // the probe that comes next is not called
	awaits bool         // behind is called when the instruction has been executed
	final  bool         // the hit is over then
	at     *point       // where the recorded hit is
	behind [1]*member   // what thread.after becomes
	next   amd64.Regs   // what the registers will be

	// guarded by the package's mu:
	seams []*seam
	room  map[*point]uint32 // points' entries without the camera
}

// The phases of a recording.
const (
	waits  = iota
	inHit  // the hit is in progress
	inCall // it is over, and the call that began there is not
	over   // nothing is added any more
	gone   // the same, and the camera is gone
)

// RegisterCamera begins to wait for the hit that c.Film wants.
//
// Context: goroutine, not a handler of a user probe.
// Errors: those of RegisterUprobe and RegisterUretprobe; EINVAL there is no film; EBUSY a camera is there already.
func RegisterCamera(c *Camera) error {
	if c.Film == nil {
		return refusal.New(syscall.EINVAL, "the camera has no film")
	}
	o := order{u: &c.RP.U, reg: true, camera: c}
	o.u.TrapSafe = !c.Blocks
	if c.Return {
		o.rp, o.u.ret = &c.RP, &c.RP
	}
	o.u.Handler = func(*Uprobe, *amd64.Regs) {}
	c.RP.Handler = func(*UretprobeInstance, *amd64.Regs) {}
	k := &KprobeUser{PostHandler: func(_ *KprobeUser, r *amd64.Regs, _ uint64) { c.executed(r) },
		FaultHandler: func(_ *KprobeUser, r *amd64.Regs, vector int) int { return c.faulted(r, vector) }}
	c.behind[0] = &member{user: k, u: o.u, idle: make(chan struct{}), Counter: new(ledger.Counter)}
	mu.Lock()
	c.room = map[*point]uint32{}
	cameras = append(cameras, c)
	mu.Unlock()
	err := submit(o)
	if err != nil {
		mu.Lock()
		c.forget()
		mu.Unlock()
	}
	return err
}

// UnregisterCamera removes c. When it returns, nothing is added to the film any more; a call that is being
// recorded returns as if there had been no camera.
//
// Context: goroutine, not a handler of a user probe.
func UnregisterCamera(c *Camera) {
	if c == nil || c.room == nil {
		return
	}
	o := order{u: &c.RP.U}
	if c.Return {
		o.rp = &c.RP
	}
	c.phase.Store(gone)
	submit(o)
	drain(c.takeSeams())
	mu.Lock()
	defer mu.Unlock()
	for pt, n := range c.room {
		pt.entries.Store(n)
		pt.publish()
	}
	c.forget()
}

// forget takes c off the list. mu held.
func (c *Camera) forget() {
	c.room = nil
	cameras = slices.DeleteFunc(cameras, func(o *Camera) bool { return o == c })
}

// takeSeams keeps hits from calling the seams of c any more.
func (c *Camera) takeSeams() (all []*member) {
	mu.Lock()
	defer mu.Unlock()
	for _, s := range c.seams {
		all = append(all, &s.member)
	}
	all = append(all, c.behind[0])
	for _, m := range all {
		m.flags.Set(unregistered)
	}
	c.seams = nil
	return all
}

// A Spot is the instruction whose hit is recorded.
type Spot struct {
	Addr, Slot uint64
	Code       []byte // without probes
	Way        string // how it is executed, and where hits are handled
}

// Spot returns the recorded hit's, once the film has begun.
func (c *Camera) Spot() (s Spot, ok bool) {
	mu.Lock()
	defer mu.Unlock()
	if pt := c.at; pt != nil {
		s = Spot{uint64(pt.addr), pt.slot, pt.plan.Code[:pt.plan.Len()], pt.way()}
	}
	return s, c.at != nil
}

// cameras are those that there are. Guarded by mu.
var cameras []*Camera

// left is called when m, which is c's, is removed from its point: if it is not c that goes, the process has
// ended. mu held.
func (c *Camera) left(m *member) {
	switch phase := c.phase.Load(); {
	case phase == gone:
	case phase != waits && c.at == m.point:
		c.ends(m.pid, int(c.who.Load()))
	case m.file == nil:
		c.finish()
	}
}

// filmEnds is called when a thread has ended.
func filmEnds(t *proc.Thread) {
	mu.Lock()
	defer mu.Unlock()
	for _, c := range cameras {
		if phase := c.phase.Load(); phase != waits && c.who.Load() == int64(t.TID) {
			c.ends(t.Process().PID, t.TID)
		}
	}
}

// ends records that the thread has ended in the recorded hit, unless that is over. mu held.
func (c *Camera) ends(pid, tid int) {
	if c.phase.Load() >= over {
		return
	}
	if f, n := mach.Shoot(c.Film, nil, glass.Died, 0, glass.Thread{PID: pid, TID: tid}); f != nil {
		c.Film.Written(n)
	}
	c.finish()
}

// camera returns the camera at pt, or nil. mu held.
func (pt *point) camera() *Camera {
	if i := slices.IndexFunc(pt.members.All(), (*member).films); i >= 0 {
		return pt.members.All()[i].camera
	}
	return nil
}

// films reports whether hits of m's point are recorded: not those that end the recorded call.
func (m *member) films() bool { return m.camera != nil && !m.ends() }

// registered returns the probes at pt, without seams.
func (pt *point) registered() (all []*member) {
	for _, m := range pt.members.All() {
		if m.seam == nil {
			all = append(all, m)
		}
	}
	return all
}

// set makes all the probes at pt, with seams between them if there is a camera. mu held.
func (pt *point) set(all []*member) {
	if i := slices.IndexFunc(all, (*member).films); i >= 0 && all[i].camera.room != nil {
		all = all[i].camera.weave(pt, all, all[i])
	}
	pt.members.Set(all)
	pt.publish()
}
