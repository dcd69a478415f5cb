package explain

import (
	"fmt"
	"io"

	"sonde/arch/amd64/listing"
)

// A folder keeps rows without a note back, as long as it knows what they do in
// common, and prints one line for them if they are many.
type folder struct {
	doing string // what those now coming do; "": each is printed
	rows  []listing.Row
}

// few rows are printed all the same.
const few = 2

// doings is what comes after a note.
var doings = map[string]string{
	noteOwn:   "find the trap stack",
	noteStack: "save the registers as a trap does, enter the trap's g",
	noteNames: "count the hit, find what handles it",
	noteCall:  "look for a return probe; restore g and registers",
	noteFew:   "save registers; check whether a handler is running",
	noteAlone: "record the call; replace its return address",
}

// add prints r, now or later.
func (f *folder) add(w io.Writer, r listing.Row) {
	if r.Note == "" && f.doing != "" {
		f.rows = append(f.rows, r)
		return
	}
	f.flush(w)
	r.Write(w)
	f.doing = doings[r.Note]
}

// flush prints what has been kept back.
func (f *folder) flush(w io.Writer) {
	if len(f.rows) > few {
		n := 0
		for _, r := range f.rows {
			n += len(r.Code)
		}
		fmt.Fprintf(w, "  %-10s (%d bytes: %s)\n", "..", n, f.doing)
		f.rows = nil
	}
	for _, r := range f.rows {
		r.Write(w)
	}
	f.rows = nil
}
