//go:build !tamago

package goruntime

// User is laid out as the runtime's, for tests on the host.
type User struct {
	Left uint64
	_    uint64
	Live uint32
	_    [11]uint32
	X87  [832]byte
}

// SaveX87 saves nothing here.
func SaveX87(u *User) { u.Live = 0 }
