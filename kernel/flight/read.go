package flight

import (
	"sort"
	"syscall"
)

var (
	// ErrNone says that memory holds nothing of the boot before: the machine was off, or
	// something else has used it.
	ErrNone error = reason{syscall.ENOENT, "memory holds nothing of an earlier boot"}
	// ErrDamaged says that there is something, which does not fit its checksum.
	ErrDamaged error = reason{syscall.EBADMSG, "the record of the previous boot has a wrong checksum: nothing of it is shown"}
)

// reason is an errno with its words.
type reason struct {
	syscall.Errno
	text string
}

func (r reason) Error() string { return r.text }
func (r reason) Unwrap() error { return r.Errno }

// Record is a message as read back.
type Record struct {
	Seq   uint64
	Time  int64 // ns since that boot
	Level uint8
	CPU   int
	Text  []byte
	Cut   bool // the rest of it is damaged
}

// A Flight is what the boot before has left.
type Flight struct {
	Boot  uint64 // how many there have been since the machine was off
	Stage uint8  // the last that it came to
	End   Ending
	Log   []Record
	Hits  []Record
	Said  []byte // by the Go runtime
	Lost  int    // records that were in the log and are damaged, or were never finished
}

// Before returns what the boot before has left.
//
// Errors: ErrNone, ErrDamaged.
func (r *Recorder) Before() (*Flight, error) {
	switch {
	case r.damaged:
		return nil, ErrDamaged
	case !r.before:
		return nil, ErrNone
	}
	h := &r.mem[1-r.own]
	seed := h.head.seed
	f := &Flight{Boot: h.head.boot, Said: saidIn(h.said[:], seed)}
	stage, ok1 := unmark(seed, h.head.stage)
	end, ok2 := unmark(seed, h.head.end)
	if !ok1 || !ok2 {
		return nil, ErrDamaged
	}
	f.Stage, f.End = stage, Ending(end)
	f.Log, f.Lost = records(h.log[:], seed)
	f.Hits, _ = records(h.hits[:], seed)
	return f, nil
}

// records returns what slots hold, in order, and how many are missing between the first
// and the last.
func records(slots []slot, seed uint64) (all []Record, lost int) {
	good := map[uint64]*slot{}
	for i := range slots {
		if s := slots[i]; s.sum == s.checksum(seed) && s.ticket%uint64(len(slots)) == uint64(i) {
			good[s.ticket] = &s
		}
	}
	used := 0
	first, last := ^uint64(0), uint64(0)
	for t, s := range good {
		n := int(s.meta >> 8 & 0xff)
		if n == 0 {
			continue
		}
		rec := Record{Seq: t, Time: s.time, Level: uint8(s.meta), CPU: int(s.meta >> 16 & 0xffff)}
		rec.gather(good, int(s.meta>>32), n)
		all = append(all, rec)
		used += n
		first, last = min(first, t), max(last, t+uint64(n)-1)
	}
	if len(all) == 0 {
		return nil, 0
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Seq < all[j].Seq })
	return all, int(last-first) + 1 - used
}

// gather puts the text of rec together: n bytes in so many pieces, of which what good does
// not have is cut off.
func (rec *Record) gather(good map[uint64]*slot, n, pieces int) {
	for i := range pieces {
		s := good[rec.Seq+uint64(i)]
		if s == nil || i > 0 && s.meta != 0 {
			rec.Cut = true
			break
		}
		rec.Text = appendWords(rec.Text, s.text[:])
	}
	rec.Text = rec.Text[:min(n, len(rec.Text))]
}

// saidIn returns what cells hold, in order.
func saidIn(cells []cell, seed uint64) (text []byte) {
	type part struct {
		number uint64
		text   []byte
	}
	var parts []part
	for i := range cells {
		c := cells[i]
		n := int(c.sum & (1<<lengthBits - 1))
		number := c.sum&labelMask>>lengthBits*saidCells + uint64(i)
		if n > 0 && n <= cellText && c.sum == c.checksum(seed, number, n) {
			parts = append(parts, part{number, appendWords(nil, c.text[:])[:n]})
		}
	}
	sort.Slice(parts, func(i, j int) bool { return parts[i].number < parts[j].number })
	for _, p := range parts {
		text = append(text, p.text...)
	}
	return text
}

// appendWords appends the bytes of words.
func appendWords(to []byte, words []uint64) []byte {
	for _, w := range words {
		for i := range 8 {
			to = append(to, byte(w>>(8*i)))
		}
	}
	return to
}
