//go:build tamago

package lab2

import "sync/atomic"

// The table has a row for each file. It is as large as it will ever be from the beginning, because
// handlers may not allocate memory.

const (
	rows    = 32 // files that there is room for
	maxName = 40 // bytes of a name that are kept
)

// A row is a file, and what was written to it.
type row struct {
	state   atomic.Int32 // free, taken while a CPU writes the name, named
	long    bool         // the name had more bytes; these are the last
	length  int
	name    [maxName]byte
	asked   atomic.Int64 // bytes that were to be written
	written atomic.Int64
	short   atomic.Int64 // writes that wrote less than was asked for
}

// The states of a row.
const (
	free int32 = iota
	taken
	named
)

// table has the rows; the last is for all files that have none of their own.
var table [rows + 1]row

// rowOf returns the index in the table of a file's row, which is new if the file is.
//
// It may be called on several CPUs at once: the CPU that changes the state from free to taken writes
// the name, and the others wait until it has. They wait for a few instructions, not for a lock.
func rowOf(name string) int {
	long := len(name) > maxName
	if long {
		name = name[len(name)-maxName:]
	}
	for i := range rows {
		r := &table[i]
		if r.state.CompareAndSwap(free, taken) {
			r.long = long
			r.length = copy(r.name[:], name)
			r.state.Store(named)
			return i
		}
		for r.state.Load() == taken {
		}
		if r.long == long && string(r.name[:r.length]) == name {
			return i
		}
	}
	return rows
}

// title is the name of a row's file, as it is printed.
func (r *row) title() string {
	if r.long {
		return "..." + string(r.name[:r.length])
	}
	return string(r.name[:r.length])
}

// clearTable forgets all files.
func clearTable() {
	for i := range table {
		r := &table[i]
		r.state.Store(free)
		r.asked.Store(0)
		r.written.Store(0)
		r.short.Store(0)
	}
}
