//go:build !tamago

package lab6

// Install replaces the code by a jump. With the breakpoint in place, and seen by all, no CPU begins the
// old code any more; when none is inside it either, the tail may be changed.
func Install(m Machine, jump [5]byte) {
	m.Write(0, Int3)
	m.Sync()
	m.Wait()
	m.Write(1, jump[1:]...)
	m.Sync()
	m.Write(0, jump[0])
}

// Remove puts back the code. Nobody can stand inside a jump, so there is nothing to wait for.
func Remove(m Machine, code [5]byte) {
	m.Write(0, Int3)
	m.Sync()
	m.Write(1, code[1:]...)
	m.Sync()
	m.Write(0, code[0])
}
