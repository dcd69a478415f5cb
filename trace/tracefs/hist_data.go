package tracefs

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"sonde/bpf"
	"sonde/kernel/refusal"
	"sonde/probe/program"
)

// String is the histogram as the file trigger lists it.
func (h *hist) String() string {
	text := "hist:"
	if h.name != "" {
		text += "name=" + h.name + ":"
	}
	list := func(all []*column) (names []string) {
		for _, c := range all {
			name := c.name
			if c.modifier != "" && c.name != "stacktrace" && c.name != "common_stacktrace" {
				name += "." + c.modifier
			}
			if c.width > 0 {
				name += fmt.Sprintf("=%d", c.width)
			}
			names = append(names, name)
		}
		return names
	}
	text += "keys=" + strings.Join(list(h.keys), ",") + ":vals=" + strings.Join(append([]string{"hitcount"}, list(h.vals)...), ",")
	for _, v := range h.vars {
		text += ":" + v
	}
	sorts := []string{"hitcount"}
	if len(h.sort) > 0 {
		sorts = nil
	}
	for _, s := range h.sort {
		name := s.column
		if s.descending {
			name += ".descending"
		}
		sorts = append(sorts, name)
	}
	return text + ":sort=" + strings.Join(sorts, ",") + fmt.Sprintf(":size=%d", h.size)
}

func (h *hist) status() string {
	if h.histData != nil && h.paused {
		return "paused"
	}
	return "active"
}

func (h *hist) keySize() (n int) {
	for _, k := range h.keys {
		n += k.size
	}
	return n
}

// names tells whether a key is shown by the name of what ran, which is then kept with the sums.
func (h *hist) names() bool {
	return slices.ContainsFunc(h.keys, func(c *column) bool { return c.modifier == "execname" })
}

func (h *hist) valueSize() int {
	n := 8 * (1 + len(h.vals))
	if h.names() {
		n += recordAt
	}
	return n
}

// prepare makes the map.
func (h *hist) prepare() (err error) {
	if of := h.in.named(h.name); of != nil {
		if of.keySize() != h.keySize() || of.valueSize() != h.valueSize() {
			return refusal.New(syscall.EINVAL, "hist: %s has other keys or values", h.name)
		}
		h.histData = of.histData
		h.users++
		return nil
	}
	h.histData = &histData{users: 1}
	if h.slot, err = h.in.take(1); err != nil {
		return err
	}
	h.in.set(h.slot, true)
	h.data, err = program.NewMap(bpf.MapSpec{Name: "hist", Type: bpf.Hash, KeySize: uint32(h.keySize()), ValueSize: uint32(h.valueSize()), MaxEntries: uint32(h.size)})
	if err != nil {
		h.in.release(h.slot, 1)
	}
	return err
}

func (h *hist) close() {
	if h.users--; h.users == 0 {
		h.data.Close()
		h.in.release(h.slot, 1)
	}
}

// command pauses, continues or clears the event's histogram with the same keys.
func (s *state) command(t *trigger) error {
	for _, o := range s.triggers {
		h := o.hist
		if h == nil || h.String() != t.hist.String() {
			continue
		}
		switch t.hist.command {
		case "clear":
			return h.clear()
		case "pause":
			h.paused = true
		default:
			h.paused = false
		}
		h.in.set(h.slot, !h.paused)
		return nil
	}
	return refusal.New(syscall.ENOENT, "%s has no such histogram", s.event)
}

func (h *hist) clear() error {
	for _, e := range h.entries() {
		if err := h.data.Delete(0, e.key); err != nil {
			return err
		}
	}
	return nil
}
