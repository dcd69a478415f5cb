// Package proctest lets processes be tested on the host. Its CPU plays programs that are Go
// functions: they make system calls and use the memory of their address space. So fork,
// signals, waiting and the end of processes are real; only ring 3 is simulated.
package proctest

import (
	"encoding/binary"
	"math/bits"
	"path"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/kernel/mm/frame"
	"sonde/linux/proc"
	"sonde/linux/space"
)

// Addresses in a program that is played. The system call is at callAt, and IP is
// after it while it is made.
const (
	callAt   = 0x401000
	afterIP  = callAt + 2
	Restorer = 0x402000 // for sigaction
	Data     = 0x600000 // DataSize bytes that a program can use as it likes
	DataSize = 16 << 12
	StackTop = 0x7ffff0000000
)

const numSigreturn = 15

// Program is a program: it runs until it returns, which is exit_group(0), or ends
// by a system call.
type Program func(p *Player)

// Player is a CPU, and what its program makes system calls with.
type Player struct {
	World *World
	Space *space.Space // at the moment; for Poke and Peek

	regs   amd64.Regs
	fs, gs uint64
	fp     [512]byte
	noTSC  bool
	addr   uint64

	probes  uintptr // what Probe was given
	returns uint64
	Table   unsafe.Pointer // what Breaks was given
	DR6     uint64         // of its #DBs, which are steps if nothing else is said

	program Program
	child   Program // what the next clone runs
	running bool
	used    atomic.Int64 // nanoseconds
	cpus    atomic.Uint32
	Kicks   atomic.Int64 // calls of Kick
	events  chan proc.Event
	resume  chan struct{}
}

// World is the machine that players run on.
type World struct {
	Table   *proc.Table
	Machine *space.Machine
	Frames  *frame.Pool
	// Hit, if not nil, is called where an event arrives, as a trap is: see proc.CPU.Probe. If it returns true, the
	// program continues with the registers that it has; if not, the event is in Vector.
	Hit func(p *Player, thread uintptr) (done bool)

	mu       sync.Mutex
	programs map[uint64]Program // by IP
	handlers map[uint64]Handler
	files    map[string]Program
	Lines    []string // that were logged
}

// Handler is a program's handler of a signal: info and context are addresses.
type Handler func(p *Player, sig, info, context uint64)

// NewWorld makes a machine with that much memory. call serves system calls.
func NewWorld(memory int, call func(*proc.Thread)) *World {
	w := &World{programs: map[uint64]Program{}, handlers: map[uint64]Handler{}, files: map[string]Program{}}
	w.Frames = frame.NewPool(&frame.Memory{Limit: uint64(memory)})
	w.Machine = &space.Machine{
		Frames:   w.Frames,
		Programs: space.Window{Start: 0x10000, End: 1 << 47},
	}
	start := time.Now()
	w.Table = proc.NewTable(proc.Config{
		Memory:  w.Machine,
		NewCPU:  func() proc.CPU { return w.newPlayer() },
		Syscall: call,
		Log: func(line string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.Lines = append(w.Lines, line)
		},
		Clock:   func() time.Duration { return time.Since(start) },
		Threads: 64,
	})
	return w
}

// Log returns what was logged.
func (w *World) Log() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.Lines...)
}

func (w *World) newPlayer() *Player {
	return &Player{World: w, DR6: debugreg.DR6_BS, events: make(chan proc.Event), resume: make(chan struct{})}
}

