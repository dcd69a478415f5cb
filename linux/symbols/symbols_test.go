package symbols

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/linux/space"
	linux "sonde/linux/syscall"
)

// TestNames: an address in a file that is a program has the name of the function, wherever it is mapped; one
// in what is none has no name.
func TestNames(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"/symbols_test": data, "/symbols_none": []byte("#!/bin/sh\n")} {
		if err := vfs.WriteFile(name, text); err != nil {
			t.Fatal(err)
		}
	}
	w := proctest.NewWorld(16<<20, linux.Handle)
	n := Watch(w.Table)
	defer n.Close()
	f := n.file("/symbols_test")
	if f == nil {
		t.Fatal("the program cannot be read")
	}
	fn := f.Functions()[10]
	off, _ := f.Offset(fn.Addr)
	area := space.Area{Start: 0x7000_0000_0000, Offset: off &^ 0xfff}
	area.End = area.Start + 0x100000
	area.Ident.Name = "/symbols_test"
	addr := area.Start + off&0xfff + 1
	other := area
	other.Ident.Name = "/symbols_none"
	n.ended = []process{{5, []space.Area{area}}, {6, []space.Area{other}}}
	for _, pid := range []int{5, 0} {
		if at, ok := n.Name(addr, pid); !ok || !at.Function || at.Name == "" || at.Offset != 1 || at.File != "/symbols_test" {
			t.Errorf("process %d: %+v, %v; want %s+1", pid, at, ok, fn.Name)
		}
	}
	if got, want := n.Before(addr, 5), fn.Name+"+0x0  "; !strings.HasPrefix(got, want) || !strings.Contains(got, ".go:") {
		t.Errorf("in front of %#x is %s, want %s and the line", addr, got, want)
	}
	if got, want := n.Before(addr, 6), fmt.Sprintf("before ip %#x", addr); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if at, ok := n.Name(addr, 6); !ok || at.String() != fmt.Sprintf("symbols_none+%#x", off+1) || at.Function {
		t.Errorf("in a file without functions: %v, %v", at, ok)
	}
	if _, ok := n.Name(0x1000, 5); ok {
		t.Error("there is a name where nothing is mapped")
	}
	runs(t, w, "/symbols_test", area.Offset, func(at uint64) {
		if at, ok := n.Name(at+addr-area.Start, 0); !ok || !at.Function || at.Offset != 1 {
			t.Errorf("while it runs: %+v, %v; want %s+1", at, ok, fn.Name)
		}
	})
}

// TestMadeFunctions: functions that a process has made have the names that it gives them in /tmp/perf-PID.map, until
// it gives them others; what else is mapped has the mapping's.
func TestMadeFunctions(t *testing.T) {
	if err := vfs.Root.MkdirAll("/tmp", 0o777); err != nil {
		t.Fatal(err)
	}
	w := proctest.NewWorld(16<<20, linux.Handle)
	n := Watch(w.Table)
	defer n.Close()
	code := space.Area{Start: 0x5000, End: 0x9000, Prot: space.Read | space.Exec}
	heap := space.Area{Start: 0x10000, End: 0x20000}
	heap.Ident.Name = "[heap]"
	n.ended = []process{{5, []space.Area{code, heap}}}
	names := func(addr uint64, want string) {
		t.Helper()
		if at, ok := n.Name(addr, 5); !ok || at.String() != want {
			t.Errorf("%#x is %s, %v, want %s", addr, at, ok, want)
		}
	}
	names(0x5010, "[anon]+0x10")
	names(0x10123, "[heap]+0x123")
	for addr, want := range map[uint64]string{0x5010: "[anon]", 0x10123: "[heap]", 0x4000: ""} {
		if name, ok := n.Area(addr, 5); name != want || ok != (want != "") {
			t.Errorf("%#x is in %q, %v, want %q", addr, name, ok, want)
		}
	}
	if name, ok := n.Area(0x5010, 4); ok {
		t.Errorf("a process that was never there has %s", name)
	}
	const path = "/tmp/perf-5.map"
	if err := vfs.WriteFile(path, []byte("not a line\n5010 20 Interpreted:hello.js:7\n0x6000 zz none\n5000 2000 stub of all \n5040 8")); err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[uint64]string{0x5000: "stub of all+0", 0x5010: "Interpreted:hello.js:7+0", 0x502f: "Interpreted:hello.js:7+31", 0x5030: "stub of all+48", 0x7000: "[anon]+0x2000"} {
		names(addr, want)
	}
	if err := vfs.WriteFile(path, []byte("5010 20 Interpreted:hello.js:7\n5010 20 Optimized:hello.js:7\n")); err != nil {
		t.Fatal(err)
	}
	names(0x5011, "Optimized:hello.js:7+1")
	if err := vfs.Remove(path); err != nil {
		t.Fatal(err)
	}
	names(0x5011, "Optimized:hello.js:7+1")
	for pid := 100; pid < 100+2*mostMaps; pid++ {
		n.ended = []process{{pid, []space.Area{code}}}
		if err := vfs.WriteFile(mapPath(pid), []byte("5010 20 f\n")); err != nil {
			t.Fatal(err)
		}
		if at, ok := n.Name(0x5011, pid); !ok || at.String() != "f+1" || len(n.jits) > mostMaps {
			t.Errorf("process %d: %s, %v; %d maps are kept", pid, at, ok, len(n.jits))
		}
	}
}

// runs calls f while a process runs that has mapped a page of a file.
func runs(t *testing.T, w *proctest.World, path string, offset uint64, f func(at uint64)) {
	img, err := w.Image("test", func(*proctest.Player) {})
	if err != nil {
		t.Fatal(err)
	}
	file, err := vfs.Open(path, vfs.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer vfs.Close(file)
	b, err := file.Backing()
	if err != nil {
		t.Fatal(err)
	}
	at, err := img.Space.Map(0, space.PageSize, space.Read|space.Exec, 0, b, offset)
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Table.Start(proc.Spec{Image: img, Ready: func(*proc.Process) { f(at) }})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
}

// TestEndedProcesses: what a process has mapped is known when it has ended.
func TestEndedProcesses(t *testing.T) {
	w := proctest.NewWorld(16<<20, linux.Handle)
	n := Watch(w.Table)
	defer n.Close()
	img, err := w.Image("test", func(p *proctest.Player) {})
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Table.Start(proc.Spec{Image: img})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if len(n.ended) != 1 || n.ended[0].pid != p.PID {
		t.Errorf("%+v", n.ended)
	}
}

// TestManyAreasOfEndedProcesses: the areas of processes that have many are kept for fewer of them.
func TestManyAreasOfEndedProcesses(t *testing.T) {
	n := &Names{}
	code := space.Area{Prot: space.Read | space.Exec}
	code.Ident.Name = "/bin/program"
	for pid := range 3 * most {
		n.keep(pid, slices.Repeat([]space.Area{code}, 1000))
	}
	total := 0
	for _, p := range n.ended {
		total += len(p.areas)
	}
	if total > mostAreas || total < mostAreas-1000 || n.areas != total || n.ended[len(n.ended)-1].pid != 3*most-1 {
		t.Errorf("%d processes with %d areas, counted as %d", len(n.ended), total, n.areas)
	}
}
