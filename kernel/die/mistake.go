package die

import (
	"strings"

	"sonde/kallsyms"
)

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

// FindMistake reads the calls that were going on, return addresses from the innermost on. handler
// reports whether an instruction is the handler's own. why is how it was noticed, which says little: an allocation, for one, is noticed by a page
// fault inside the allocator. So the first call out of the handler's package that leads to
// something known is taken instead.
//
// Context: any; it allocates nothing.
func FindMistake(calls []uintptr, handler func(pc uintptr) bool, at look, why string) Mistake {
	m := Mistake{What: why}
	h := outermost(calls, handler)
	if h < 0 {
		return m
	}
	name, _, _ := at(calls[h] - 1)
	pkg, u := kallsyms.Package(name), h
	for i := range h {
		if name, _, _ := at(calls[i] - 1); kallsyms.Package(name) == pkg {
			u = i
			break
		}
	}
	_, m.File, m.Line = at(calls[u] - 1)
	m.File = strings.TrimPrefix(m.File, "sonde/")
	for i := u - 1; i >= 0; i-- {
		name, _, _ := at(calls[i] - 1)
		if i == u-1 && kallsyms.Package(name) != "runtime" {
			m.By = kallsyms.Base(name)
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

// outermost returns which of the calls is the handler's, -1 if none is.
func outermost(calls []uintptr, handler func(pc uintptr) bool) int {
	for i := len(calls) - 1; i >= 0; i-- {
		if handler(calls[i] - 1) {
			return i
		}
	}
	return -1
}

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
	{"runtime.mapdelete", "writes to a map", "delete"},
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
