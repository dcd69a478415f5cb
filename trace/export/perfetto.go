package export

import (
	"fmt"
	"io"

	"sonde/trace/out"
)

// perfetto is a sequence of packets: descriptors of tracks, and what happened on them. A name is written once and
// has a number from then on.
type perfetto struct {
	w      io.Writer
	tracks map[string]uint64
	names  map[string]uint64
	named  names
	begun  bool
}

func newPerfetto(w io.Writer) *perfetto {
	return &perfetto{w: w, tracks: map[string]uint64{}, names: map[string]uint64{}}
}

// The numbers of fields in Perfetto's TracePacket, InternedData, TrackDescriptor and TrackEvent, and their enums.
const (
	packetTime, packetSequence, packetEvent, packetNames, packetFlags, packetTrack = 8, 10, 11, 12, 13, 60
	nameOfEvent                                                                    = 2
	nameNumber, nameText                                                           = 1, 2
	trackID, trackName, trackProcess, trackThread, trackParent                     = 1, 2, 3, 4, 5
	trackCounter                                                                   = 8
	eventAnnotation, eventType, eventName, eventTrack, eventCounter, eventDouble   = 4, 9, 10, 11, 30, 44
	annotationText, annotationName                                                 = 6, 10

	cleared, needsNames                    = 1, 2
	sliceBegin, sliceEnd, instant, counter = 1, 2, 3, 4
)

// packet writes a packet of our sequence.
func (p *perfetto) packet(fill func(m *message)) error {
	var m message
	m.number(packetSequence, 1)
	flags := uint64(needsNames)
	if !p.begun {
		flags |= cleared // nothing was said before
		p.begun = true
	}
	m.number(packetFlags, flags)
	fill(&m)
	var outer message
	outer.bytes(1, m)
	_, err := p.w.Write(outer)
	return err
}

// track returns the number of a track, which is described the first time, and again if it has changed.
func (p *perfetto) track(key string, changed bool, fill func(d *message)) (uint64, error) {
	id := p.tracks[key]
	if id != 0 && !changed {
		return id, nil
	}
	if id == 0 {
		id = uint64(len(p.tracks) + 1)
		p.tracks[key] = id
	}
	return id, p.packet(func(m *message) {
		var d message
		d.number(trackID, id)
		fill(&d)
		m.bytes(packetTrack, d)
	})
}

// thread returns the track of an event's thread, inside of its process.
func (p *perfetto) thread(e *Event) (uint64, error) {
	process, err := p.track(fmt.Sprint("p", e.PID), p.named.process(e), func(d *message) {
		var of message
		of.number(1, uint64(e.PID))
		of.text(6, e.processName())
		d.bytes(trackProcess, of)
	})
	if err != nil {
		return 0, err
	}
	return p.track(fmt.Sprint("t", e.PID, " ", e.TID), p.named.thread(e), func(d *message) {
		var of message
		of.number(1, uint64(e.PID))
		of.number(2, uint64(e.TID))
		of.text(5, e.threadName())
		d.number(trackParent, process)
		d.bytes(trackThread, of)
	})
}

// name returns the number of a name, which the packet says the first time.
func (p *perfetto) name(m *message, text string) uint64 {
	if id := p.names[text]; id != 0 {
		return id
	}
	id := uint64(len(p.names) + 1)
	p.names[text] = id
	var name, names message
	name.number(nameNumber, id)
	name.text(nameText, text)
	names.bytes(nameOfEvent, name)
	m.bytes(packetNames, names)
	return id
}

func (p *perfetto) Event(e *Event) error {
	track, err := p.thread(e)
	if err != nil {
		return err
	}
	return p.packet(func(m *message) {
		var v, says message
		v.number(eventType, map[byte]uint64{'B': sliceBegin, 'E': sliceEnd, 'i': instant}[e.Phase])
		v.number(eventTrack, track)
		v.number(eventName, p.name(m, e.Name))
		says.text(annotationName, "says")
		says.text(annotationText, e.Text)
		v.bytes(eventAnnotation, says)
		m.number(packetTime, uint64(e.At))
		m.bytes(packetEvent, v)
	})
}

func (p *perfetto) Stack(*out.StackCount) error { return nil }

func (p *perfetto) Point(point *out.SeriesPoint) error {
	track, err := p.track("c"+point.Name, false, func(d *message) {
		d.text(trackName, point.Name)
		d.bytes(trackCounter, nil)
	})
	if err != nil {
		return err
	}
	return p.packet(func(m *message) {
		var v message
		v.number(eventType, counter)
		v.number(eventTrack, track)
		if point.Unsigned && point.Value < 0 { // the other field is an int64
			v.double(eventDouble, float64(uint64(point.Value)))
		} else {
			v.number(eventCounter, uint64(point.Value))
		}
		m.number(packetTime, uint64(point.At))
		m.bytes(packetEvent, v)
	})
}

func (p *perfetto) Close() error { return nil }
