package sock

import (
	"slices"
	"sync/atomic"
	"syscall"

	"sonde/kernel/vfs"
)

// Message is the data of one send call, or a part of it.
type Message struct {
	Data  []byte      // owned by the message
	Cred  Cred        // of the sender
	Files []*vfs.File // held by the message

	To   Addr // of a datagram of the Internet; zero: the address that the sender is connected to
	from Addr
}

// Limits of an inbox.
const (
	overhead   = 256      // what a message counts besides its bytes
	mostQueued = 11       // datagrams, as in Linux
	joined     = 16 << 10 // up to this size, small pieces of a stream are joined to one message
	most       = 32 << 20 // bytes of all inboxes; beyond that, each takes only scarce bytes
)

// taken is the size of all inboxes in bytes, overhead included.
var taken atomic.Int64

// inbox is the messages that were sent to a socket and not received yet. Context: mu of the socket
// held.
type inbox struct {
	messages []*Message
	bytes    int
	cost     int  // bytes and overhead
	deep     bool // takes any number of datagrams
}

// room is how much more an inbox takes from a sender with that limit: one byte or more means that a
// whole message fits.
func (b *inbox) room(k Kind, limit int) int {
	if taken.Load() > most {
		limit = min(limit, scarce)
	}
	if k == Datagram && !b.deep && len(b.messages) >= mostQueued {
		return 0
	}
	return max(0, limit-b.cost)
}

// roomy reports whether poll reports space: a quarter or less is used.
func (b *inbox) roomy(k Kind, limit int) bool {
	room := b.room(k, limit)
	return room > 0 && room >= b.cost*3
}

// add takes a message, or the part of it that fits for a stream, and returns how much it took.
//
// Errors: EAGAIN.
func (b *inbox) add(k Kind, m *Message, limit int) (int, error) {
	room := b.room(k, limit)
	if room == 0 {
		return 0, syscall.EAGAIN
	}
	if k == Stream {
		m.Data = m.Data[:min(len(m.Data), room)]
	}
	n := len(m.Data)
	b.bytes += n
	if b.join(k, m) {
		b.charge(n)
		return n, nil
	}
	b.messages = append(b.messages, m)
	b.charge(n + overhead)
	return n, nil
}

// join appends m to the last message if no receiver can tell the difference.
func (b *inbox) join(k Kind, m *Message) bool {
	if k != Stream || len(b.messages) == 0 || len(m.Files) > 0 {
		return false
	}
	last := b.messages[len(b.messages)-1]
	if len(last.Files) > 0 || last.Cred != m.Cred || len(last.Data)+len(m.Data) > joined {
		return false
	}
	last.Data = append(last.Data, m.Data...)
	return true
}

func (b *inbox) charge(n int) {
	b.cost += n
	taken.Add(int64(n))
}

// drop removes n bytes from the front, or the rest of the first message if whole. Files go with the
// first bytes of their message.
func (b *inbox) drop(n int, whole bool) {
	m := b.messages[0]
	m.Data = m.Data[n:]
	b.bytes -= n
	b.charge(-n)
	if !whole {
		return
	}
	b.bytes -= len(m.Data)
	b.charge(-len(m.Data) - overhead)
	b.messages[0] = nil
	b.messages = b.messages[1:]
}

// putBack makes m the first message.
func (b *inbox) putBack(m *Message) {
	b.messages = slices.Insert(b.messages, 0, m)
	b.bytes += len(m.Data)
	b.charge(len(m.Data) + overhead)
}

// empty removes all messages and returns them.
func (b *inbox) empty() []*Message {
	all := b.messages
	b.charge(-b.cost)
	*b = inbox{deep: b.deep}
	return all
}
