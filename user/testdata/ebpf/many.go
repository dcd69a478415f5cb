package main

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/cilium/ebpf"
)

// many makes maps that files keep: 10,000 small ones, and large ones until there is no room, twice.
func many() {
	const all = 10_000
	want("small maps", upTo(all, 1), all)
	first := upTo(all, 1<<17)
	want(fmt.Sprintf("there is room for %d of 1 MB", first), 10 < first && first < 1000, true)
	want("the second time", upTo(all, 1<<17), first)
}

// upTo makes at most n maps, as many as there is room for, which it counts and frees.
func upTo(n int, entries uint32) (made int) {
	var err error
	file := func(i int) string { return fmt.Sprintf("/sys/fs/bpf/many%d", i) }
	for ; made < n && err == nil; made++ {
		err = kept(entries, file(made))
	}
	if err != nil {
		made--
	}
	if errors.Is(err, syscall.ENOMEM) {
		err = nil
	}
	for i := range made {
		err = errors.Join(err, syscall.Unlink(file(i)))
	}
	check(err)
	return made
}

// kept makes an array that only a file keeps.
func kept(entries uint32, file string) error {
	path := append([]byte(file), 0)
	create := [4]uint32{uint32(ebpf.Array), 4, 8, entries}
	fd, _, errno := syscall.Syscall(numBPF, 0, uintptr(unsafe.Pointer(&create)), unsafe.Sizeof(create))
	if errno != 0 {
		return errno
	}
	defer syscall.Close(int(fd))
	pin := struct {
		path *byte
		fd   uint64
	}{&path[0], uint64(fd)}
	if _, _, errno = syscall.Syscall(numBPF, 6, uintptr(unsafe.Pointer(&pin)), unsafe.Sizeof(pin)); errno != 0 {
		return errno
	}
	return nil
}
