package lang

import (
	"slices"
	"strings"

	"sonde/bpf"
)

// Target is what programs find at an attach point.
type Target struct {
	Args    []int                           // where in Linux's struct pt_regs arg0, arg1 and so on are
	OnStack bool                            // they are not there, but words on the stack after the return address
	Hidden  string                          // if not "": why it is not known where arguments, or the result, are
	Fields  []ArgField                      // args.NAME
	Results []ArgField                      // ret.0, ret.1 and so on
	Fill    func() error                    // if not nil, it is called once, before Fields or Results is read; why nothing is known of them
	CType   func(name string) (Type, error) // if not nil: the struct, union, enum or typedef of a program, or why there is none
	Result  *ArgField                       // retval; nil: there is none here
	User    bool                            // code of programs is hit, and addresses are theirs
	Pattern bool                            // the point stands for more than one place, which its address tells
	Names   []string                        // the point stands for several places: their names
	Cookies []uint64                        // what each of these places gets; nil: the program does not ask
	Watch   bool                            // there are watch.old and watch.new
	Func    string                          // of a function of a program: its name
	Every   uint64                          // of so many hits, one is meant; 0 and 1: each
	Record  bool                            // the context is a tracepoint's record: Offset of fields is in it
	ID      uint64                          // of a tracepoint: its number
	Goid    int                             // of functions of a Go program: where a g has the goroutine's number; 0: there is none

	unknown error                  // what Fill said
	read    map[string][]CopyField // the arguments that a program reads, of those that only some copies have
}

// ArgField is an argument with a name, or the result.
type ArgField struct {
	Name   string
	Type   Type
	Offset int    // in struct pt_regs
	More   []int  // of further words
	Stack  bool   // it is on the stack: Offset is from where the stack pointer is
	Place  bool   // it is what the place has for an address: of a system call, its number
	Text   string // the type as C spells it; "": it is Type's
	Alias  bool   // another name of the field before it, which lists leave out

	// Of an inlined function: where it is at each place at which that is known, which Offset, More and Stack do not
	// say; and how many copies that are, unless it is all.
	Copies []CopyField
	Known  string
}

// Arguments are what args and ret have, and retval last, if there is one.
func (t *Target) Arguments() []ArgField {
	all := slices.DeleteFunc(slices.Clone(t.named("args")), func(f ArgField) bool { return f.Alias })
	if t.Result == nil || t.Hidden != "" {
		return all
	}
	for _, f := range t.named("ret") {
		f.Name = "ret." + f.Name
		all = append(all, f)
	}
	return append(all, ArgField{Name: "retval", Type: t.Result.Type})
}

// named returns the arguments or the results.
func (t *Target) named(of string) []ArgField {
	if fill := t.Fill; fill != nil {
		t.Fill = nil
		t.unknown = fill()
	}
	if of == "ret" {
		return t.Results
	}
	return t.Fields
}

// Resolver tells what is found at attach points.
//
// Errors: what is wrong with the point, in words; a Hinted one has more to say.
type Resolver interface {
	Target(p *Point) (*Target, error)
}

// Structs is a Resolver that knows structures which a script does not declare.
type Structs interface {
	// Struct returns one; nil: there is none of that name.
	Struct(name string) *Struct
}

// knownTo asks a Resolver once for each name.
func knownTo(r Resolver) func(name string) *Struct {
	of, ok := r.(Structs)
	if !ok {
		return nil
	}
	found := map[string]*Struct{}
	return func(name string) *Struct {
		if _, asked := found[name]; !asked {
			found[name] = of.Struct(name)
		}
		return found[name]
	}
}

// Expander is a Resolver that knows what patterns stand for.
type Expander interface {
	// Expand returns a point for each function that a pattern fits; nil: the point is as it is.
	Expand(p *Point) []*Point
}

// Hinted is an error that says what to do.
type Hinted struct {
	Why, Hint string
	Missing   bool // there is nothing of that name: the config missing_probes says what becomes of it
}

func (h *Hinted) Error() string { return h.Why }

// Options are what a script is compiled for.
type Options struct {
	Resolver Resolver
	CPUs     int
	Epoch    int64 // the wall clock at boot, in ns
	Unsafe   bool  // system() and signal() may be called
	Missing  bool  // say when a key is not there
	Stamps   bool  // records say when they were made, and by whom
}

// Addresser is a Resolver that knows where things are.
type Addresser interface {
	// Address is where a function or variable of the kernel is.
	Address(name string) (uint64, bool)
}

