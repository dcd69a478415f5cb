package run

import (
	"encoding/binary"
	"syscall"

	"sonde/bpf"
	kbpf "sonde/kernel/bpf"
	"sonde/kernel/refusal"
	"sonde/trace/lang"
)

// drain does what the records ask for, as long as there are any: it must not be called while probes run,
// since printing may make hits.
func (s *session) drain() error {
	for more := true; more; {
		var err error
		if more, err = s.drainSome(); err != nil {
			return err
		}
	}
	return nil
}

// atOnce is how many records are handled before somebody looks whether ^C was typed.
const atOnce = 256

// drainSome does what the next records ask for. more tells that there may be others.
func (s *session) drainSome() (more bool, err error) {
	for range atOnce {
		rec, ok := s.maps[lang.RingMap].Take(nil)
		if !ok {
			return false, nil
		}
		if len(rec.Data) < 8 {
			return false, refusal.New(syscall.EIO, "a record of %d bytes", len(rec.Data))
		}
		a := s.Unit.Actions[binary.LittleEndian.Uint64(rec.Data)]
		if err := s.act(a, rec.Data[8:]); err != nil {
			return false, err
		}
	}
	return true, nil
}

// act does what a record asks for.
func (s *session) act(a *lang.Action, data []byte) error {
	switch a.Kind {
	case lang.Exit:
		s.ended = true
		return nil
	case lang.PrintMap:
		return s.Out.Map(a.Map, s.maps[a.Map.Index], a.Top, a.Div)
	case lang.ClearMap, lang.ZeroMap:
		s.clear(a.Map, a.Kind == lang.ZeroMap)
		return nil
	case lang.DeleteKey:
		s.delete(a.Map, data)
		return nil
	}
	return s.Out.Record(a, data)
}

// clear removes all keys of a map, or sets all its values to 0.
func (s *session) clear(m *lang.Map, keep bool) {
	store := s.maps[m.Index]
	zero := make([]byte, store.Spec.ValueSize)
	for cpu := range store.Tables() {
		var keys [][]byte
		store.Range(cpu, func(key, _ []byte) bool {
			keys = append(keys, append([]byte(nil), key...))
			return true
		})
		for _, key := range keys {
			if keep || store.Spec.Type == bpf.PerCPUArray {
				store.Update(cpu, key, zero, kbpf.Any)
			} else {
				store.Delete(cpu, key)
			}
		}
	}
}

// delete removes a key, with all its buckets, from what a map keeps for each CPU.
func (s *session) delete(m *lang.Map, key []byte) {
	store := s.maps[m.Index]
	for cpu := range store.Tables() {
		var keys [][]byte
		store.Range(cpu, func(have, _ []byte) bool {
			if string(have[:len(key)]) == string(key) || len(m.Key) == 0 {
				keys = append(keys, append([]byte(nil), have...))
			}
			return true
		})
		for _, have := range keys {
			store.Delete(cpu, have)
		}
	}
}
