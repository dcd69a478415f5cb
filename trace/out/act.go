package out

import (
	"encoding/binary"
	"fmt"

	"sonde/trace/lang"
)

// Table is a map of a script, as what its records ask for needs it.
type Table interface {
	Store
	Update(cpu int, key, value []byte) error
	Delete(cpu int, key []byte) error
}

// Act does what a record asks for, but exit(): it prints, or changes one of the tables, which are by the
// index of the map.
func (p *Printer) Act(a *lang.Action, data []byte, table func(*lang.Map) Table) error {
	switch a.Kind {
	case lang.PrintMap:
		return p.Map(a.Map, table(a.Map), a.Top, a.Div)
	case lang.Percentiles:
		return p.Percentiles(a.Map, table(a.Map))
	case lang.ClearMap, lang.ZeroMap:
		p.clears(a)
		clearAll(a.Map, table(a.Map), a.Kind == lang.ZeroMap)
		return nil
	case lang.DeleteKey:
		p.clears(a)
		deleteKey(a.Map, table(a.Map), data)
		return nil
	}
	return p.Record(a, data)
}

// clears notes that a map without a key has no value any more. In an array it is 0.
func (p *Printer) clears(a *lang.Action) {
	if a.Kind != lang.ZeroMap && len(a.Map.Key) == 0 {
		if p.cleared == nil {
			p.cleared = map[*lang.Map]bool{}
		}
		p.cleared[a.Map] = true
	}
}

// keysOf copies the keys of a CPU that fit.
func keysOf(t Table, cpu int, fits func(key []byte) bool) (keys, values [][]byte) {
	t.Range(cpu, func(key, value []byte) bool {
		if fits(key) {
			keys, values = append(keys, append([]byte(nil), key...)), append(values, make([]byte, len(value)))
		}
		return true
	})
	return keys, values
}

// clearAll removes all keys of a map, or sets all its values to 0.
func clearAll(m *lang.Map, t Table, keep bool) {
	for cpu := range t.Tables() {
		keys, zeroes := keysOf(t, cpu, func([]byte) bool { return true })
		for i, key := range keys {
			if keep || m.IsArray() {
				t.Update(cpu, key, zeroes[i])
			} else {
				t.Delete(cpu, key)
			}
		}
	}
}

// deleteKey removes a key, with all its buckets, from what a map keeps for each CPU.
func deleteKey(m *lang.Map, t Table, key []byte) {
	for cpu := range t.Tables() {
		keys, zeroes := keysOf(t, cpu, func(have []byte) bool { return len(m.Key) == 0 || string(have[:len(key)]) == string(key) })
		for i, have := range keys {
			if m.IsArray() {
				t.Update(cpu, have, zeroes[i])
			} else {
				t.Delete(cpu, have)
			}
		}
	}
}

// Stamp is when a record was made, and by whom.
type Stamp struct {
	At       int64 // since boot, in ns
	PID, TID int
	Comm     string // of the thread
	CPU      int
}

// StampOf reads what stands before the values of a record with stamps.
func StampOf(record []byte) Stamp {
	who := word(record[16:])
	return Stamp{int64(word(record[8:])), int(who >> 32), int(uint32(who)), cString(record[24:40]), int(word(record[40:]))}
}

// Action returns what a record is about, and its values; nil if it is none of the unit's.
func Action(u *lang.Unit, record []byte) (a *lang.Action, data []byte) {
	if len(record) < 8 {
		return nil, nil
	}
	n := binary.LittleEndian.Uint64(record)
	if n >= uint64(len(u.Actions)) || len(record) < u.Actions[n].Bytes {
		return nil, nil
	}
	return u.Actions[n], record[u.Actions[n].Head:]
}

// absent reports whether a map is not printed at the end: it has no key, and nothing is stored in it. A count or a sum
// is 0 then, and is printed, as bpftrace does, unless the script has cleared it.
func (p *Printer) absent(m *lang.Map, t Table) bool {
	counts := m.Value.Kind == lang.Count || m.Value.Kind == lang.Sum
	return len(m.Key) == 0 && (!counts || p.cleared[m]) && empty(m, t)
}

// empty tells whether nothing is stored in a map without keys.
func empty(m *lang.Map, t Table) bool {
	none := true
	for cpu := range t.Tables() {
		t.Range(cpu, func(_, value []byte) bool {
			for _, b := range value {
				none = none && m.IsArray() && b == 0
			}
			return none
		})
	}
	return none
}

// Full says that a map had no room for values.
func Full(m *lang.Map, lost uint64, keys int) string {
	return fmt.Sprintf("WARNING: Map full; can't update element: %d values of %s are lost; config = { max_map_keys = %d } makes it larger", lost, m.Name, 4*keys)
}

// ExitCode is what exit() was given.
func ExitCode(a *lang.Action, data []byte) int {
	if len(a.Args) == 0 {
		return 0
	}
	return int(word(data) & 0xFF)
}

// Rest prints all maps, as at the end of a script, after an empty line.
func (p *Printer) Rest(table func(*lang.Map) Table) error {
	if !p.Unit.Settings.PrintMaps {
		return nil
	}
	if !p.JSON {
		if err := p.text("\n"); err != nil {
			return err
		}
	}
	for _, m := range p.Unit.Maps {
		if p.absent(m, table(m)) {
			continue
		}
		if err := p.Map(m, table(m), 0, 0); err != nil {
			return err
		}
	}
	return nil
}
