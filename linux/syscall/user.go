package syscall

import (
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/space"
)

// userEnd is the end of the addresses that a program can have.
const userEnd = 1<<47 - space.PageSize

// isUser reports whether a program could have n bytes at addr, mapped or not.
func isUser(addr, n uint64) bool { return n <= userEnd && addr <= userEnd-n }

// pathAt copies a path from the program.
//
// Errors: EFAULT, ENAMETOOLONG.
func pathAt(t *proc.Thread, addr uint64) (string, error) {
	return t.Memory().CString(addr, abi.PATH_MAX)
}

// get copies a structure from the program.
func get[T any](t *proc.Thread, addr uint64) (v T, err error) {
	err = t.Memory().In(abi.Bytes(&v), addr)
	return v, err
}

// put copies a structure to the program.
func put[T any](t *proc.Thread, addr uint64, v T) error {
	return t.Memory().Out(addr, abi.Bytes(&v))
}

// putIf is put if the address is not 0.
func putIf[T any](t *proc.Thread, addr uint64, v T) error {
	if addr == 0 {
		return nil
	}
	return put(t, addr, v)
}

// getIf is get if the address is not 0; ok says so.
func getIf[T any](t *proc.Thread, addr uint64) (v T, ok bool, err error) {
	if addr == 0 {
		return v, false, nil
	}
	v, err = get[T](t, addr)
	return v, err == nil, err
}

// timeIf is getIf for a time.
//
// Errors: EINVAL it is not valid.
func timeIf(t *proc.Thread, addr uint64) (abi.Timespec, bool, error) {
	ts, ok, err := getIf[abi.Timespec](t, addr)
	if ok && !ts.Valid() {
		return ts, false, sys.EINVAL
	}
	return ts, ok, err
}

// getSlice copies n structures from the program.
func getSlice[T any](t *proc.Thread, addr uint64, n int) ([]T, error) {
	all := make([]T, n)
	for i := range all {
		b := abi.Bytes(&all[i])
		if err := t.Memory().In(b, addr+uint64(i*len(b))); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// StringsMost bounds a program's arguments and environment together, in bytes.
//
// Source: Linux, execve(2), "Limits on size of arguments and environment".
const (
	StringsMost = 6 << 20 / 4
	stringMax   = 128 << 10
)

// StringsAt copies an array of strings, which ends with a null pointer. Room is how many bytes more are wanted.
//
// Errors: EFAULT, E2BIG.
func StringsAt(t *proc.Thread, addr uint64, room *int) (all []string, err error) {
	if addr == 0 {
		return nil, nil
	}
	for ; ; addr += 8 {
		p, err := get[uint64](t, addr)
		if err != nil {
			return nil, err
		}
		if p == 0 {
			return all, nil
		}
		s, err := t.Memory().CString(p, stringMax)
		if errnoIs(err, sys.ENAMETOOLONG) {
			err = sys.E2BIG
		}
		if err != nil {
			return nil, err
		}
		if *room -= len(s) + 1 + 8; *room < 0 {
			return nil, sys.E2BIG
		}
		all = append(all, s)
	}
}

// asInt converts an argument of type int: the upper half of the register is ignored.
func asInt(v uint64) int { return int(int32(v)) }

// done returns the result of a call that returns only an error.
func done(err error) (uint64, error) { return 0, err }
