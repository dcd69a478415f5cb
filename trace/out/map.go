package out

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sonde/trace/lang"
)

// Store is what is in a map: one table, or one for each CPU.
type Store interface {
	Tables() int
	Range(cpu int, f func(key, value []byte) bool)
}

// entry is what a map has under a key, on all CPUs.
type entry struct {
	key    string // bytes
	n      [2]int64
	raw    []byte   // of what is no number
	texts  []string // the key as it is printed; nil: it was not needed yet
	counts []int64

	intervals map[int64]*interval
}

// Map prints a map: top keys of it, values divided by div; 0: all, undivided.
func (p *Printer) Map(m *lang.Map, s Store, top, div int) error {
	all := p.gather(m, s)
	if len(all) == 0 && len(m.Key) == 0 && !m.Value.HasBuckets() { // nothing was stored: it is 0
		all = []*entry{{raw: make([]byte, m.Value.Size())}}
	}
	p.sort(m, all)
	if top > 0 && top < len(all) {
		all = all[len(all)-top:]
	}
	if p.JSON {
		return p.mapJSON(m, all, div)
	}
	for _, e := range all {
		if err := p.text("%s", m.Name+brackets(p.printed(m, e))+":"+p.body(m.Value, e, div)); err != nil {
			return err
		}
		if m.Value.HasBuckets() {
			if err := p.gap(); err != nil {
				return err
			}
		}
	}
	if len(all) == 0 || !m.Value.HasBuckets() {
		return p.gap()
	}
	return nil
}

// body is what stands after a key: on the same line, or below it, to the end of the line.
func (p *Printer) body(t lang.Type, e *entry, div int) string {
	switch t.Kind {
	case lang.Hist, lang.LHist:
		return "\n" + p.histogram(t, e.counts, div)
	case lang.TSeries:
		return "\n" + p.series(t, e)
	}
	return " " + p.mapValue(t, e, div) + "\n"
}

// keys are the parts of a key as they are printed.
func (p *Printer) keys(m *lang.Map, e *entry) []string {
	texts, _ := p.values(m.Key, []byte(e.key))
	return texts
}

// gather adds up what all CPUs have, and what has keys that are printed alike: there may be many addresses in one area or function.
func (p *Printer) gather(m *lang.Map, s Store) (all []*entry) {
	named := slices.ContainsFunc(m.Key, func(t lang.Type) bool { return t.Kind == lang.Symbol || t.Kind == lang.TupleOf && t.Format != "" })
	index := map[string]*entry{}
	for cpu := range s.Tables() {
		s.Range(cpu, func(key, value []byte) bool {
			k, value, bucket, ok := m.Element(key, value)
			if !ok {
				return true
			}
			id, texts := k, []string(nil)
			if named {
				texts, _ = p.values(m.Key, []byte(k))
				id = strings.Join(texts, "\x00")
			}
			e := index[id]
			first := e == nil
			if first {
				e = &entry{key: k, texts: texts}
				index[id], all = e, append(all, e)
			}
			switch {
			case m.Value.Kind == lang.TSeries:
				e.addInterval(m.Value, value)
			case m.Value.HasBuckets():
				e.count(bucket, int64(word(value)))
			default:
				e.add(m.Value, value, first)
			}
			return true
		})
	}
	return all
}

func (e *entry) count(bucket int, n int64) {
	for len(e.counts) <= bucket {
		e.counts = append(e.counts, 0)
	}
	e.counts[bucket] += n
	e.n[0] += n // histograms are sorted by their sums
}

// add joins the value of another CPU.
func (e *entry) add(t lang.Type, value []byte, first bool) {
	n := int64(word(value))
	switch {
	case first && (t.Kind == lang.Avg || t.Kind == lang.Stats):
		e.n = [2]int64{n, int64(word(value[8:]))}
	case first:
		e.n[0], e.raw = n, slices.Clone(value)
	case t.Kind == lang.Min && less(t, n, e.n[0]) || t.Kind == lang.Max && less(t, e.n[0], n):
		e.n[0] = n
	case t.Kind == lang.Min || t.Kind == lang.Max:
	case t.Kind == lang.Avg || t.Kind == lang.Stats:
		e.n[0], e.n[1] = e.n[0]+n, e.n[1]+int64(word(value[8:]))
	default:
		e.n[0] += n
	}
}

func less(t lang.Type, a, b int64) bool {
	if t.Signed {
		return a < b
	}
	return uint64(a) < uint64(b)
}

// sort puts entries in the order of their values, and of their keys where those are equal.
func (p *Printer) sort(m *lang.Map, all []*entry) {
	byValue := m.Value.Kind != lang.TSeries && (m.Value.Aggregates() || m.Value.Kind == lang.Int || m.Value.Kind == lang.Bool)
	slices.SortFunc(all, func(a, b *entry) int {
		if byValue {
			switch x, y := a.rank(m.Value), b.rank(m.Value); {
			case less(m.Value, x, y):
				return -1
			case less(m.Value, y, x):
				return 1
			}
		}
		return p.compareKeys(m, a, b)
	})
}

func (e *entry) rank(t lang.Type) int64 {
	if t.Kind == lang.Avg {
		return quotient(t, e.n[1], e.n[0])
	}
	return e.n[0]
}

// quotient divides as a type's values are divided, by 1 at least.
func quotient(t lang.Type, n, by int64) int64 {
	if by = max(1, by); !t.Signed {
		return int64(uint64(n) / uint64(by))
	}
	return n / by
}

// number is a number as a type's values are printed.
func number(t lang.Type, n int64) string {
	if !t.Signed {
		return fmt.Sprint(uint64(n))
	}
	return fmt.Sprint(n)
}

// stats are how many values there were, their average and their sum, as they are printed.
func (e *entry) stats(t lang.Type, div int) (count, average, total string) {
	by := int64(div)
	return fmt.Sprint(e.n[0]), number(t, quotient(t, quotient(t, e.n[1], e.n[0]), by)), number(t, quotient(t, e.n[1], by))
}

// compareKeys compares numbers as numbers, and the rest as it is printed: addresses differ between builds, their
// names do not.
func (p *Printer) compareKeys(m *lang.Map, a, b *entry) int {
	x, y := a.key, b.key
	for i, t := range m.Key {
		c := 0
		if t.Kind == lang.Int || t.Kind == lang.Bool {
			c = cmp.Compare(int64(word([]byte(x))), int64(word([]byte(y))))
		} else {
			c = strings.Compare(p.printed(m, a)[i], p.printed(m, b)[i])
		}
		if c != 0 {
			return c
		}
		x, y = x[t.Size():], y[t.Size():]
	}
	return 0
}

// printed is keys, once for each entry.
func (p *Printer) printed(m *lang.Map, e *entry) []string {
	if e.texts == nil {
		e.texts = p.keys(m, e)
	}
	return e.texts
}

// mapValue is what a map has under a key.
func (p *Printer) mapValue(t lang.Type, e *entry, div int) string {
	switch t.Kind {
	case lang.Count, lang.Sum, lang.Min, lang.Max:
		return number(t, quotient(t, e.n[0], int64(div)))
	case lang.Avg:
		_, average, _ := e.stats(t, div)
		return average
	case lang.Stats:
		count, average, total := e.stats(t, div)
		return fmt.Sprintf("{ .count = %s, .average = %s, .total = %s }", count, average, total)
	case lang.Int:
		if div > 1 {
			return number(t, quotient(t, int64(word(e.raw)), int64(div)))
		}
	}
	return p.value(t, e.raw)
}
