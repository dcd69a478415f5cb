package uprobes

import (
	"fmt"
	"slices"

	"sonde/kernel/module"
)

func init() { module.OnUnload(forgetModule) }

// forgetModule is a function for module.OnUnload.
func forgetModule(name string) (left []string) {
	members := leftBy(name)
	for _, m := range members {
		left = append(left, fmt.Sprintf("a user probe at %#x of process %d", m.vaddr, m.pid))
	}
	drain(members)
	for _, at := range leftPairs(name) {
		left = append(left, fmt.Sprintf("a user probe at %#x of inode %d", at.off, at.Number))
	}
	return left
}

// leftBy removes these probes. Their handlers may still be running.
func leftBy(name string) (left []*member) {
	mu.Lock()
	defer mu.Unlock()
	for _, f := range slices.Clone(files) {
		if f.o.owner == name {
			left = append(left, removeFile(f)...)
		}
	}
	for _, tk := range tasks {
		for _, m := range slices.Clone(tk.members) {
			if m.owner == name || m.user.from(name) {
				tk.remove(m)
				left = append(left, m)
			}
		}
	}
	return left
}

// from reports whether the module of that name has registered k; k may be nil. mu held.
func (k *KprobeUser) from(name string) bool {
	for _, r := range byPair {
		if r.k == k && r.owner == name {
			return true
		}
	}
	return false
}

// leftPairs removes what the module has registered by inode and offset; none is inserted
// any more.
func leftPairs(name string) (left []pair) {
	mu.Lock()
	defer mu.Unlock()
	for at, r := range byPair {
		if r.owner == name {
			delete(byPair, at)
			left = append(left, at)
		}
	}
	return left
}
