package uprobes

import (
	"slices"

	"sonde/kernel/module"
	"sonde/kernel/printk"
)

func init() { module.OnUnload(forgetModule) }

// forgetModule unregisters the probes that a module has left behind, and logs each.
func forgetModule(name string) {
	left := leftBy(name)
	for _, m := range left {
		printk.Warn("module %s: left a user probe at %#x of process %d, which is unregistered", name, m.vaddr, m.pid)
	}
	drain(left)
	for _, at := range leftPairs(name) {
		printk.Warn("module %s: left a user probe at %#x of inode %d, which is unregistered", name, at.off, at.Number)
	}
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
