//go:build nolinux && !noprobe

package shell

import (
	"sonde/arch/amd64/goabi"
	"sonde/probe/attach"
	"sonde/trace/run"
	sources "sonde/trace/source"
)

// psPrograms lists no programs: there are none.
func (c *Context) psPrograms(string) (listed bool, err error) { return false, nil }

// callParameters: there are no system calls.
func callParameters(string) ([]sources.Param, bool) { return nil, false }

func programFunctions(string, string, bool) []string { return nil }

func programProbed(string, string, uint64) error { return errNoPrograms }

func programSymbol(string, string) (addr, size uint64, err error) { return 0, 0, errNoPrograms }

func programDebug(string) (map[string][]byte, error) { return nil, errNoPrograms }

func programConventions(string) func(attach.Site) goabi.Convention { return nil }

func programGoid(string) int { return 0 }

func callNumber(string) uint64 { return 0 }

func callNames(func(name string) bool) {}

func callName(uint64) string { return "" }

func userNames(*Machine) (run.Users, func()) { return nil, func() {} }
