//go:build noprobe

package shell

// There are no programs, and no probes.

func (c *Context) psPrograms(string) (listed bool, err error) { return false, nil }

func programFunctions(string, string, bool) []string { return nil }

func inRing3(...byte) error { return errNoPrograms }
