package event

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// Describe implements vfs.Describer: a line for each file in the set.
func (e *Epoll) Describe(w io.Writer) {
	e.control.Lock()
	defer e.control.Unlock()
	for _, it := range slices.SortedFunc(maps.Values(e.items), func(a, b *item) int { return a.fd - b.fd }) {
		events, data := e.asked(it)
		i := it.file.Info()
		fmt.Fprintf(w, "tfd: %8d events: %8x data: %16x  pos:0 ino:%x sdev:%x\n", it.fd, events, data, i.Ino, i.Dev)
	}
}

// asked returns what an item waits for, and its data.
func (e *Epoll) asked(it *item) (events uint32, data uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return it.events, it.data
}
