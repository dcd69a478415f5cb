//go:build linux && amd64

package place

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"sonde/arch/amd64"
)

// child is a process in which instructions are executed by the real CPU: at codeAt,
// or in a slot. Its memory at dataAt is what they work on.
type child struct {
	t     *testing.T
	pid   int
	mem   *os.File
	fpLen int  // of the XSAVE area
	gp    bool // the last stop was by an exception that has no address, such as #GP
}

const (
	codeAt   = 0x1000_0000
	nearAt   = 0x1100_0000
	dataAt   = 0x1200_0000
	dataSize = 0x2000
	farAt    = 0x7000_0000_0000
	fpSize   = 16384
)

// newChild stops a process before its first instruction and maps what is needed.
func newChild(t *testing.T) *child {
	runtime.LockOSThread() // ptrace is a matter of threads
	cmd := exec.Command("/bin/sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Skipf("no process to try instructions in: %v", err)
	}
	c := &child{t: t, pid: cmd.Process.Pid}
	t.Cleanup(func() {
		syscall.Kill(c.pid, syscall.SIGKILL)
		cmd.Wait()
	})
	c.wait()
	var err error
	if c.mem, err = os.OpenFile(fmt.Sprintf("/proc/%d/mem", c.pid), os.O_RDWR, 0); err != nil {
		t.Skipf("memory of the process: %v", err)
	}
	t.Cleanup(func() { c.mem.Close() })
	for _, a := range []uint64{codeAt, nearAt, farAt} {
		c.mmap(a, 0x1000, 7)
	}
	c.mmap(dataAt, dataSize, 3)
	return c
}

// mmap has the child map memory. It stands before its first instruction.
func (c *child) mmap(addr, size, prot uint64) {
	r := c.regs()
	c.write(r.Rip, []byte{0x0f, 0x05})
	n := r
	n.Rax, n.Rdi, n.Rsi, n.Rdx, n.R10, n.R8, n.R9 = 9, addr, size, prot, 0x32, ^uint64(0), 0
	n.Orig_rax = ^uint64(0)
	c.setRegs(n)
	c.step()
	if got := c.regs().Rax; got != addr {
		c.t.Fatalf("mmap %#x: %#x", addr, got)
	}
	c.setRegs(r)
}

func (c *child) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *child) regs() (r syscall.PtraceRegs) {
	c.t.Helper()
	c.must(syscall.PtraceGetRegs(c.pid, &r))
	return r
}

func (c *child) setRegs(r syscall.PtraceRegs) {
	c.t.Helper()
	c.must(syscall.PtraceSetRegs(c.pid, &r))
}

func (c *child) write(addr uint64, b []byte) {
	c.t.Helper()
	_, err := c.mem.WriteAt(b, int64(addr))
	c.must(err)
}

func (c *child) read(addr uint64, n int) []byte {
	c.t.Helper()
	b := make([]byte, n)
	_, err := c.mem.ReadAt(b, int64(addr))
	c.must(err)
	return b
}

const (
	getRegset = 0x4204
	setRegset = 0x4205
	xstate    = 0x202
)

// fp reads or writes the state that XSAVE stores, n bytes of it, and returns its length.
func (c *child) fp(request uintptr, b *[fpSize]byte, n int) int {
	v := syscall.Iovec{Base: &b[0], Len: uint64(n)}
	_, _, e := syscall.Syscall6(syscall.SYS_PTRACE, request, uintptr(c.pid), xstate, uintptr(unsafe.Pointer(&v)), 0, 0)
	if e != 0 {
		c.t.Fatal(e)
	}
	return int(v.Len)
}

// wait waits until the child stops, and returns the signal that stopped it.
func (c *child) wait() syscall.Signal {
	c.t.Helper()
	var s syscall.WaitStatus
	if _, err := syscall.Wait4(c.pid, &s, 0, nil); err != nil || !s.Stopped() {
		c.t.Fatalf("the process is gone: %v, %#x", err, s)
	}
	c.gp = s.StopSignal() == syscall.SIGSEGV && c.code() == siKernel
	return s.StopSignal()
}