// Image is a program in an address space of its own.
func (w *World) Image(name string, f Program) (proc.Image, error) {
	s, err := w.Machine.New()
	if err != nil {
		return proc.Image{}, err
	}
	if _, err := s.Map(Data, DataSize, space.Read|space.Write, space.Fixed, nil, 0); err != nil {
		return proc.Image{}, err
	}
	const stack = 1 << 16
	if _, err := s.Map(StackTop-stack, stack, space.Read|space.Write, space.Fixed, nil, 0); err != nil {
		return proc.Image{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	ip := callAt + 0x1000*uint64(len(w.programs)+0x100)
	w.programs[ip] = f
	return proc.Image{Space: s, IP: ip, SP: StackTop, Path: "/bin/" + name}, nil
}

// Handler gives a handler an address, for sigaction.
func (w *World) Handler(h Handler) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := 0x500000 + 16*uint64(len(w.handlers))
	w.handlers[at] = h
	return at
}

func (w *World) handler(ip uint64) Handler {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.handlers[ip]
}

// Regs and what follows implement proc.CPU.
func (p *Player) Regs() *amd64.Regs       { return &p.regs }
func (p *Player) Bases() (fs, gs *uint64) { return &p.fs, &p.gs }
func (p *Player) DenyTSC(deny bool)       { p.noTSC = deny }
func (p *Player) TSCDenied() bool         { return p.noTSC }
func (p *Player) FP() []byte              { return p.fp[:] }
func (p *Player) FPSize() int             { return len(p.fp) }
func (p *Player) ResetFP()                { clear(p.fp[:]) }
func (p *Player) SetFP(b []byte) error    { copy(p.fp[:], b); return nil }
func (p *Player) Address() uint64         { return p.addr }
func (p *Player) Debug() uint64           { return p.DR6 }

// Used implements proc.CPU. A program uses the time that it is played.
func (p *Player) Used() (user, system time.Duration) { return time.Duration(p.used.Load()), 0 }

// Bind and Here implement proc.CPU: the program is on the first CPU that it may be on.
func (p *Player) Bind(cpus uint32) { p.cpus.Store(cpus) }
func (p *Player) Here() int        { return bits.TrailingZeros32(p.cpus.Load()|1<<31) % 31 }

// Probe implements proc.CPU.
func (p *Player) Probe(thread uintptr, returns uint64) { p.probes, p.returns = thread, returns }

// Breaks implements proc.CPU.
func (p *Player) Breaks(at unsafe.Pointer) { p.Table = at }

// Probed returns the thread that Probe was given.
func (p *Player) Probed() uintptr { return p.probes }

// hit lets World.Hit handle an event, or returns the one that Run has to.
func (p *Player) hit(ev proc.Event) (left proc.Event, done bool) {
	if p.World.Hit == nil || ev != 1 && ev != 3 && (ev != proc.SystemCall || p.regs.IP != p.returns) {
		return ev, false
	}
	p.regs.Vector = uint64(ev)
	done = p.World.Hit(p, p.probes)
	return proc.Event(p.regs.Vector), done
}

// Kick implements proc.CPU. A program that is played cannot be interrupted just
// anywhere: one that computes has to call Interrupt now and then.
func (p *Player) Kick() { p.Kicks.Add(1) }

// Clone implements proc.CPU: it plays what Fork or Thread was given.
func (p *Player) Clone() proc.CPU {
	c := p.World.newPlayer()
	c.Bind(p.cpus.Load())
	c.regs, c.fs, c.gs, c.fp = p.regs, p.fs, p.gs, p.fp
	c.noTSC = p.noTSC
	c.program, p.child = p.child, nil
	return c
}

// Reset implements proc.CPU. The program that was played is never heard of again.
func (p *Player) Reset(ip, sp uint64) {
	p.World.mu.Lock()
	defer p.World.mu.Unlock()
	p.regs = amd64.Regs{IP: ip, SP: sp, CS: 0x23, SS: 0x1b, Flags: 0x202}
	p.program, p.running = p.World.programs[ip], false
	p.events, p.resume = make(chan proc.Event), make(chan struct{})
}

// Run implements proc.CPU.
func (p *Player) Run(in *space.Space) proc.Event {
	p.Space = in
	begin := time.Now()
	defer func() { p.used.Add(int64(time.Since(begin))) }()
	if !p.running {
		p.running = true
		go p.play(p.program)
	} else {
		p.resume <- struct{}{}
	}
	return <-p.events
}

// play runs f as a goroutine of its own. What exec has replaced, or what has been
// killed, waits for ever in trap.
func (p *Player) play(f Program) {
	f(p)
	p.Call(231, 0)
}

// Call makes a system call and returns what it returned in AX: an error is the
// negative of its number. Handlers of signals run before it returns.
func (p *Player) Call(n uint64, args ...uint64) int64 {
	r := &p.regs
	r.AX, r.IP = n, afterIP
	for i, to := range []*uint64{&r.DI, &r.SI, &r.DX, &r.R10, &r.R8, &r.R9} {
		if i < len(args) {
			*to = args[i]
		}
	}
	p.trap(proc.SystemCall)
	return int64(p.serve())
}

// serve does what the registers ask for until they say that the call has
// returned.
func (p *Player) serve() uint64 {
	for {
		switch r := &p.regs; r.IP {
		case afterIP:
			return r.AX
		case callAt: // made again
			r.IP = afterIP
			p.trap(proc.SystemCall)
		case Restorer:
			r.AX, r.IP = numSigreturn, Restorer+9
			p.trap(proc.SystemCall)
		default:
			h := p.World.handler(r.IP)
			if h == nil {
				panic("a program jumps into the blue")
			}
			back := *r
			h(p, r.DI, r.SI, r.DX)
			*r = back
			r.IP = p.Peek64(r.SP) // RET
			r.SP += 8
		}
	}
}

// Fault lets the program cause an exception, as an instruction at the present
// place would. It returns when a handler has done so.
func (p *Player) Fault(vector proc.Event, code, addr uint64) {
	p.regs.IP = afterIP
	p.regs.Vector, p.regs.Err, p.addr = uint64(vector), code, addr
	p.trap(vector)
	p.serve()
}

// Interrupt is an interrupt at the present place.
func (p *Player) Interrupt() { p.Fault(32, 0, 0) }

// Breakpoint lets the program execute an INT3 at addr with that stack pointer, and returns
// where it continues. A signal for it is taken at the next call.
func (p *Player) Breakpoint(addr, sp uint64) (ip uint64) { return p.FaultAt(3, addr+1, sp) }

// FaultAt lets the program cause an exception with that IP and stack pointer, as Breakpoint.
func (p *Player) FaultAt(vector proc.Event, ip, sp uint64) (to uint64) {
	p.regs.IP, p.regs.SP = ip, sp
	p.regs.Vector = uint64(vector)
	p.trap(vector)
	return p.regs.IP
}

// FetchAt lets the program jump to where it may not, with that stack pointer, and returns where it continues.
func (p *Player) FetchAt(ip, sp uint64) (to uint64) {
	p.regs.Err, p.addr = 0x14, ip
	return p.FaultAt(14, ip, sp)
}

// SyscallAt lets the program execute a SYSCALL that ends at ip, with the registers as they
// are and that stack pointer, and returns where it continues.
func (p *Player) SyscallAt(ip, sp uint64) (to uint64) {
	r := &p.regs
	r.IP, r.SP, r.CX, r.R11 = ip, sp, ip, r.Flags
	p.trap(proc.SystemCall)
	return r.IP
}

// Flags returns the flags with which the program continues.
func (p *Player) Flags() uint64 { return p.regs.Flags }

// trap hands an event to Run and waits until the kernel lets the program continue.
func (p *Player) trap(ev proc.Event) {
	ev, done := p.hit(ev)
	if done {
		return
	}
	events, resume := p.events, p.resume
	events <- ev
	<-resume
}

// Fork makes the system call n (fork, vfork, clone); the child plays f.
func (p *Player) Fork(f Program, n uint64, args ...uint64) int64 {
	p.child = f
	return p.Call(n, args...)
}

// Poke writes to the program's memory, as an instruction of it would.
func (p *Player) Poke(addr uint64, b []byte) {
	if _, err := p.Space.CopyOut(addr, b); err != nil {
		panic(err)
	}
}

// Peek reads the program's memory.
func (p *Player) Peek(addr uint64, n int) []byte {
	b := make([]byte, n)
	if _, err := p.Space.CopyIn(b, addr); err != nil {
		panic(err)
	}
	return b
}

// Poke64 and its like are Poke and Peek for words.
func (p *Player) Poke64(addr, v uint64) { p.Poke(addr, binary.LittleEndian.AppendUint64(nil, v)) }

func (p *Player) Peek64(addr uint64) uint64 { return binary.LittleEndian.Uint64(p.Peek(addr, 8)) }
func (p *Player) Poke32(addr uint64, v uint32) {
	p.Poke(addr, binary.LittleEndian.AppendUint32(nil, v))
}
func (p *Player) Peek32(addr uint64) uint32        { return binary.LittleEndian.Uint32(p.Peek(addr, 4)) }
func (p *Player) PokeString(addr uint64, s string) { p.Poke(addr, append([]byte(s), 0)) }

// Install lets exec find a program at a path.
func (w *World) Install(path string, f Program) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[path] = f
}

// Exec loads what Install was given.
//
// Errors: ENOENT.
func (w *World) Exec(name string) (proc.Image, error) {
	w.mu.Lock()
	f := w.files[name]
	w.mu.Unlock()
	if f == nil {
		return proc.Image{}, syscall.ENOENT
	}
	return w.Image(path.Base(name), f)
}
