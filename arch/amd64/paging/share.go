package paging

// A program's tables hold the kernel's mappings as well, for the supervisor only, so that neither a
// system call nor a trap has to load CR3. The kernel has the upper half of all addresses and programs
// the lower one, so half of the root's entries are the kernel's own, and lead to its tables. They
// do not change after boot, so copies stay right.
//
// Rejected: tables without the kernel and a change of CR3 at each entry. It took 8 µs
// for each system call under QEMU, whose TLB is then empty each time; a processor with
// PCIDs would pay less.

// UpperHalf copies the root's entries for the upper half of all addresses to root.
func (t *Tables) UpperHalf(root *[entries]uint64) {
	for i := uint64(entries / 2); i < entries; i++ {
		root[i] = t.Mem.Read64(t.Root + i*8)
	}
}