const (
	getSiginfo = 0x4202
	siKernel   = 0x80
)

// code returns the si_code of the signal that has stopped the child.
func (c *child) code() int32 {
	var info [32]int32
	if _, _, e := syscall.Syscall6(syscall.SYS_PTRACE, getSiginfo, uintptr(c.pid), 0, uintptr(unsafe.Pointer(&info)), 0, 0); e != 0 {
		c.t.Fatal(e)
	}
	return info[2]
}

func (c *child) step() syscall.Signal {
	c.t.Helper()
	c.must(syscall.PtraceSingleStep(c.pid))
	return c.wait()
}

func (c *child) run() syscall.Signal {
	c.t.Helper()
	c.must(syscall.PtraceCont(c.pid, 0))
	return c.wait()
}

// state is all that an instruction can change.
type state struct {
	r              amd64.Regs
	fsBase, gsBase uint64
	fp             [fpSize]byte
	data           [dataSize]byte
	signal         syscall.Signal // SIGTRAP: none
	gp             bool           // it is SIGSEGV, and not of a page fault
}

// load makes the child's state s.
func (c *child) load(s *state) {
	r := c.regs()
	g := &s.r
	r.R15, r.R14, r.R13, r.R12, r.Rbp, r.Rbx = g.R15, g.R14, g.R13, g.R12, g.BP, g.BX
	r.R11, r.R10, r.R9, r.R8, r.Rax, r.Rcx = g.R11, g.R10, g.R9, g.R8, g.AX, g.CX
	r.Rdx, r.Rsi, r.Rdi, r.Rip, r.Eflags, r.Rsp = g.DX, g.SI, g.DI, g.IP, g.Flags, g.SP
	r.Orig_rax, r.Fs_base, r.Gs_base = ^uint64(0), s.fsBase, s.gsBase
	c.setRegs(r)
	c.fp(setRegset, &s.fp, c.fpLen)
	c.write(dataAt, s.data[:])
}

// store makes s the child's state.
func (c *child) store(s *state) {
	r := c.regs()
	s.r = amd64.Regs{R15: r.R15, R14: r.R14, R13: r.R13, R12: r.R12, BP: r.Rbp, BX: r.Rbx, R11: r.R11, R10: r.R10, R9: r.R9, R8: r.R8,
		AX: r.Rax, CX: r.Rcx, DX: r.Rdx, SI: r.Rsi, DI: r.Rdi, IP: r.Rip, CS: r.Cs, Flags: r.Eflags, SP: r.Rsp}
	s.fsBase, s.gsBase = r.Fs_base, r.Gs_base
	c.fpLen = c.fp(getRegset, &s.fp, fpSize)
	s.gp = c.gp
	copy(s.data[:], c.read(dataAt, dataSize))
	clear(s.fp[6:24])    // where the last x87 instruction is, and its operand
	clear(s.fp[512:576]) // which parts are as at the beginning: that may be said or not
}

// Regs, Bases, Load and Store are CPU's, on a state.
func (s *state) Regs() *amd64.Regs       { return &s.r }
func (s *state) Bases() (fs, gs *uint64) { return &s.fsBase, &s.gsBase }

func (s *state) word(addr uint64) ([]byte, error) {
	if addr < dataAt || addr > dataAt+dataSize-8 {
		return nil, syscall.EFAULT
	}
	return s.data[addr-dataAt:][:8], nil
}

func (s *state) Load(addr uint64) (uint64, error) {
	b, err := s.word(addr)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

func (s *state) Store(addr, v uint64) error {
	b, err := s.word(addr)
	if err == nil {
		binary.LittleEndian.PutUint64(b, v)
	}
	return err
}

func (s *state) Writable(addr uint64) error {
	_, err := s.word(addr)
	return err
}

// hexed shows registers.
func hexed(r amd64.Regs) string {
	return strings.ReplaceAll(fmt.Sprintf("%+x", r), "Vector:0 Err:0 ", "")
}
