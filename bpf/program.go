package bpf

// Type is what a program is attached to, by Linux's number. It decides which context R1 points to
// at the start, and which helpers may be called.
type Type uint32

// The types of programs.
const (
	SocketFilter  Type = 1 // accepted, since loaders probe with it, but never attached
	Kprobe        Type = 2 // also user probes
	Tracepoint    Type = 5
	PerfEvent     Type = 7
	RawTracepoint Type = 17
	Tracing       Type = 26 // functions of the kernel, with their arguments
)

// RecordSize is how many bytes of a tracepoint's record programs may read: what calls them provides as many,
// whatever the record needs.
const RecordSize = 1024

var typeNames = [...]string{SocketFilter: "socket_filter", Kprobe: "kprobe", Tracepoint: "tracepoint",
	PerfEvent: "perf_event", RawTracepoint: "raw_tracepoint", Tracing: "tracing"}

// String is Linux's name of the type, or "".
func (t Type) String() string { return nameOf(t, typeNames[:]) }

// MapType is the kind of a map, by Linux's number.
type MapType uint32

// The kinds of maps.
const (
	Hash           MapType = 1
	Array          MapType = 2
	ProgArray      MapType = 3
	PerfEventArray MapType = 4
	PerCPUHash     MapType = 5
	PerCPUArray    MapType = 6
	StackTrace     MapType = 7
	LRUHash        MapType = 9
	LRUPerCPUHash  MapType = 10
	LPMTrie        MapType = 11
	ArrayOfMaps    MapType = 12
	HashOfMaps     MapType = 13
	Queue          MapType = 22
	Stack          MapType = 23
	RingBuf        MapType = 27
)

var mapNames = [...]string{Hash: "hash", Array: "array", ProgArray: "prog_array", PerfEventArray: "perf_event_array", PerCPUHash: "percpu_hash",
	PerCPUArray: "percpu_array", StackTrace: "stack_trace", LRUHash: "lru_hash", LRUPerCPUHash: "lru_percpu_hash",
	LPMTrie:     "lpm_trie",
	ArrayOfMaps: "array_of_maps", HashOfMaps: "hash_of_maps", Queue: "queue", Stack: "stack", RingBuf: "ringbuf"}

// String is Linux's name of the kind, or "".
func (t MapType) String() string { return nameOf(t, mapNames[:]) }

// nameOf is the name of a number, or "".
func nameOf[T Type | MapType](n T, names []string) string {
	if int(n) < len(names) {
		return names[n]
	}
	return ""
}

// Flags of maps that restrict what programs do with values.
const (
	ReadOnlyProgram  uint32 = 1 << 7
	WriteOnlyProgram uint32 = 1 << 8
)

// MapSpec says what a map is like. Sizes are in bytes.
type MapSpec struct {
	Name       string
	Type       MapType
	KeySize    uint32
	ValueSize  uint32
	MaxEntries uint32
	Flags      uint32
	Inner      *MapSpec // what the values of a map of maps are like
}

// Line is where an instruction and those after it, up to the next Line, come from.
type Line struct {
	PC     int
	File   string
	Number int    // from 1
	Text   string // of the source line
}

// Program is what a loader hands over: references to maps are by index into Maps.
type Program struct {
	Name  string
	Type  Type
	Insns []Insn
	Maps  []*MapSpec
	Lines []Line // ascending PC
	GPL   bool
}

// LineOf returns the source line of an instruction, or nil.
func (p *Program) LineOf(pc int) *Line {
	var found *Line
	for i := range p.Lines {
		if p.Lines[i].PC <= pc {
			found = &p.Lines[i]
		}
	}
	return found
}
