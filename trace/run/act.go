package run

import (
	"syscall"

	"sonde/kernel/refusal"
	"sonde/probe/program"
	"sonde/trace/export"
	"sonde/trace/lang"
	"sonde/trace/out"
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
		s.seen++
		for _, record := range s.speculations.Take(s.Unit, rec.Data) {
			if err := s.handle(record); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// handle does what one record asks for.
func (s *session) handle(record []byte) error {
	a, data := out.Action(s.Unit, record)
	if a == nil {
		return refusal.New(syscall.EIO, "a record of %d bytes", len(record))
	}
	if a.Kind == lang.Exit {
		s.ended, s.Code = true, out.ExitCode(a, data)
		return nil
	}
	return export.Act(s.Export, s.Out, a, record, data, s.tableOf)
}

// table is a map as package out changes it.
type table struct{ *program.Map }

func (t table) Update(cpu int, key, value []byte) error {
	return t.Map.Update(cpu, key, value, program.Any)
}

func (s *session) tableOf(m *lang.Map) out.Table { return table{s.maps[m.Index]} }
