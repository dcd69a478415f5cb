package die

import "strings"

// A Mistake is what a handler did that none may do, as far as the calls tell that had led
// there when it was noticed.
type Mistake struct {
	What string // "allocates memory"
	By   string // what did it: "append", "fmt.Sprintf"; "" if What says it all
	File string // the line of the handler's package that it came from; "" if unknown
	Line int
}

// look returns function, file and line of an instruction; "" for no code of Go's.
type look func(pc uintptr) (function, file string, line int)

// FindMistake reads the calls that were going on, return addresses from the innermost on.
// why is how it was noticed, which says little: an allocation, for one, is noticed by a page
// fault inside the allocator. So the first call out of the handler's package that leads to
// something known is taken instead.
//
// Context: any; it allocates nothing.
func FindMistake(calls []uintptr, at look, why string) Mistake {
	m := Mistake{What: why}
	h := handlerOf(calls, at)
	if h < 0 {
		return m
	}
	name, _, _ := at(calls[h] - 1)
	pkg, u := packageOf(name), h
	for i := range h {
		if name, _, _ := at(calls[i] - 1); packageOf(name) == pkg {
			u = i
			break
		}
	}
	_, m.File, m.Line = at(calls[u] - 1)
	m.File = strings.TrimPrefix(m.File, "sonde/")
	for i := u - 1; i >= 0; i-- {
		name, _, _ := at(calls[i] - 1)
		if i == u-1 && packageOf(name) != "runtime" {
			m.By = shortName(name)
		}
		k := known(name)
		if k == nil {
			continue
		}
		if m.What != isPanic {
			m.What = k.what
		}
		if i == u-1 && k.by != own {
			m.By = k.by
		}
		break
	}
	return m
}

// isPanic is the runtime's word for a panic, which is known for sure.
const isPanic = "panic"

// handlerOf returns which of the calls is that of a handler: the one that what calls
// handlers has made, or the outermost.
func handlerOf(calls []uintptr, at look) int {
	for i, pc := range calls {
		if name, _, _ := at(pc - 1); begins(name, dispatchers) {
			return i - 1
		}
	}
	last := len(calls) - 1
	for last >= 0 {
		name, _, _ := at(calls[last] - 1)
		if name != "" && !begins(name, probing) {
			break
		}
		last--
	}
	return last
}

// dispatchers call handlers: kprobes' and kwatch's.
var dispatchers = []string{
	"sonde/kprobes.on", "sonde/kprobes.(*Kprobe).call", "sonde/kprobes.(*Kretprobe).declines", "sonde/kprobes.(*Kretprobe).callCareful", "sonde/kprobes.(*site).fixedUp",
	"sonde/kprobes.(*state).handlerFault", "sonde/kwatch.(*state).take", "sonde/kwatch.(*point).callCareful",
	"sonde/kernel/attach.(*Hit).Call",
}

// probing is where else a stack with a handler on it may begin.
var probing = []string{"sonde/kprobes.", "sonde/arch/amd64/trap."}

// own stands for the function's own name in deeds.
const own = "*"

// deeds are what no handler may do, by the beginnings of the names of functions that do it.
// The compiler calls those of package runtime: by is what the source has there.
var deeds = []struct{ begin, what, by string }{
	{"runtime.growslice", "allocates memory", "append"},
	{"runtime.makeslice", "allocates memory", "make of a slice"},
	{"runtime.makemap", "allocates memory", "make of a map"},
	{"runtime.makechan", "allocates memory", "make of a channel"},
	{"runtime.newobject", "allocates memory", "new, or a variable that outlives the call"},
	{"runtime.mallocgc", "allocates memory", "new, or a variable that outlives the call"},
	{"runtime.concatstring", "allocates memory", "adding strings"},
	{"runtime.convT", "allocates memory", "a value made an interface"},
	{"runtime.slicebytetostring", "allocates memory", "bytes made a string"},
	{"runtime.stringtoslicebyte", "allocates memory", "a string made bytes"},
	{"runtime.intstring", "allocates memory", "a number made a string"},
	{"fmt.", "allocates memory", own},
	{"sync.(*Pool).", "allocates memory", "sync.Pool"},
	{"runtime.mapassign", "writes to a map", ""},
	{"internal/runtime/maps.runtime_mapassign", "writes to a map", ""},
	{"runtime.mapdelete", "writes to a map", "delete"},
	{"internal/runtime/maps.runtime_mapdelete", "writes to a map", "delete"},
	{"runtime.mapclear", "writes to a map", "clear"},
	{"runtime.chansend", "channel operation", "send"},
	{"runtime.chanrecv", "channel operation", "receive"},
	{"runtime.closechan", "channel operation", "close"},
	{"runtime.selectgo", "channel operation", "select"},
	{"runtime.selectnb", "channel operation", "select"},
	{"time.Sleep", "sleeps", own},
	{"runtime.timeSleep", "sleeps", "time.Sleep"},
	{"runtime.newproc", "starts a goroutine", ""},
	{"runtime.deferproc", "allocates memory", "defer in a loop"},
}

func known(name string) *struct{ begin, what, by string } {
	for i := range deeds {
		if strings.HasPrefix(name, deeds[i].begin) {
			return &deeds[i]
		}
	}
	return nil
}

func begins(name string, list []string) bool {
	for _, b := range list {
		if strings.HasPrefix(name, b) {
			return true
		}
	}
	return false
}

// packageOf returns the path of the package that a function is of.
func packageOf(function string) string {
	folders := lastSlash(function) + 1
	if i := strings.IndexByte(function[folders:], '.'); i >= 0 {
		return function[:folders+i]
	}
	return function
}

// shortName is a function's name without the folders of its package.
func shortName(function string) string { return function[lastSlash(function)+1:] }

// lastSlash is where the last slash of a function's package is. Those of a type argument
// are none.
func lastSlash(function string) int {
	if i := strings.IndexByte(function, '['); i >= 0 {
		function = function[:i]
	}
	return strings.LastIndexByte(function, '/')
}
