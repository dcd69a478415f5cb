package calls

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	linux "sonde/linux/syscall"
	"sonde/probe/event"
)

// declaredText has a line for each call that has parameters: how Linux 6.1 declares them, as its tracepoints say it.
//
//go:embed declared.txt
var declaredText string

// declared is each call's line, by its name.
var declared = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(declaredText) {
		name, params, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all[name] = params
	}
	return all
})

// Parameters returns the parameters of a call that is here.
func Parameters(call string) (all []event.Param, ok bool) {
	manual, ok := linux.Parameters(call)
	if len(manual) == 0 {
		return nil, ok
	}
	for text := range strings.SplitSeq(declared()[call], ", ") {
		at := strings.LastIndexByte(text, ' ')
		all = append(all, event.Param{Type: text[:at], Name: text[at+1:]})
	}
	for i, name := range manual {
		also := []string{name}
		if name == "pathname" || name == "path" {
			also = append(also, "filename") // in most calls of Linux's
		}
		for _, name := range also {
			if !slices.ContainsFunc(all, func(p event.Param) bool { return p.Name == name }) {
				all[i].Also = append(all[i].Also, name)
			}
		}
	}
	return all, true
}
