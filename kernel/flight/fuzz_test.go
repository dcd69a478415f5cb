package flight

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// FuzzBefore: whatever a reset leaves of the memory, the next boot reads what was written, or
// refuses it, and records again. Each three bytes of damage are a place, of which the first two say
// how far it is from the beginning of a half in 16 bytes, and what is changed there.
func FuzzBefore(f *testing.F) {
	f.Add([]byte{}, uint16(3))
	f.Add([]byte{0, 0, 1}, uint16(1))
	f.Add([]byte{0, 1, 0xff, 0, 2, 0x10, 4, 0, 7}, uint16(2))
	f.Fuzz(func(t *testing.T, damage []byte, boots uint16) {
		m := memory()
		written := map[string]bool{}
		said := ""
		for b := range boots%3 + 1 {
			r := boot(m)
			for i := range uint64(8) {
				text := fmt.Sprintf("boot %d, record %d %s", b, i, strings.Repeat("x", int(i)*9))
				text = text[:min(len(text), 2*slotText)]
				written[text] = true
				r.Log(2*i, int64(i), 0, 0, []byte(text))
				r.Hit(int64(i), 0, []byte(text))
			}
			part := fmt.Sprintf("%-*d", cellText, b)
			said += part
			r.say(part)
		}
		all := unsafe.Slice((*byte)(unsafe.Pointer(m)), Size)
		for ; len(damage) >= 3; damage = damage[3:] {
			at := (uintptr(damage[0])<<8 | uintptr(damage[1])) * 16 % Size
			all[at] ^= damage[2]
			all[(at+uintptr(unsafe.Sizeof(half{})))%Size] ^= damage[2] >> 1
		}
		r := boot(m)
		last, err := r.Before()
		switch {
		case err != nil && !errors.Is(err, ErrNone) && !errors.Is(err, ErrDamaged):
			t.Errorf("it refuses with %v", err)
		case err == nil:
			for _, rec := range append(last.Log, last.Hits...) {
				if !rec.Cut && !written[string(rec.Text)] {
					t.Errorf("%q was never written", rec.Text)
				}
			}
			for i := 0; i+cellText <= len(last.Said); i += cellText {
				if part := string(last.Said[i : i+cellText]); !strings.Contains(said, part) {
					t.Errorf("%q was never said", part)
				}
			}
		}
		r.Log(0, 0, 0, 0, []byte("after"))
		if next := before(t, boot(m)); len(next.Log) != 1 || string(next.Log[0].Text) != "after" {
			t.Errorf("afterwards %q", texts(next.Log))
		}
	})
}
