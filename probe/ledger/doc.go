// Package ledger has what all kinds of probes share: the counts of hits (Ledger, Accounts),
// the list of probes at a place (List), the flags of a probe (Flags), and the table of places
// by address (Table).
//
// It does not depend on the machine. What a hit uses neither allocates nor locks, so it may
// be used in trap context; each function says so.
package ledger
