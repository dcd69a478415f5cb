package printk

import (
	"bytes"
	"fmt"
	"io"

	"sonde/kernel/flight"
)

// DmesgBefore writes what the previous boot has left (package flight) in the format of
// Dmesg: how it ended, its log without the records that are less urgent than max, what the
// Go runtime printed at its end, and its last hits.
//
// Errors: flight.ErrNone, flight.ErrDamaged.
func DmesgBefore(w io.Writer, max Level) error {
	f, err := flight.Main.Before()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "--- %s ---\n", Ended(f))
	for i := range f.Log {
		if r := &f.Log[i]; Level(r.Level) <= max {
			stamped(&b, r)
		}
	}
	if f.Lost > 0 {
		fmt.Fprintf(&b, "--- %d entries of the log are missing ---\n", f.Lost)
	}
	if len(f.Said) > 0 {
		fmt.Fprintf(&b, "--- output of the Go runtime ---\n%s", bytes.ReplaceAll(f.Said, []byte("\r"), nil))
	}
	if len(f.Hits) > 0 {
		b.WriteString("--- the last hits of probes ---\n")
	}
	for i := range f.Hits {
		stamped(&b, &f.Hits[i])
	}
	_, err = w.Write(b.Bytes())
	return err
}

// Ended is a sentence on how f ended.
func Ended(f *flight.Flight) string {
	return fmt.Sprintf("boot %d since power-on %s; it had reached stage %02d", f.Boot, f.End, f.Stage)
}

// stamped writes each line of a record with its time.
func stamped(b *bytes.Buffer, r *flight.Record) {
	for rest := r.Text; ; {
		var head []byte
		head, rest = cutLine(rest)
		l := line{b: make([]byte, maxText+32)}
		l.stamp(r.Time)
		l.bytes(head)
		b.Write(l.b[:l.n])
		if len(rest) == 0 {
			break
		}
		b.WriteByte('\n')
	}
	if r.Cut {
		b.WriteString("...")
	}
	b.WriteByte('\n')
}
