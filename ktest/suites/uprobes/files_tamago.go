//go:build tamago

package uprobes

import (
	"debug/elf"
	"errors"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

func init() {
	both("uprobes/of_a_file_in_all_processes", ofFile)
	both("uprobes/of_a_file_by_name_and_pid", ofFileFiltered)
	both("uprobes/of_a_library", ofLibrary)
	both("uprobes/of_a_file_refused", ofFileRefused)
}

// offset is where a symbol's code is in its file.
func offset(t *suites.T, f *elf.File, s elf.Symbol) uint64 {
	for _, h := range f.Progs {
		if h.Type == elf.PT_LOAD && s.Value >= h.Vaddr && s.Value < h.Vaddr+h.Filesz {
			return s.Value - h.Vaddr + h.Off
		}
	}
	t.Fatalf("%s is in no segment", s.Name)
	return 0
}

// ofFile: processes that run already, that begin later, children, and after exec.
func ofFile(t *suites.T) {
	p := need(t, "/bin/probed")
	early := p.start(t, func(*proc.Process) {}, "sleeps")
	c := newCounter()
	c.Path, c.Offset = p.path, offset(t, p.file, p.syms["leaf"])
	var returns atomic.Int64
	rp := &uprobes.Uretprobe{Handler: func(*uprobes.UretprobeInstance, *amd64.Regs) { returns.Add(1) }}
	rp.U.Path, rp.U.Offset, rp.U.TrapSafe = c.Path, c.Offset, inTrap
	t.Must(uprobes.RegisterUprobe(&c.Uprobe))
	t.Must(uprobes.RegisterUretprobe(rp))
	if err := uprobes.RegisterUprobe(&c.Uprobe); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("a second time: %v", err)
	}
	t.Until("hits in a process that runs already", func() bool { return c.hits() > 3 })
	early.kill(t)
	for _, x := range []struct {
		part, out string
		hits      int
	}{
		{"calls", "calls 1505500\n", 1000}, {"forks", "forks 135\n", 20}, {"vforks", "vforks 135\n", 20}, {"exec", "calls 1505500\n", 1001},
		{"twice", "twice 10\n", 10}, {"threads", "threads 6000000\n", 4000}, {"drops", "drops 14850\n", 100},
	} {
		before, back := c.hits(), returns.Load()
		p.start(t, func(*proc.Process) {}, x.part).wait(t, x.out)
		if n, m := c.hits()-before, int(returns.Load()-back); n != x.hits || m != x.hits {
			t.Errorf("%s: %d hits, %d returns, want %d", x.part, n, m, x.hits)
		}
	}
	way := ""
	if inTrap {
		way = "  handled in the trap"
	}
	wants(t, shell(t, "cat /sys/kernel/debug/uprobes/list"), `^ *0  0+  u   \*  +/bin/probed:0x[0-9a-f]+`+way, `^ *0  0+  ur  \*  +/bin/probed:0x[0-9a-f]+`+way+`  returns: breakpoints on its exits \(1\)`)
	t.Must(uprobes.UnregisterUprobe(&c.Uprobe))
	t.Must(uprobes.UnregisterUretprobe(rp))
	c.way(t)
	n := c.hits()
	p.start(t, func(*proc.Process) {}, "calls").wait(t, "calls 1505500\n")
	if l := c.Ledger(); c.hits() != n || l.Handled != uint64(n) || l.Unexplained() != 0 {
		t.Errorf("%d hits, then %d: %+v", n, c.hits(), l)
	}
	if l := rp.U.Ledger(); l.Unexplained() != 0 || l.InFlight != 0 {
		t.Errorf("%+v", l)
	}
}

func ofFileFiltered(t *suites.T) {
	p := need(t, "/bin/probed")
	off := offset(t, p.file, p.syms["leaf"])
	other, exe := newCounter(), newCounter()
	other.Path, other.Offset, other.Comm = p.path, off, "other"
	exe.Path, exe.Offset, exe.Comm = p.path, off, "exe" // as it is called after execve("/proc/self/exe")
	t.Must(uprobes.RegisterUprobe(&other.Uprobe))
	t.Must(uprobes.RegisterUprobe(&exe.Uprobe))
	pid := newCounter()
	pid.Path, pid.Offset = p.path, off
	p.start(t, func(in *proc.Process) {
		pid.Pid = in.PID
		t.Must(uprobes.RegisterUprobe(&pid.Uprobe))
	}, "calls").wait(t, "calls 1505500\n")
	p.start(t, func(*proc.Process) {}, "exec").wait(t, "calls 1505500\n")
	if other.hits() != 0 || exe.hits() != 1000 || pid.hits() != 1000 {
		t.Errorf("%d, %d, %d hits", other.hits(), exe.hits(), pid.hits())
	}
	for _, c := range []*counter{other, exe, pid} {
		t.Must(uprobes.UnregisterUprobe(&c.Uprobe))
	}
}

// ofLibrary: a library is mapped while the program runs, by system calls.
func ofLibrary(t *suites.T) {
	pie := need(t, "/bin/probed-pie")
	const libc = "/lib/x86_64-linux-gnu/libc.so.6"
	lib := need(t, libc)
	c := newCounter()
	c.Path, c.Offset = libc, offset(t, lib.file, lib.syms["write"])
	t.Must(uprobes.RegisterUprobe(&c.Uprobe))
	pie.start(t, func(*proc.Process) {}, "calls", "tail").wait(t, "calls 1505500\ntail 14950\n")
	if c.hits() != 2 {
		t.Errorf("%d calls of write, want 2", c.hits())
	}
	t.Must(uprobes.UnregisterUprobe(&c.Uprobe))
}

func ofFileRefused(t *suites.T) {
	p := need(t, "/bin/probed")
	for _, c := range []struct {
		name, path string
		off        uint64
		errno      syscall.Errno
	}{
		{"no such file", "/bin/no", 0, syscall.ENOENT},
		{"a device", "/dev/null", 0, syscall.ENODEV},
		{"a device that can be mapped", "/dev/zero", 0, syscall.ENODEV},
		{"behind the end", p.path, 1 << 40, syscall.EINVAL},
		{"no instruction", p.path, 0x200000, syscall.EINVAL},
	} {
		u := &uprobes.Uprobe{Path: c.path, Offset: c.off, TrapSafe: inTrap, Handler: nothing}
		if err := uprobes.RegisterUprobe(u); !errors.Is(err, c.errno) {
			t.Errorf("%s: %v, want %v", c.name, err, c.errno)
		}
	}
}
