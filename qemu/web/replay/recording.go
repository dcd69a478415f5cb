package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sonde/qemu/draw"
)

// Largest is the most bytes that a recording has.
const Largest = 1 << 20

// A recording is what glass -j prints, which has frames, or glass -o -j, which has steps. The schemas are in
// shell/replay.
type recording struct {
	Version  int
	Place    text
	File     text
	Line     int
	Tier     text
	Hit      uint64
	Lost     uint64
	Complete bool
	Original []code
	Fused    []code
	Explain  string
	Frames   []frame
	CPUs     int
	Steps    []step
}

type code struct {
	Addr  word
	Bytes hexes
	Asm   text
}

type frame struct {
	T     int64
	CPU   int
	Who   struct{ Goroutine, PID, TID uint64 }
	Stage text
	Says  text
	IP    *struct {
		code
		Is text
	}
	Regs  map[string]word
	Text  hexes
	Stack []struct {
		Addr, Word word
		Is         text
	}
}

type step struct {
	T    int64
	CPU  int
	Step text
	Says text
	Text hexes
}

// text is a string of the kernel or of a program, without what a terminal or a browser would obey.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	err := json.Unmarshal(b, &s)
	*t = text(draw.Clean(s, ""))
	return err
}

// word is a number that JSON has as a string.
type word uint64

// UnmarshalJSON implements json.Unmarshaler.
func (w *word) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	*w = word(n)
	return err
}

func (w word) String() string { return fmt.Sprintf("%#x", uint64(w)) }

// hexes are bytes, two digits each; nil: none.
type hexes []string

// UnmarshalJSON implements json.Unmarshaler.
func (h *hexes) UnmarshalJSON(b []byte) error {
	var s text
	err := json.Unmarshal(b, &s)
	*h = nil
	if s != "" {
		*h = strings.Fields(string(s))
	}
	return err
}

// parse reads a recording.
//
// Errors: it is none, or none of this version, or too large.
func parse(b []byte) (*recording, error) {
	if len(b) > Largest {
		return nil, fmt.Errorf("a recording of %d bytes; at most %d are read", len(b), Largest)
	}
	var rec recording
	err := json.Unmarshal(b, &rec)
	switch {
	case err != nil:
	case rec.Version != 1:
		err = fmt.Errorf("its version is %d, not 1", rec.Version)
	case len(rec.Frames) == 0 && len(rec.Steps) == 0:
		err = errors.New("it has neither frames nor steps")
	}
	if err != nil {
		return nil, fmt.Errorf("this is not what glass -j or glass -o -j prints: %w", err)
	}
	return &rec, nil
}
