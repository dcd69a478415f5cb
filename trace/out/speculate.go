package out

import (
	"bytes"

	"sonde/trace/lang"
)

// Speculations hold records back until commit() or discard().
type Speculations struct {
	Lost int // records that there was no room for

	held  map[uint64][][]byte
	bytes int
}

// maxHeld is how many bytes of records are held back at most.
const maxHeld = 1 << 20

// Take returns the records that a record lets be handled now: itself, or those that it commits.
func (s *Speculations) Take(u *lang.Unit, record []byte) [][]byte {
	a, data := Action(u, record)
	if a == nil || !u.Settings.Speculates || a.Kind == lang.Exit {
		return [][]byte{record}
	}
	id := word(record[a.Head-8:])
	switch {
	case a.Kind == lang.Commit || a.Kind == lang.Discard:
		id = word(data)
		all := s.held[id]
		for _, r := range all {
			s.bytes -= len(r)
		}
		delete(s.held, id)
		if a.Kind == lang.Commit {
			return all
		}
	case id == 0:
		return [][]byte{record}
	case s.bytes+len(record) > maxHeld:
		s.Lost++
	default:
		if s.held == nil {
			s.held = map[uint64][][]byte{}
		}
		s.held[id], s.bytes = append(s.held[id], bytes.Clone(record)), s.bytes+len(record)
	}
	return nil
}
