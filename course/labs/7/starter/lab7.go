//go:build tamago

// Package lab7 follows requests of programs into the kernel and back.
package lab7

import (
	"slices"

	"sonde/kernel/module"
	"sonde/probe/attach"
)

var (
	place = "/bin/clerk:main.Letter"
	links []*attach.Link
)

func init() {
	module.Register(&module.Module{
		Name:   "lab7",
		Doc:    "follow requests of a program: place=/bin/clerk:main.Letter",
		Params: module.Params{"place": module.String(&place, "the function that is called for each request")},
		Init:   start,
		Exit:   stop,
	})
}

// begins is called when the program's function is called. If it returns false, ends is not called when
// this call returns.
func begins(h *attach.Hit) bool {
	return true
}

// ends is called when the program's function returns.
func ends(h *attach.Hit) {
}

func start() error {
	return follow(ends, &attach.Options{Entry: begins, Block: true}, "ret:"+place)
}

// follow attaches a handler to the returns of functions. Options.Entry is called when they are entered.
func follow(ends attach.Handler, o *attach.Options, places ...string) error {
	l, err := attach.AttachTo(ends, o, places...)
	if err == nil {
		links = append(links, l)
	}
	return err
}

func stop() {
	for _, l := range slices.Backward(links) {
		l.Close()
	}
	links = nil
}
