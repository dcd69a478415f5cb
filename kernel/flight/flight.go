package flight

import (
	"sync/atomic"
	"unsafe"
)

const (
	magic     = 0x726f6365_72746c66 // "fltrecor"
	logSlots  = 2048
	hitSlots  = 256
	saidCells = 256
	maxText   = 1024
)

// half is what one boot leaves.
type half struct {
	head head
	log  [logSlots]slot
	hits [hitSlots]slot
	said [saidCells]cell
}

// head says that a half holds something. sum is about the fields above it.
type head struct {
	magic uint64
	size  uint64 // of a half: another kernel's may have another form
	boot  uint64 // 1 more than the boot before
	seed  uint64 // what all checksums of this half begin with
	sum   uint64
	stage uint64 // marks
	end   uint64
	_     uint64
}

// Size is how many bytes of memory a Recorder needs.
const Size = 2 * unsafe.Sizeof(half{})

// Ending is how a boot ended.
type Ending uint8

// Silent is the ending of a boot that was reset unexpectedly.
const (
	Silent Ending = iota
	Crash
	Restart
	Off
)

// String completes the sentence "it ...".
func (e Ending) String() string {
	if says := [...]string{Crash: "crashed", Restart: "restarted the machine", Off: "turned the machine off"}; e != Silent && int(e) < len(says) {
		return says[e]
	}
	return "was reset unexpectedly"
}

// Recorder keeps what is logged. The zero Recorder has no memory, and keeps nothing.
type Recorder struct {
	// written once at boot:
	mem     *[2]half // nil: none
	own     int      // which half this boot writes
	before  bool     // the other holds the boot before
	damaged bool     // there is something of an earlier boot that cannot be told
	seed    uint64

	hits  atomic.Uint64 // tickets given out
	said  atomic.Uint64 // bytes
	ended atomic.Bool
}

// Main is the kernel's.
var Main Recorder

// Holds reports whether the Size bytes at mem look as if a Recorder had written there.
//
// Context: any.
func Holds(mem unsafe.Pointer) bool {
	h := (*[2]half)(mem) // Safe because: Size is that of two
	return h[0].head.magic == magic || h[1].head.magic == magic
}

// Open begins to record at mem, Size bytes for good, after it has found out what the boot
// before has left there. random is a number that differs from boot to boot.
//
// Context: boot.
func (r *Recorder) Open(mem unsafe.Pointer, random uint64) {
	h := (*[2]half)(mem) // Safe because: see Holds
	boot := uint64(0)
	for i := range h {
		switch d := &h[i].head; {
		case d.magic != magic:
		case d.size != uint64(unsafe.Sizeof(half{})) || d.sum != d.checksum():
			r.damaged = true
		case d.boot > boot:
			boot, r.own, r.before = d.boot, 1-i, true
		}
	}
	if r.damaged { // the later one, perhaps
		boot, r.before = 0, false
		h[1-r.own].head.magic = 0
	}
	h[r.own].head.begin(boot+1, random)
	r.seed = h[r.own].head.seed
	r.mem = h
}

// Move says that the memory is mapped at mem from now on.
//
// Context: boot.
func (r *Recorder) Move(mem unsafe.Pointer) { r.mem = (*[2]half)(mem) } // Safe because: see Holds

// begin makes d that of a boot which has left nothing yet. Until that is done it has no magic.
func (d *head) begin(boot, random uint64) {
	d.magic = 0
	d.size, d.boot, d.seed = uint64(unsafe.Sizeof(half{})), boot, mix(mix(random, magic), boot)
	d.stage, d.end = mark(d.seed, 0), mark(d.seed, uint8(Silent))
	d.sum = d.checksum()
	d.magic = magic
}

// checksum is over what is written once.
func (d *head) checksum() uint64 { return mix(mix(mix(magic, d.size), d.boot), d.seed) }