// UserAddresser is a Resolver that knows where things are in programs.
type UserAddresser interface {
	// UserAddress is how far a variable or function is after the function of a point in the same file, and
	// its size, 0 if that is not known.
	UserAddress(p *Point, name string) (from uint64, bytes int, err error)
}

// Unit is a compiled script.
type Unit struct {
	Script   *Script
	Settings Settings
	Programs []*Compiled
	Maps     []*Map         // in the order of their names
	Specs    []*bpf.MapSpec // all maps that programs refer to, by index
	Actions  []*Action      // by the first word of a record
	Places   []string       // what probe is: see the type ProbeID
	Warnings []*Error       // what may be a mistake
}

// Settings are what a script may say in its config.
type Settings struct {
	MaxKeys    int // of a map
	MaxString  int // bytes of a string
	RingBytes  int // of a CPU's records
	Stack      int // frames of a stack
	StackMode  string
	PrintMaps  bool
	Missing    string // what to do about points that are not there: "error", "warn" or "ignore"
	MaxCat     int    // bytes that cat() prints
	MaxProbes  int    // places of all attach points
	Speculates bool   // records have a word more: see speculate.go
	TimeMap    string // the map that has the time, for tests of tseries()
}

// Compiled is what runs at an attach point.
type Compiled struct {
	Point  *Point
	Target *Target
	Text   string // for bpf.Assemble
	Insns  []bpf.Insn
	spans  []Span // by instruction
	loops  bool   // there are some
}

// The maps that every unit has, by their index in Specs.
const (
	ControlMap = 0 // an array of one value: see the offsets below
	RingMap    = 1
	ScratchMap = 2
	firstMap   = 3
)

// What is in the value of ControlMap.
const (
	ControlActive = 0 // 8 bytes: not 0 while probes are to run
	ControlStart  = 8 // 8 bytes: when the script began, as nsecs
	controlBytes  = 16
)

// Rare tells whether the programs at a point run seldom, and are given more time than a hit may take.
func (p *Point) Rare() bool {
	switch p.Provider {
	case "begin", "end", "interval", "self":
		return true
	}
	return false
}

// Map is a map of the script.
type Map struct {
	Name  string // with the @
	Key   []Type
	Value Type
	Index int // in Unit.Specs

	known   bool // it has been used with a key, or without
	evicts  bool // the oldest key, when it is full
	used    bool // something is assigned to it
	entries int
	uses    int // with a key, or by a loop or zero()
	plain   int // of these, those that add to a key that is a small number
	slots   int // how many such numbers there can be
	where   Span
}

// ActionKind is what a record asks for.
type ActionKind uint8

// The kinds of records.
const (
	PrintF ActionKind = iota
	PrintMap
	PrintValue
	ClearMap
	ZeroMap
	DeleteKey
	Exit
	ShowTime
	ErrorF
	WarnF
	System
	Cat
	Join
	Commit // what a speculation holds back is printed, or dropped
	Discard
	NoKey       // a key was not there, or could not be added, at this time
	Percentiles // a histogram is printed by powers of 2, and with percentiles
)

// Action is what a record means. A record begins with the action's number in 8 bytes; the values follow,
// each in whole words.
type Action struct {
	Kind   ActionKind
	Format string
	Args   []Type
	Map    *Map
	Span   Span
	Point  *Point
	Stamps bool   // of a record: after the number is the time, then the process and the thread, its name in 16 bytes, and the CPU
	Via    []Span // the calls of the macros that it is from
	Top    int    // of PrintMap: how many keys, 0: all
	Div    int    // of PrintMap: values are divided by this, 0: they are not
	Bytes  int    // of a record, with its head
	Head   int    // of which are before its values: the number, stamps, the speculation
}

// tooLong is how the verifier begins to say that there is too much to check, or to execute.
var tooLong = []string{"the states of the walk take", "BPF program is too large", "the walk compares and keeps", "a path executes"}

// Explain returns the error of the instruction that the verifier refused.
func (u *Unit) Explain(p *Compiled, pc int, why string) *Error {
	switch {
	case strings.HasPrefix(why, "infinite loop"):
		why = "this loop has no bound that can be seen"
	case p.loops && slices.ContainsFunc(tooLong, func(begin string) bool { return strings.HasPrefix(why, begin) }):
		why = "a loop ends too late here: each of its rounds is checked, and there are too many"
	}
	e := &Error{Source: u.Script.Source, Span: p.Point.Span, Why: why}
	if pc >= 0 && pc < len(p.spans) && p.spans[pc] != (Span{}) {
		e.Span = p.spans[pc]
	}
	return e
}
