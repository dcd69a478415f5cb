//go:build tamago && !nolinux

package suites

import (
	"encoding/binary"
	"strings"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/syscall"
)

// Programs is this machine's table of processes; nil where there can be none. The ktest command sets
// it.
var Programs *proc.Table

func init() { counts = append(counts, count{name: "processes", now: processes}) }

// NeedPrograms ends the case if this machine cannot run programs.
func (t *T) NeedPrograms() {
	if Programs == nil {
		t.Skipf("this machine cannot run programs")
	}
}

// processes counts processes and threads of programs.
func processes() int {
	if Programs == nil {
		return 0
	}
	processes, threads, _ := Programs.Counts()
	return processes + threads
}

// Programs that cases make themselves, where no archive is needed.

const (
	// ProgramBase is where the file of a program that WriteProgram makes is mapped.
	ProgramBase    = 0x400000
	programHeaders = 64 + 2*56
	// ProgramAt is where the code of a program that WriteProgram makes begins, and
	// ProgramData where its page of zeros is.
	ProgramAt   = ProgramBase + programHeaders
	ProgramData = 0x402000
)

// WriteProgram makes an executable file of code.
func WriteProgram(t *T, path string, code []byte) {
	var b strings.Builder
	le := func(v any) { binary.Write(&b, binary.LittleEndian, v) }
	b.WriteString("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	le([]uint16{2, 62})
	le(uint32(1))
	le([]uint64{ProgramAt, 64, 0})
	le(uint32(0))
	le([]uint16{64, 56, 2, 0, 0, 0})
	size := uint64(programHeaders + len(code))
	le([]uint32{1, 5}) // PT_LOAD, r-x
	le([]uint64{0, ProgramBase, ProgramBase, size, size, 0x1000})
	le([]uint32{1, 6}) // PT_LOAD, rw-
	le([]uint64{0, ProgramData, ProgramData, 0, 0x1000, 0x1000})
	b.Write(code)
	t.Must(vfs.WriteFile(path, []byte(b.String())))
	t.Must(vfs.Root.ChangeAt("chmod", vfs.Root.RootPlace(), path, true, func(c vfs.Changer) { c.SetMode(0755) }))
}

// StartProgram starts a program. ready, if not nil, is called before it runs.
func StartProgram(t *T, path string, ready func(p *proc.Process)) *proc.Process {
	p, err := syscall.Start(Programs, syscall.Spec{Path: path, Args: []string{path}, Dir: "/", Ready: ready})
	t.Must(err)
	return p
}

// WaitProgram returns how p ended. A program that does not end is killed, and ends the case.
func WaitProgram(t *T, p *proc.Process) proc.Status {
	select {
	case <-p.Done():
	case <-time.After(Limit):
		p.Kill(abi.SIGKILL)
		t.Fatalf("%s still runs after %v", p.Name(), Limit)
	}
	Programs.Init().Wait(proc.Which{Kind: abi.P_PID, ID: p.PID}, abi.WEXITED, func() <-chan struct{} { return nil })
	return p.Status()
}
