//go:build tamago

package uprobes

import (
	"bytes"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	elf "sonde/linux/program"
	"sonde/uprobes"
	"sonde/uprobes/place"
)

func init() {
	some := func(nth int) func(t *suites.T) {
		return func(t *suites.T) {
			for _, w := range workloads() {
				if w.brief && !(fuses && w.forks) {
					w.isTheSame(t, nth)
				}
			}
		}
	}
	both("uprobes/some_boundaries_in_each_way", some(19))
	fused("uprobes/some_boundaries", some(61))
	for _, name := range []string{"sh", "awk", "pipelines", "go", "go with collections", "libc"} {
		fused("uprobes/every_boundary_of_"+strings.ReplaceAll(name, " ", "_"), func(t *suites.T) { every(t, name) })
	}
	both("uprobes/every_boundary_of_sh", func(t *suites.T) { every(t, "sh") })
	both("uprobes/every_boundary_of_awk", func(t *suites.T) { every(t, "awk") })
	both("uprobes/every_boundary_of_pipelines", func(t *suites.T) { every(t, "pipelines") })
	both("uprobes/every_boundary_of_go", func(t *suites.T) { every(t, "go") })
	both("uprobes/every_boundary_of_go_with_collections", func(t *suites.T) { every(t, "go with collections") })
	both("uprobes/every_boundary_of_libc", func(t *suites.T) { every(t, "libc") })
}

// every tries all boundaries of the workloads of a name.
func every(t *suites.T, name string) {
	t.NeedsLong()
	for _, w := range workloads() {
		if w.name == name {
			w.isTheSame(t, 1)
		}
	}
}

// A workload is a program whose output is known from a run without probes.
type workload struct {
	name  string
	brief bool   // a part of its boundaries is tried in each run of the tests
	file  string // whose code is probed
	prog  string // file, if it is empty
	args  []string
	forks bool // its children are probed, too

	want string
	code *elf.File
	most int  // probes at a time
	vma  bool // they are on addresses of one process, not on a file
}

func workloads() []*workload {
	const libc = "/lib/x86_64-linux-gnu/libc.so.6"
	return []*workload{
		{name: "sh", brief: true, file: "/bin/busybox", args: []string{"sh", "-c", `for i in 1 2 3; do x=$((x*10+i)); echo "$x"; done; case $x in 1*3) echo ${x#1};; esac; test -d /bin && printf '%05d %s\n' 42 end`}},
		{name: "awk", file: "/bin/busybox", args: []string{"awk", `BEGIN { for (i = 1; i < 4; i++) s = s sprintf("%.2f ", i / 3); print s; print toupper(substr("boundary", 3)), index("abc", "c") }`}},
		{name: "pipelines", brief: true, file: "/bin/busybox", forks: true, args: []string{"sh", "-c", `for i in 3 1 2; do echo $i; done | sort | { read a; echo "first $a"; cat; }; x=$(echo sub | tr a-z A-Z); echo $x; (exit 3); echo $?; true & wait $!; echo done`}},
		{name: "go with collections", file: "/bin/gothreads", args: []string{"collect"}},
		{name: "go", file: "/bin/box", args: []string{"seq", "1", "5"}},
		{name: "libc", file: libc, prog: "/usr/bin/seq", args: []string{"-f", "%.3f", "1", "3"}},
		{name: "libc", file: libc, prog: "/usr/bin/sort", args: []string{"-n", "/etc/passwd"}},
	}
}

// isTheSame probes every nth instruction of all functions that a program reaches, in each
// way, and compares what the program prints, and how it ends, with a run without probes.
func (w *workload) isTheSame(t *suites.T, nth int) {
	defer uprobes.Force(place.Refused)
	if !w.prepare(t) {
		return
	}
	reached := w.reached(t, nth)
	for _, way := range w.ways() {
		if uprobes.Force(way); !t.Failed() {
			w.try(t, reached, nth, way)
		}
	}
}

// ways are forced, one after the other. Only the usual one is fused.
func (w *workload) ways() []place.Way {
	if fuses {
		return []place.Way{place.Refused}
	}
	return []place.Way{place.Refused, place.Emulate, place.Step}
}

