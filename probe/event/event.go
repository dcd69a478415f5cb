// Package event has Linux's tracepoints, and some of Go's runtime, by their names: event:sched:sched_switch.
//
// Nothing in the kernel calls a tracepoint. Each is another name for a place that can be probed, with a
// record of what is found there, whose fields are where the file format in /sys/kernel/tracing/events says.
// So a tracepoint costs nothing when nothing is attached. The handler finds the record in the Data of the hit.
//
// For a goroutine that runs for no program, pid is 0x400000 plus its number, as for programs of eBPF, and comm
// is kernel. The scheduler is 0, swapper.
package event

import (
	"syscall"

	"sonde/bpf"
	"sonde/kallsyms"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
)

// An Event is a tracepoint.
type Event struct {
	System, Name string
	ID           int
	Fields       []Field // beyond those that all have
	Size         int     // of the record, in bytes

	places []string // any of these is the event
	fill   func(p *point, r *record, h *attach.Hit)
}

// A Field is part of a record.
type Field struct {
	Name   string
	Type   string // in C
	Offset int
	Size   int // in bytes
	Count  int // elements of an array of numbers; 0: it is none
	Signed bool
	Text   bool // an array of characters that ends with a 0
	Loc    bool // where such an array is: its offset in the record, and 65536 times its length

	// Word is the offset after the record of a word with the value; of a text, of its address, and a word with its
	// length follows. It is for scripts, which so need not know how long fields are.
	Word int
}

// String returns the event's name as places have it, without event: before it.
func (e *Event) String() string { return e.System + ":" + e.Name }

// All are the tracepoints that have a place, by system.
func All() (all []*Event) {
	for _, e := range events {
		if len(e.places) > 0 {
			all = append(all, e)
		}
	}
	return all
}

// Find returns the tracepoint of a name, as in sched:sched_switch.
//
// Errors: ENOENT there is no such tracepoint, with near names.
func Find(name string) (*Event, error) {
	var names []string
	for _, e := range All() {
		if e.String() == name {
			return e, nil
		}
		names = append(names, e.String())
	}
	return nil, refusal.New(syscall.ENOENT, "there is no tracepoint %s%s", name, kallsyms.Hint(kallsyms.Nearest(name, names)))
}

// ByID returns the tracepoint with a number; nil: there is none.
func ByID(id int) *Event {
	if i := id - firstID; i >= 0 && i < len(events) && len(events[i].places) > 0 {
		return events[i]
	}
	return nil
}

const (
	firstID = 100
	common  = 8   // bytes of the fields that all records have
	texts   = 384 // up to here a record is as Linux has it; then come the words
	room    = bpf.RecordSize
)

// layout gives each field its place, one after the other and aligned.
func (e *Event) layout(id int) {
	e.ID = id
	at := common
	for i := range e.Fields {
		f := &e.Fields[i]
		align := f.Size
		if f.Text {
			align = 1
		}
		at = (at + align - 1) / align * align
		f.Offset, f.Word = at, texts+16*i
		at += f.Size
	}
	e.Size = (at + 3) / 4 * 4
	for i := range e.Fields {
		if e.Fields[i].Loc {
			e.Size = max(e.Size, texts)
		}
	}
}

func init() {
	for i, e := range events {
		e.layout(firstID + i)
	}
}
