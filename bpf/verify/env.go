package verify

import (
	"cmp"

	"sonde/bpf"
)

// Env is what a program finds where it runs.
type Env struct {
	Contexts map[bpf.Type]*Context
	Context  *Context // of the program that is checked, in place of its type's; nil: that
	Helpers  map[int32]*Helper
	Constant map[*bpf.MapSpec][]byte // the values of arrays of one that cannot change any more
	Limits   Limits
	LogLevel int  // as in Linux: 0 none, 1 the path that failed, 2 all paths
	Unsafe   bool // helpers that change programs may be called
}

// Limits bound the program and the walk. A field that is 0 stands for DefaultLimits'.
type Limits struct {
	Worst  int // executed instructions of one run, helpers by weight
	Steps  int // instructions walked
	States int // finished states that are kept for one instruction
	Memory int // bytes of all states
	Values int // registers and words of stack that are compared, kept, or learned of from a copy
}

// DefaultLimits are the limits if Env does not say otherwise. None is a time, so that the same programs are
// refused on every machine, however busy.
var DefaultLimits = Limits{Worst: 65536, Steps: 1_000_000, States: 64, Memory: 32 << 20, Values: 20_000_000}

func (l Limits) orDefaults() Limits {
	d := DefaultLimits
	return Limits{Worst: cmp.Or(l.Worst, d.Worst), Steps: cmp.Or(l.Steps, d.Steps), States: cmp.Or(l.States, d.States),
		Memory: cmp.Or(l.Memory, d.Memory), Values: cmp.Or(l.Values, d.Values)}
}

// Context is the memory that R1 points to at the start. It can only be loaded from.
type Context struct {
	Name   string
	Fields []Field
}

// Field is a part of a context, in bytes from its start. A load must lie inside one, aligned to
// its own size.
type Field struct {
	Off, Size int
	Widths    int // the sum of the sizes that loads may have: 1 + 2 + 4 + 8 for all
}

const allWidths = 1 + 2 + 4 + 8

// ArgKind is what a helper expects in one of R1 to R5.
type ArgKind uint8

// What helpers expect. A pointer to memory with a size is followed by the size.
const (
	NoArg          ArgKind = iota
	Number                 // any number
	MapArg                 // a map
	Key                    // memory of the map's key size, initialized
	Value                  // memory of the map's value size, initialized
	ValueOut               // the same, which the helper writes
	Memory                 // memory, initialized
	MemoryOrNull           // memory, initialized, or 0 with the size 0
	MemoryOut              // memory that the helper writes
	MemoryOutNull          // memory that the helper writes, or 0 with the size 0
	Size                   // at least 1
	SizeOrZero             // the size of memory
	KnownSize              // a constant above 0: how large a record is
	ContextArg             // the context, as the program got it
	Record                 // a reserved ring record
	Callback               // a function of the program
	StackOrNull            // memory on the stack or 0, which is handed to the callback
	String                 // on the stack, ending with a byte that is known to be 0
	Count                  // how often a callback is called
	KernelOrNumber         // an address in the kernel that need not be valid
	WordOut                // memory of 8 bytes that the helper writes
)

// Result is what a helper leaves in R0.
type Result uint8

// The results of helpers.
const (
	AnyNumber     Result = iota
	ErrorCode            // 0 or a negative errno
	SizeOrError          // up to the size that was given, or a negative errno
	ValueOrNull          // the map's value, or 0
	RecordOrNull         // a ring record of the size that was given, or 0
	KernelPointer        // to memory of the kernel; loads from it that fail give 0
	Cpu                  // 0 to 4095
	Nothing              // R0 counts as not written
)

// Helper is a function of the kernel.
type Helper struct {
	Name    string
	Args    [5]ArgKind
	Result  Result
	Weight  int           // its worst case in instructions, without what PerWord says
	PerWord int           // the same for each 8 bytes of the sizes and keys it is given
	Unsafe  bool          // it changes programs
	Changes bool          // what is in the map
	Maps    []bpf.MapType // the maps that it works on
	Words   uint32        // how many whole words the values of these maps must have at least
	Types   []bpf.Type    // of the programs that may call it; nil: all
}

// Checked is a program that may be executed.
type Checked struct {
	Program *bpf.Program
	Insns   []bpf.Insn
	Worst   int                  // the most instructions that a run executes, helpers by weight
	Steps   int                  // instructions walked
	States  int                  // the most states that were kept at once
	Stack   int                  // bytes of stack on the deepest chain of calls
	Frames  []int                // bytes of stack of each function, in the order of their first instructions
	Maps    map[int]*bpf.MapSpec // by PC of a helper's call: the map that it is always given
	Indices map[int]int64        // by PC of a helper's call: the key of 4 bytes that it is always given; -1: several
	Ctx     []CtxLoad            // by PC
	Probes  []int                // loads from memory of the kernel: where one fails, it must give 0
	Calls   []int                // the helpers that are called, ascending
	Log     string               // what was walked, as Env.LogLevel asks
}

// CtxLoad is an instruction that loads from the context.
type CtxLoad struct{ PC, Off, Size int }
