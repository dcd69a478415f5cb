package symbols

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"sonde/kernel/vfs"
)

// jit is what a process says in /tmp/perf-PID.map of functions that it has made, as runtimes with a compiler of their
// own do: a line "START SIZE NAME" for each, in hexadecimal numbers.
//
// Source: Linux, "tools/perf/Documentation/jit-interface.txt".
type jit struct {
	functions []function // by start; of two at one address, the later line is after the other
	size      int64      // of the file when it was read
	changed   time.Time
}

type function struct {
	start, size uint64
	name        string
}

// maxMap is how long such a file may be, in bytes; what is after it is not read.
const maxMap = 16 << 20

// mostMaps is of how many processes the functions are kept.
const mostMaps = 32

func mapPath(pid int) string { return fmt.Sprintf("/tmp/perf-%d.map", pid) }

// made returns what a process says of the functions that it has made. Called with mu held.
func (n *Names) made(pid int) *jit {
	path := mapPath(pid)
	known := n.jits[pid]
	info, err := vfs.Stat(path)
	if err != nil || info.IsDir() {
		return known // a file that was removed, as runtimes do at their end, is remembered for a while
	}
	if known != nil && known.size == info.Size() && known.changed.Equal(info.ModTime()) {
		return known
	}
	known = &jit{size: info.Size(), changed: info.ModTime()}
	if f, err := vfs.Open(path, vfs.O_RDONLY|vfs.O_NONBLOCK); err == nil {
		text := make([]byte, min(known.size, maxMap))
		got, _ := f.ReadAt(text, 0)
		known.functions = parseMap(text[:got])
		vfs.Close(f)
	}
	if len(n.jits) >= mostMaps {
		clear(n.jits) // they are read again when an address of theirs is named
	}
	n.jits[pid] = known
	return known
}

// parseMap reads the lines of a map. Those that are none are left out.
func parseMap(text []byte) (all []function) {
	for line := range bytes.Lines(text) {
		start, rest, _ := bytes.Cut(line, []byte(" "))
		size, name, ok := bytes.Cut(rest, []byte(" "))
		a, err := strconv.ParseUint(string(start), 16, 64)
		if n, err2 := strconv.ParseUint(string(size), 16, 64); ok && err == nil && err2 == nil {
			all = append(all, function{a, n, string(bytes.TrimSpace(name))})
		}
	}
	slices.SortStableFunc(all, func(a, b function) int { return cmp.Compare(a.start, b.start) })
	return all
}

// near is how many functions that begin before an address are looked at: memory is used again, and old lines stay.
const near = 8

// at returns the function that an address is in; nil: none. Of several, the one that begins last.
func (j *jit) at(addr uint64) *function {
	if j == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(j.functions, addr, func(f function, addr uint64) int {
		if f.start <= addr {
			return -1
		}
		return 1
	})
	for k := i - 1; k >= max(0, i-near); k-- {
		if f := &j.functions[k]; addr-f.start < f.size {
			return f
		}
	}
	return nil
}
