package replay

import (
	"fmt"
	"io"
	"strings"

	"sonde/arch/amd64/listing"
	"sonde/trace/out"
)

// Version is that of the JSON.
const Version = 1

// An object is the members of one of JSON's, in order: a name, then its value. encoding/json is too large for the
// kernel.
type object []any

// A word is a number that is written in hexadecimal, as a string.
type word uint64

// toJSON is a value as JSON: an object, a list, a string, a word, nil, or what Go prints as JSON does.
func toJSON(v any) string {
	switch v := v.(type) {
	case object:
		parts := make([]string, len(v)/2)
		for i := range parts {
			parts[i] = toJSON(v[2*i]) + ":" + toJSON(v[2*i+1])
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = toJSON(v[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	case string:
		return out.Quote(v)
	case word:
		return fmt.Sprintf(`"%#x"`, uint64(v))
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// list is f of all elements.
func list[T any](all []T, f func(*T) object) []any {
	values := make([]any, len(all))
	for i := range all {
		values[i] = f(&all[i])
	}
	return values
}

// WriteJSON prints rec as one JSON object, in a line.
func (rec *Recording) WriteJSON(w io.Writer) error {
	_, err := fmt.Fprintln(w, toJSON(object{
		"version", Version, "place", rec.Place, "file", rec.File, "line", rec.Line, "tier", rec.Tier, "hit", rec.Hit, "lost", rec.Lost,
		"complete", rec.Complete, "original", list(rec.Original, (*Code).json), "fused", list(rec.Fused, (*Code).json),
		"explain", rec.Explain, "frames", list(rec.Frames, (*Frame).json),
	}))
	return err
}

func (c *Code) json() object {
	return object{"addr", word(c.Addr), "bytes", listing.Bytes(c.Bytes), "asm", c.Asm}
}

func (f *Frame) json() object {
	who := object{"goroutine", f.Goroutine}
	if f.PID != 0 {
		who = append(who, "pid", f.PID, "tid", f.TID)
	}
	var ip, stack any
	if f.IP != nil {
		ip = object{"addr", word(f.IP.Addr), "is", f.IP.Is, "asm", f.IP.Asm, "bytes", code(f.IP.Bytes)}
	}
	regs := object{}
	for _, r := range f.Regs {
		regs = append(regs, r.Name, word(r.Value))
	}
	if f.Stack != nil {
		stack = list(f.Stack, (*Word).json)
	}
	return object{"seq", f.Seq, "t", f.T, "cpu", f.CPU, "who", who, "stage", f.Stage, "says", f.Says, "ip", ip, "regs", regs, "text", code(f.Text), "stack", stack}
}

// code is bytes of code as JSON has them; nil: there are none to show.
func code(b []byte) any {
	if b == nil {
		return nil
	}
	return listing.Bytes(b)
}

func (w *Word) json() object { return object{"addr", word(w.Addr), "word", word(w.Value), "is", w.Is} }
