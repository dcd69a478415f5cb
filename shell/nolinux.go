//go:build nolinux

package shell

// psPrograms lists no programs: there are none.
func (c *Context) psPrograms(string) (listed bool, err error) { return false, nil }
