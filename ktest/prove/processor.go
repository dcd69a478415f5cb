//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// A processor repeats what was observed in the machine, on the host's own processor: a
// process has the kernel's code at its addresses, and instructions are executed there,
// one at a time, from the registers and the memory that were observed.
type processor struct {
	lines    chan string
	done     chan struct{}
	pid      int
	cmd      *exec.Cmd
	mem      *os.File
	code     *code
	heap     uint64 // bytes of heap to map
	counts   []Count
	findings []string
}

// Traps' stacks, image and slots, and the heap, as boot/layout_tamago.go has them; shifted.
const (
	stacksAt           = 0xffff8000_04000000 + shift - 1<<64
	imageAt, imageSize = 0xffffffff_84000000 + shift - 1<<64, 64 << 20
	heapAt, heapSize   = 0xffffffc0_00000000 + shift - 1<<64, 4 << 30
)

// newProcessor starts the process for that code.
func newProcessor(c *code) (*processor, error) {
	p := &processor{code: c, heap: heapSize, lines: make(chan string, 1000), done: make(chan struct{})}
	started := make(chan error)
	go p.work(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("prove: a process to repeat instructions in: %w", err)
	}
	return p, nil
}

// repeat has a line with a transition repeated; close waits for all.
func (p *processor) repeat(line string) { p.lines <- line }

func (p *processor) close() {
	close(p.lines)
	<-p.done
}

// work is the thread that traces the process.
func (p *processor) work(started chan<- error) {
	defer close(p.done)
	runtime.LockOSThread() // never unlocked: ptrace is a matter of threads
	err := p.start()
	started <- err
	if err != nil {
		return
	}
	defer p.stop()
	for line := range p.lines {
		t, err := parseTransition(line)
		if err != nil {
			p.findings = append(p.findings, err.Error())
			continue
		}
		p.counts = plus(p.counts, p.try(t), 1)
	}
}

func (p *processor) start() error {
	p.cmd = exec.Command("/bin/sleep", "100000")
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.pid = p.cmd.Process.Pid
	if _, err := p.wait(); err != nil {
		return err
	}
	var err error
	if p.mem, err = os.OpenFile(fmt.Sprintf("/proc/%d/mem", p.pid), os.O_RDWR, 0); err != nil {
		return err
	}
	if err := errors.Join(p.mmap(stacksAt, imageSize), p.mmap(imageAt, imageSize), p.mmap(heapAt, p.heap)); err != nil {
		return err
	}
	_, err = p.mem.WriteAt(p.code.bytes, int64(shifted(p.code.addr)))
	return err
}

func (p *processor) stop() {
	p.mem.Close()
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// mmap makes the process map memory that can be executed. It stands before its first
// instruction.
func (p *processor) mmap(addr, size uint64) error {
	const call, protection, flags = 9, 7, 0x4032 // PRIVATE, FIXED, ANONYMOUS, NORESERVE
	var old syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(p.pid, &old); err != nil {
		return err
	}
	if _, err := p.mem.WriteAt([]byte{0x0f, 0x05}, int64(old.Rip)); err != nil { // SYSCALL
		return err
	}
	r := old
	r.Rax, r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9 = call, addr, size, protection, flags, ^uint64(0), 0
	r.Orig_rax = ^uint64(0)
	if err := syscall.PtraceSetRegs(p.pid, &r); err != nil {
		return err
	}
	if _, err := p.step(); err != nil {
		return err
	}
	if err := syscall.PtraceGetRegs(p.pid, &r); err != nil {
		return err
	}
	if r.Rax != addr {
		return fmt.Errorf("mmap %#x: %#x", addr, r.Rax)
	}
	return syscall.PtraceSetRegs(p.pid, &old)
}

func (p *processor) step() (syscall.Signal, error) {
	if err := syscall.PtraceSingleStep(p.pid); err != nil {
		return 0, err
	}
	return p.wait()
}

func (p *processor) wait() (syscall.Signal, error) {
	var s syscall.WaitStatus
	if _, err := syscall.Wait4(p.pid, &s, 0, nil); err != nil {
		return 0, err
	}
	if !s.Stopped() {
		return 0, fmt.Errorf("the process has ended (%#x)", s)
	}
	return s.StopSignal(), nil
}

// read and write are for two words of the kernel's memory, as the process has them.
func (p *processor) read(addr uint64) (w [2]uint64, err error) {
	var b [16]byte
	_, err = p.mem.ReadAt(b[:], int64(shifted(addr)))
	return [2]uint64{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}, err
}

func (p *processor) write(addr uint64, w [2]uint64) error {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], w[0])
	binary.LittleEndian.PutUint64(b[8:], w[1])
	_, err := p.mem.WriteAt(b[:], int64(shifted(addr)))
	return err
}