// prepare runs the program without probes. Not ok: it is not in the kernel's tree.
func (w *workload) prepare(t *suites.T) (ok bool) {
	w.most, w.vma = 1500, w.prog == "" && !w.forks
	if w.prog == "" {
		w.prog = w.file
	}
	b, err := vfs.Root.ReadFile(strings.TrimPrefix(w.file, "/"))
	if _, err2 := vfs.Stat(w.prog); err != nil || err2 != nil {
		t.Logf("%s is not in the kernel's tree", w.prog)
		return false
	}
	w.code, err = elf.Open(bytes.NewReader(b))
	t.Must(err)
	r := w.start(t, nil)
	<-r.p.Done()
	w.want = r.out.String()
	r.wait(t, w.want)
	return true
}

func (w *workload) start(t *suites.T, ready func(in *proc.Process)) *run {
	if ready == nil {
		ready = func(*proc.Process) {}
	}
	return (&program{path: w.prog}).start(t, ready, w.args...)
}

// reached returns the functions that the program calls; where it takes long, of every nth.
func (w *workload) reached(t *suites.T, nth int) (all []elf.Symbol) {
	fns := w.code.All()
	if w.forks {
		for i := 0; i*nth < len(fns); i++ {
			fns[i] = fns[i*nth]
		}
		fns = fns[:(len(fns)+nth-1)/nth]
	}
	var addrs []uint64
	for _, s := range fns {
		addrs = append(addrs, s.Addr)
	}
	hits := w.runs(t, addrs)
	for i, s := range fns {
		if hits[i] > 0 {
			all = append(all, s)
		}
	}
	return all
}

// try probes the instructions of functions.
func (w *workload) try(t *suites.T, fns []elf.Symbol, nth int, way place.Way) {
	var addrs []uint64
	n := 0
	for _, s := range fns {
		begins, err := w.code.Instructions(s)
		if err != nil {
			t.Logf("%v", err)
			continue
		}
		for _, off := range begins {
			if n++; n%nth == 0 {
				addrs = append(addrs, s.Addr+off)
			}
		}
	}
	hit, sum := 0, uint64(0)
	for _, h := range w.runs(t, addrs) {
		if h > 0 {
			hit++
			sum += h
		}
	}
	t.Logf("%s %.20s, ways but %v: %d functions, %d of %d probes are hit, %d times", w.prog, w.args, way, len(fns), hit, len(addrs), sum)
	if hit == 0 {
		t.Errorf("no probe is hit")
	}
}

// runs runs the program with probes at addrs, as many at a time as it can have, and
// returns how often they were hit.
func (w *workload) runs(t *suites.T, addrs []uint64) []uint64 {
	hits := make([]uint64, len(addrs))
	for at := 0; at < len(addrs) && !t.Failed(); at += w.most {
		end := min(at+w.most, len(addrs))
		w.run(t, addrs[at:end], hits[at:end])
		if t.Failed() {
			t.Logf("%s %v with probes at %#x to %#x", w.prog, w.args, addrs[at], addrs[end-1])
		}
	}
	return hits
}

func (w *workload) run(t *suites.T, addrs, hits []uint64) {
	var all []*uprobes.Uprobe
	var which []int // of addrs
	register := func(in *proc.Process) {
		for i, addr := range addrs {
			u := fusable(&uprobes.Uprobe{Vaddr: addr, TrapSafe: inTrap, Handler: func(*uprobes.Uprobe, *amd64.Regs) { atomic.AddUint64(&hits[i], 1) }})
			if w.vma {
				u.Pid = in.PID
			} else {
				u.Path = w.file
				u.Offset, _ = w.code.Offset(addr)
			}
			// Padding, and what is no code.
			if err := uprobes.RegisterUprobe(u); err == nil {
				all, which = append(all, u), append(which, i)
			} else if !errors.Is(err, syscall.EILSEQ) && !errors.Is(err, syscall.EEXIST) {
				t.Errorf("%#x: %v", addr, err)
			}
		}
	}
	if !w.vma {
		register(nil)
	}
	r := w.start(t, func(in *proc.Process) {
		if w.vma {
			register(in)
		}
	})
	r.wait(t, w.want)
	for i, u := range all {
		if err := uprobes.UnregisterUprobe(u); err != nil {
			t.Errorf("%#x: %v", u.Vaddr, err)
		}
		if l := u.Ledger(); l.Handled != l.Entered || !fuses && hits[which[i]] != l.Handled || hits[which[i]] > l.Handled {
			t.Errorf("%#x: the handler was called %d times; %+v", u.Vaddr, hits[which[i]], l)
		} else {
			hits[which[i]] = l.Handled
		}
	}
}
