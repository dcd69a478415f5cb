// Package wire carries messages over a serial line, between the kernel and a program on another machine:
//
//	0  0  COBS of ( kind 1, id 2, data of up to 240 bytes, CRC-32 4 )  0        little-endian
//
// Two zeros, since a terminal sends one for Ctrl-Space. A lost byte loses two messages at most, and what is between
// messages is a terminal's. COBS has one block, since no message is longer than it can have. Both ends use this
// package.
//
// A command must run once and whole, though messages are lost. So it carries the CRC of all its words, since it would
// else run as a shorter one where a part is lost; and who hears neither that it has begun nor that it has ended asks.
//
// Source: Cheshire and Baker, "Consistent Overhead Byte Stuffing", 1999.
package wire

import (
	"encoding/binary"
	"hash/crc32"
	"syscall"
	"time"
)

// Kinds of messages to the kernel.
const (
	Ask    = 'H' // who are you; with what tells the asking program from others: the commands of another one end
	Part   = 'P' // id: the beginning of a command that is longer than a message; there may be several
	Run    = 'R' // id: the CRC-32 of all words, 4 bytes; a command, or its rest: words, a zero after each
	Cancel = 'C' // id: ^C
	Query  = 'Q' // id: has it begun, and ended; with the boot's number from the greeting, 8 bytes
	Beat   = 'B' // the other end is there
)

// Kinds of messages from the kernel.
const (
	Hello   = 'h' // who it is, as JSON
	Output  = 'o' // id
	Errors  = 'e' // id
	Begun   = 's' // id: it runs
	Exit    = 'x' // id: the status, 4 bytes; nothing follows
	Refused = 'n' // id: the errno, 4 bytes, and a sentence; nothing follows
)

// Why a command was refused that the other end sends again: some of its messages were lost.
const (
	Unknown = syscall.ESRCH  // there is none of that number
	Damaged = syscall.EILSEQ // the words are not those that the CRC-32 is of
)

// How long the rest of a message may take that has begun: what takes longer is the terminal's. One zero may be
// Ctrl-Space or a break of the line, after which something is typed; two are the beginning of a message, whose rest a
// host with much to do may take seconds to pass on.
const (
	patience = 250 * time.Millisecond
	longest  = 10 * time.Second
)

// Most is how many bytes of data a message may have.
const Most = 240

const (
	head = 3 // kind and id
	tail = 4 // the CRC
	// room is for a message between its zeros.
	room = 1 + head + Most + tail
)

// Message is one message.
type Message struct {
	Kind byte
	ID   uint16
	Data []byte
}

// Append appends a message as it goes over the line. Data beyond Most bytes are dropped.
func Append(b []byte, m Message) []byte {
	var raw [head + Most + tail]byte
	raw[0] = m.Kind
	binary.LittleEndian.PutUint16(raw[1:], m.ID)
	n := head + copy(raw[head:head+Most], m.Data)
	binary.LittleEndian.PutUint32(raw[n:], crc32.ChecksumIEEE(raw[:n]))
	b = append(b, 0, 0, 0)
	count := len(b) - 1 // where the distance to the next zero is noted
	for _, c := range raw[:n+tail] {
		if c == 0 {
			b[count] = byte(len(b) - count)
			count = len(b)
		}
		b = append(b, c)
	}
	b[count] = byte(len(b) - count)
	return append(b, 0)
}

// Reader takes messages out of what arrives. What looked like the beginning of one and was none is the terminal's,
// too: the zero that a terminal sends for Ctrl-Space must not take with it what follows.
type Reader struct {
	Rest func(b []byte) // gets what is between messages; nil: it is dropped
	Bad  int            // what began as a message and was none

	zeros int // before buf: 0, it is no message; 1; or 2, for more too
	buf   []byte
}

// Feed takes bytes, and calls f with each message; its data are f's until it returns.
func (r *Reader) Feed(b []byte, f func(Message)) {
	for _, c := range b {
		switch {
		case c != 0 && r.zeros == 0:
			r.rest([]byte{c})
		case c != 0:
			if r.buf = append(r.buf, c); len(r.buf) > room {
				r.GiveUp()
			}
		case len(r.buf) == 0:
			r.zeros = min(r.zeros+1, 2)
		default:
			m, ok := decode(r.buf)
			if ok {
				f(m)
			} else {
				r.Bad++ // this zero may begin the next one
			}
			r.zeros, r.buf = 0, r.buf[:0]
			if !ok {
				r.zeros = 1
			}
		}
	}
}

// Patience is how long to wait for what comes next before GiveUp; negative: for ever, since no message has begun.
func (r *Reader) Patience() time.Duration {
	switch r.zeros {
	case 0:
		return -1
	case 1:
		return patience
	}
	return longest
}

// GiveUp passes on as the terminal's what has begun as a message.
func (r *Reader) GiveUp() {
	if r.zeros > 0 {
		r.Bad++
		r.rest(append(make([]byte, r.zeros), r.buf...))
		r.zeros, r.buf = 0, r.buf[:0]
	}
}

func (r *Reader) rest(b []byte) {
	if r.Rest != nil {
		r.Rest(b)
	}
}

// decode undoes COBS in place, and checks the CRC.
func decode(b []byte) (m Message, ok bool) {
	for at := 0; at < len(b); {
		n := int(b[at])
		b[at] = 0
		if n == 0 || n > len(b)-at {
			return m, false
		}
		at += n
	}
	raw := b[1:]
	n := len(raw) - tail
	if n < head || crc32.ChecksumIEEE(raw[:n]) != binary.LittleEndian.Uint32(raw[n:]) {
		return m, false
	}
	return Message{raw[0], binary.LittleEndian.Uint16(raw[1:]), raw[head:n]}, true
}
