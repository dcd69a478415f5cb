//go:build nolinux && !noprobe

package shell

import (
	"sonde/trace/run"
	sources "sonde/trace/source"
)

// psPrograms lists no programs: there are none.
func (c *Context) psPrograms(string) (listed bool, err error) { return false, nil }

func programFunctions(string, string, bool) []string { return nil }

// scripted: there are no programs.
var scripted sources.Programs

func callName(uint64) string { return "" }

func userNames(*Machine) (run.Users, func()) { return nil, func() {} }
