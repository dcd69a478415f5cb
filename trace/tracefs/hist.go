package tracefs

import (
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/probe/program"
)

// A hist is a histogram of an event: hist:keys=K[.MODIFIER],…:vals=V,…:sort=F[.descending],…:size=N:name=NAME. It is a
// map, whose values are the number of hits and the sums.
type hist struct {
	keys, vals []*column
	sort       []sorting
	size       int
	name       string
	vars       []string // VAR=NUMBER, as they are listed
	command    string   // pause, continue or clear
	in         *instance

	*histData // nil: prepare makes it
}

// A histData is what a histogram has counted: those of one name share it.
type histData struct {
	data   *program.Map
	slot   int // of control: 1 while it is not paused
	users  int // triggers
	paused bool
}

// A column is a part of the key, or a value.
type column struct {
	name, modifier string
	field          *field
	width          uint64 // of buckets
	at, size       int    // in the key
}

type sorting struct {
	column     string
	descending bool
}

// Keys, as the program makes them after the record.
const (
	keyAt       = recordAt + mostRecord + longestText
	mostKey     = 320
	valueAt     = keyAt + mostKey
	scratchSize = valueAt + 8*16
	textInKey   = 64
	stackInKey  = 16 * 8
	defaultHist = 2048
	mostHist    = 1 << 17
)

var modifiers = []string{"", "hex", "sym", "sym-offset", "syscall", "execname", "log2", "buckets", "usecs", "stacktrace", "percent", "graph"}

// named are the histograms that triggers share, by instance and name. Guarded by mu.
func (i *instance) named(name string) *hist {
	for _, s := range i.states {
		for _, t := range s.triggers {
			if t.hist != nil && name != "" && t.hist.name == name {
				return t.hist
			}
		}
	}
	return nil
}

// parseHist reads what follows hist:; whole is the command, for the places of mistakes.
func (s *state) parseHist(text, whole string) (*hist, error) {
	h := &hist{size: defaultHist, in: s.in}
	at := len(whole) - len(text)
	var sorts []word
	for part := range strings.SplitSeq(text, ":") {
		w := word{part, at}
		at += len(part) + 1
		name, value, assigns := strings.Cut(part, "=")
		if assigns && value == "" {
			return nil, wrong(w.at, "Empty assignment")
		}
		values := word{value, w.at + len(name) + 1}
		var err error
		switch {
		case name == "keys" || name == "key":
			h.keys, err = s.columns(values, true)
		case name == "values" || name == "vals" || name == "val":
			h.vals, err = s.columns(values, false)
		case name == "sort":
			sorts = append(sorts, w)
		case name == "size":
			n, e := strconv.ParseUint(value, 0, 32)
			if e != nil || n == 0 || n > mostHist {
				err = refusal.New(syscall.EINVAL, "size=%s: give a number up to %d", value, mostHist)
			}
			h.size = 1
			for h.size < int(n) {
				h.size *= 2
			}
		case name == "name":
			h.name = value
		case part == "pause" || part == "cont" || part == "continue" || part == "clear":
			h.command = part
		case assigns && isName(name):
			h.vars, err = s.variables(h.vars, part, w.at)
		default:
			err = refusal.New(syscall.EINVAL, "hist: %s is not known here", part)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(h.keys) == 0 {
		return nil, refusal.New(syscall.EINVAL, "hist: there are no keys: give keys=FIELD")
	}
	for _, w := range sorts {
		if err := h.sorts(w); err != nil {
			return nil, err
		}
	}
	size := 0
	for _, k := range h.keys {
		k.at = size
		size += k.size
	}
	if size > mostKey {
		return nil, refusal.New(syscall.EINVAL, "hist: the keys take %d bytes, more than %d", size, mostKey)
	}
	return h, nil
}

// columns reads FIELD[.MODIFIER],….
func (s *state) columns(w word, key bool) (all []*column, err error) {
	at := w.at
	for part := range strings.SplitSeq(w.text, ",") {
		name, modifier, _ := strings.Cut(part, ".")
		if name == "hitcount" || name == "raw_hitcount" {
			if key {
				return nil, wrong(at, "Couldn't find field")
			}
			at += len(part) + 1
			continue
		}
		c := &column{name: name, modifier: modifier, size: 8}
		if m, n, ok := strings.Cut(modifier, "="); ok {
			if c.modifier, c.width = m, 0; m == "buckets" {
				c.width, err = strconv.ParseUint(n, 0, 63)
			}
			if err != nil || c.width == 0 {
				return nil, wrong(at, "Invalid field modifier")
			}
		}
		if !slices.Contains(modifiers, c.modifier) {
			return nil, wrong(at+len(name)+1, "Invalid field modifier")
		}
		switch c.field = s.event.field(name); {
		case name == "stacktrace" || name == "common_stacktrace":
			c.modifier, c.size = "stacktrace", stackInKey
		case name == "common_timestamp" || name == "common_cpu" || name == "cpu":
			c.field = nil
		case c.field == nil:
			return nil, wrong(at, "Couldn't find field")
		case c.field.text && !key:
			return nil, wrong(at, "Couldn't find field")
		case c.field.text:
			c.size = min(textInKey, (c.field.room+7)/8*8)
		}
		all = append(all, c)
		at += len(part) + 1
	}
	if len(all) > 8 {
		return nil, refusal.New(syscall.EINVAL, "hist: there are %d fields, more than 8", len(all))
	}
	return all, nil
}

// sorts reads sort=FIELD[.ascending|.descending],….
func (h *hist) sorts(w word) error {
	list := strings.TrimPrefix(w.text, "sort=")
	parts := strings.Split(list, ",")
	if slices.Contains(parts, "") {
		return wrong(w.at, "Empty sort field")
	}
	if len(parts) > 2 {
		return wrong(w.at, "Too many sort fields (Max = 2)")
	}
	at := w.at + len("sort=")
	for _, part := range parts {
		name, order, has := strings.Cut(part, ".")
		known := name == "hitcount" || slices.ContainsFunc(append(slices.Clone(h.keys), h.vals...), func(c *column) bool { return c.name == name })
		if !known {
			return wrong(at, "Invalid sort field")
		}
		if has && order != "ascending" && order != "descending" {
			return wrong(at+len(name)+1, "Invalid sort modifier")
		}
		h.sort = append(h.sort, sorting{name, order == "descending"})
		at += len(part) + 1
	}
	return nil
}
