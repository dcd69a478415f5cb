//go:build linux && amd64

package unwind

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"sonde/arch/amd64"
	"sonde/linux/program"
)

// traced is a program that this test runs step by step.
type traced struct {
	t     *testing.T
	pid   int
	mem   *os.File
	files map[string]*program.File
	maps  []mapping
}

type mapping struct {
	start, end, off uint64
	path            string
}

func trace(t *testing.T, exe string) *traced {
	t.Helper()
	runtime.LockOSThread() // ptrace is a matter of threads
	cmd := exec.Command(exe)
	cmd.Env = []string{"GODEBUG=asyncpreemptoff=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Skipf("no process to look at: %v", err)
	}
	p := &traced{t: t, pid: cmd.Process.Pid, files: map[string]*program.File{}}
	t.Cleanup(func() {
		syscall.Kill(p.pid, syscall.SIGKILL)
		cmd.Wait()
	})
	p.wait()
	var err error
	if p.mem, err = os.Open(fmt.Sprintf("/proc/%d/mem", p.pid)); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { p.mem.Close() })
	return p
}

func (p *traced) wait() syscall.Signal {
	p.t.Helper()
	var s syscall.WaitStatus
	if _, err := syscall.Wait4(p.pid, &s, 0, nil); err != nil || !s.Stopped() {
		p.t.Fatalf("the process is gone: %v, %#x", err, s)
	}
	return s.StopSignal()
}

// next lets it run to its next breakpoint, and gives it what other signals come.
func (p *traced) next() {
	p.t.Helper()
	for s := syscall.Signal(0); ; {
		if err := syscall.PtraceCont(p.pid, int(s)); err != nil {
			p.t.Fatal(err)
		}
		if s = p.wait(); s == syscall.SIGTRAP {
			p.readMaps()
			return
		}
	}
}

func (p *traced) step() {
	p.t.Helper()
	if err := syscall.PtraceSingleStep(p.pid); err != nil {
		p.t.Fatal(err)
	}
	p.wait()
}

func (p *traced) regs() *amd64.Regs {
	p.t.Helper()
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(p.pid, &r); err != nil {
		p.t.Fatal(err)
	}
	return &amd64.Regs{R15: r.R15, R14: r.R14, R13: r.R13, R12: r.R12, BP: r.Rbp, BX: r.Rbx, R11: r.R11, R10: r.R10, R9: r.R9, R8: r.R8,
		AX: r.Rax, CX: r.Rcx, DX: r.Rdx, SI: r.Rsi, DI: r.Rdi, IP: r.Rip, SP: r.Rsp}
}

func (p *traced) readMaps() {
	p.t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", p.pid))
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	p.maps = nil
	for s := bufio.NewScanner(f); s.Scan(); {
		var m mapping
		var mode, dev, inode string
		fmt.Sscanf(s.Text(), "%x-%x %s %x %s %s %s", &m.start, &m.end, &mode, &m.off, &dev, &inode, &m.path)
		if strings.Contains(mode, "x") {
			p.maps = append(p.maps, m)
		}
	}
}

// stack is p's as Walk wants it.
func (p *traced) stack() *Stack {
	return &Stack{
		Read: func(b []byte, addr uint64) bool {
			n, _ := p.mem.ReadAt(b, int64(addr))
			return n == len(b)
		},
		File: func(pc uint64) (*program.File, uint64, bool) {
			for _, m := range p.maps {
				if pc >= m.start && pc < m.end {
					f := p.file(m.path)
					if f == nil {
						return nil, 0, true
					}
					bias, ok := f.Bias(m.start, m.off)
					return f, bias, ok
				}
			}
			return nil, 0, false
		},
	}
}

func (p *traced) file(path string) *program.File {
	if f, ok := p.files[path]; ok {
		return f
	}
	r, err := os.Open(path)
	if err != nil {
		return nil
	}
	p.t.Cleanup(func() { r.Close() })
	f, err := program.Open(r)
	if err != nil {
		p.t.Fatal(path, err)
	}
	p.files[path] = f
	return f
}

// chain returns the names of the functions on the stack; one that has none is called by
// its file.
func (p *traced) chain() []string {
	var names []string
	for _, f := range p.stack().Walk(p.regs(), 100) {
		s, _, ok := f.Symbol()
		if f.How == Signal {
			names = append(names, "<signal>")
		}
		switch {
		case ok && s.Name != "":
			names = append(names, s.Name)
		default:
			names = append(names, "?")
		}
	}
	return names
}

// build makes a program of a source that is in this test.
func build(t *testing.T, name, source string, cmd ...string) string {
	t.Helper()
	if _, err := exec.LookPath(cmd[0]); err != nil {
		t.Skipf("%s is not installed", cmd[0])
	}
	dir := t.TempDir()
	src, exe := filepath.Join(dir, name), filepath.Join(dir, "exe")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(cmd[0], append(cmd[1:], "-o", exe, src)...)
	c.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=", "GO111MODULE=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return exe
}
