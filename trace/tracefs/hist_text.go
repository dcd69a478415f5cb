package tracefs

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tracepoints "sonde/probe/event"
)

// An entry is one of a histogram.
type entry struct {
	key    []byte
	values []uint64
	comm   string
}

func (h *hist) entries() (all []entry) {
	h.data.Range(0, func(key, value []byte) bool {
		e := entry{key: slices.Clone(key)}
		for i := range 1 + len(h.vals) {
			e.values = append(e.values, binary.LittleEndian.Uint64(value[8*i:]))
		}
		e.comm = cString(value[8*len(e.values):])
		all = append(all, e)
		return true
	})
	slices.SortFunc(all, h.compare)
	return all
}

func (h *hist) compare(a, b entry) int {
	sorts := h.sort
	if len(sorts) == 0 {
		sorts = []sorting{{column: "hitcount"}}
	}
	for _, s := range sorts {
		n := h.compareBy(s.column, a, b)
		if s.descending {
			n = -n
		}
		if n != 0 {
			return n
		}
	}
	return slices.Compare(a.key, b.key)
}

func (h *hist) compareBy(name string, a, b entry) int {
	less := func(x, y uint64) int {
		switch {
		case int64(x) < int64(y):
			return -1
		case x == y:
			return 0
		}
		return 1
	}
	if name == "hitcount" {
		return less(a.values[0], b.values[0])
	}
	for _, k := range h.keys {
		if x, y := a.key[k.at:k.at+k.size], b.key[k.at:k.at+k.size]; k.name == name {
			if k.size == 8 && (k.field == nil || !k.field.text) {
				return less(binary.LittleEndian.Uint64(x), binary.LittleEndian.Uint64(y))
			}
			return slices.Compare(x, y)
		}
	}
	i := slices.IndexFunc(h.vals, func(c *column) bool { return c.name == name })
	return less(a.values[i+1], b.values[i+1])
}

// tables are an event's histograms.
func (s *state) tables() string {
	var all []string
	if s != nil {
		for _, t := range s.triggers {
			if t.hist != nil {
				all = append(all, t.table())
			}
		}
	}
	return strings.Join(all, "\n\n")
}

// table is the histogram as the file hist has it.
func (t *trigger) table() string {
	h := t.hist
	var b strings.Builder
	fmt.Fprintf(&b, "# event histogram\n#\n# trigger info: %s\n#\n\n", t)
	all, hits := h.entries(), uint64(0)
	for _, e := range all {
		b.WriteString("{ ")
		for i, k := range h.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(k.name + ": " + k.show(e.key[k.at:k.at+k.size], e.comm))
		}
		fmt.Fprintf(&b, " } hitcount: %10d", e.values[0])
		for i, v := range h.vals {
			fmt.Fprintf(&b, "  %s: %s", v.name, v.number(e.values[i+1]))
		}
		b.WriteByte('\n')
		hits += e.values[0]
	}
	fmt.Fprintf(&b, "\nTotals:\n    Hits: %d\n    Entries: %d\n    Dropped: %d\n", hits+h.data.Lost(), len(all), h.data.Lost())
	return b.String()
}

// show is a part of a key, as Linux shows it.
func (k *column) show(b []byte, comm string) string {
	if k.field != nil && k.field.text {
		return fmt.Sprintf("%-50s", cString(b))
	}
	if k.modifier == "stacktrace" {
		text := "\n"
		for ; len(b) >= 8; b = b[8:] {
			if addr := binary.LittleEndian.Uint64(b); addr != 0 {
				text += "         " + place(addr, false, true) + "\n"
			}
		}
		return text
	}
	v := binary.LittleEndian.Uint64(b)
	switch k.modifier {
	case "execname":
		return fmt.Sprintf("%-16s[%10d]", comm, v)
	case "sym":
		return fmt.Sprintf("[%x] %-45s", v, strings.SplitN(place(v, false, false), "+", 2)[0])
	case "sym-offset":
		return fmt.Sprintf("[%x] %-55s", v, place(v, false, true))
	case "syscall":
		return fmt.Sprintf("%-30s[%3d]", callName(v), v)
	case "log2":
		return fmt.Sprintf("~ 2^%-2d", max(v, 1)-1)
	case "buckets":
		return fmt.Sprintf("~ %d-%d", v, v+k.width-1)
	}
	return k.number(v)
}

// number is a number of a column.
func (k *column) number(v uint64) string {
	switch {
	case k.modifier == "hex":
		return strconv.FormatUint(v, 16)
	case k.field != nil && k.field.Signed:
		return fmt.Sprintf("%10d", int64(v))
	}
	return fmt.Sprintf("%10d", v)
}

// callName is the name of a system call: tracepoints of calls have the numbers after those of all calls.
func callName(n uint64) string {
	first, _ := tracepoints.Named("raw_syscalls:sys_enter")
	if call, err := tracepoints.Numbered(first + 2 + 2*n); err == nil && n < 1<<16 {
		if name, ok := strings.CutPrefix(call.Name, "syscalls:sys_enter_"); ok {
			return "sys_" + name
		}
	}
	return "unknown_syscall"
}

// variables reads VAR=NUMBER, where NUMBER may be a sum: it is listed with its value.
func (s *state) variables(have []string, part string, at int) ([]string, error) {
	name, expr, _ := strings.Cut(part, "=")
	n, err := constant(expr, at+len(name)+1)
	if err != nil {
		return nil, err
	}
	return append(have, fmt.Sprintf("%s=%d", name, n)), nil
}
