package uprobes

import (
	"fmt"
	"slices"
)

// forgetOwner is attach.Face's Forget.
func forgetOwner(name string) (forgotten []string) {
	members := forgottenBy(name)
	for _, m := range members {
		forgotten = append(forgotten, fmt.Sprintf("a user probe at %#x of process %d", m.vaddr, m.pid))
	}
	drain(members)
	for _, at := range forgottenPairs(name) {
		forgotten = append(forgotten, fmt.Sprintf("a user probe at %#x of inode %d", at.off, at.Number))
	}
	return forgotten
}

// forgottenBy removes these probes. Their handlers may still be running.
func forgottenBy(name string) (forgotten []*member) {
	mu.Lock()
	defer mu.Unlock()
	for _, f := range slices.Clone(files) {
		if f.o.owner == name {
			forgotten = append(forgotten, removeFile(f)...)
		}
	}
	for _, tk := range tasks {
		for _, m := range slices.Clone(tk.members) {
			if m.owner == name || m.user.from(name) {
				tk.remove(m)
				forgotten = append(forgotten, m)
			}
		}
	}
	return forgotten
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

// forgottenPairs removes what the module has registered by inode and offset; none is inserted
// any more.
func forgottenPairs(name string) (forgotten []pair) {
	mu.Lock()
	defer mu.Unlock()
	for at, r := range byPair {
		if r.owner == name {
			delete(byPair, at)
			forgotten = append(forgotten, at)
		}
	}
	return forgotten
}
