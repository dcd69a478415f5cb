package out

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"sonde/trace/lang"
)

// valueJSON is a value: numbers and truths as they are, tuples as arrays, records as objects, everything else
// as a string.
func (p *Printer) valueJSON(t lang.Type, data []byte) string {
	switch t.Kind {
	case lang.TupleOf:
		if t.Format != "" {
			return Quote(p.value(t, data))
		}
		parts := make([]string, len(t.Elems))
		for i, e := range t.Elems {
			if parts[i] = p.valueJSON(e, data); t.Names != nil {
				parts[i] = Quote(t.Names[i]) + ": " + parts[i]
			}
			data = data[e.Size():]
		}
		if t.Names != nil {
			return "{" + strings.Join(parts, ", ") + "}"
		}
		return "[" + strings.Join(parts, ",") + "]"
	case lang.Int:
		t.Enum = nil
		return p.value(t, data)
	case lang.Pointer:
		if t.Format != "" {
			return Quote(p.value(t, data))
		}
		return strconv.FormatUint(word(data), 10)
	case lang.StructOf, lang.ArrayOf:
		return p.packedJSON(t, data)
	case lang.Bool:
		return p.value(t, data)
	}
	return Quote(p.value(t, data))
}

// packedJSON is a value of a structure or an array.
func (p *Printer) packedJSON(t lang.Type, data []byte) string {
	switch t.Kind {
	case lang.Int, lang.Bool, lang.Pointer:
		var whole [8]byte
		binary.LittleEndian.PutUint64(whole[:], packedNumber(t, data))
		return p.valueJSON(t, whole[:])
	case lang.StructOf:
		return p.structureJSON(t, data)
	case lang.ArrayOf:
		var parts []string
		for each := max(1, t.Elem.Bytes); t.Bytes >= each; t.Bytes -= each {
			parts, data = append(parts, p.packedJSON(*t.Elem, data)), data[each:]
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return Quote(p.packed(t, data))
}

func (p *Printer) structureJSON(t lang.Type, data []byte) string {
	var parts []string
	for _, f := range t.To.All() {
		text := ""
		if f.Bits > 0 {
			text = p.field(f, data)
		} else {
			text = p.packedJSON(f.Type, data[f.Offset:])
		}
		parts = append(parts, Quote(f.Name)+": "+text)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (p *Printer) mapJSON(m *lang.Map, all []*entry, div int) error {
	kind, parts := "map", make([]string, len(all))
	switch m.Value.Kind {
	case lang.Hist, lang.LHist:
		kind = "hist"
	case lang.Stats, lang.Avg:
		kind = "stats"
	case lang.TSeries:
		kind = "tseries"
	}
	for i, e := range all {
		parts[i] = p.entryJSON(m.Value, e, div)
		if keys := p.keys(m, e); len(keys) > 0 {
			parts[i] = Quote(strings.Join(keys, ",")) + ": " + parts[i]
		}
	}
	data := strings.Join(parts, ", ")
	if len(m.Key) > 0 {
		data = "{" + data + "}"
	} else if data == "" {
		data = "{}"
	}
	return p.object(kind, "{"+Quote(m.Name)+": "+data+"}")
}

// entryJSON is what a map has under a key.
func (p *Printer) entryJSON(t lang.Type, e *entry, div int) string {
	switch {
	case t.Kind == lang.TSeries:
		return p.seriesJSON(t, e)
	case t.HasBuckets():
		return histogramJSON(t, e.counts, div)
	case t.Kind == lang.Stats:
		count, average, total := e.stats(t, div)
		return fmt.Sprintf(`{"count": %s, "average": %s, "total": %s}`, count, average, total)
	case t.Aggregates(), t.Kind == lang.Int && div > 1:
		return p.mapValue(t, e, div)
	}
	return p.valueJSON(t, e.raw)
}

// Quote makes a string of JSON. encoding/json is too large for the kernel.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch at := strings.IndexRune("\n\t\r\f\b", r); {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case at >= 0:
			b.WriteString(`\` + "ntrfb"[at:at+1])
		case r < ' ' || r == 0x7F:
			b.WriteString(`\u00` + strconv.FormatInt(int64(r)>>4, 16) + strconv.FormatInt(int64(r)&15, 16))
		default:
			b.WriteRune(r) // what is not UTF-8 is utf8.RuneError
		}
	}
	b.WriteByte('"')
	return strings.ToValidUTF8(b.String(), string(utf8.RuneError))
}
