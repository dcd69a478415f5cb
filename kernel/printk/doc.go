// Package printk is the kernel's log: short messages from any context go into one ring in
// memory, and from there to the console and to dmesg.
//
// A message may be logged from a trap or NMI handler that interrupted another message
// half-way on the same CPU, so almost nothing here waits:
//
//   - The text is formatted on the caller's stack first. A fault while doing so (a bad string, say)
//     leaves nothing half-made.
//   - A ticket from one atomic counter reserves consecutive slots of the ring; each slot carries its
//     ticket and one bit that says "finished". Readers copy a record and then check that it has not
//     changed.
//   - If a slot's previous owner has not finished (the ring wrapped around while it was interrupted),
//     the new record is dropped and counted.
//   - The console is taken with a try-lock. A caller that does not get it returns, because the owner
//     checks for new records once more after releasing it. Only if the owner never reaches an end does
//     the next caller wait, for one record, to take over (owner_trap.go).
//
// Rejected: a lock with interrupts off (it does not stop an NMI); one ring per CPU (dmesg
// would have to merge them, and order is what readers of a log need first); fmt (it
// allocates and calls methods of its arguments, which trap context does not allow).
//
// Locks: consoleOwner (a try-lock) is the only one; the console function is called under
// it.
package printk
