// Package probe is what all kinds of probes have in common, whatever they break
// into: the account of hits (Ledger, Accounts), the list of those who want to be
// told (List), the flags of a probe (Flags), the place by its address (Table), and
// the way a request is refused (Refuse).
//
// It knows nothing of the machine. What a hit uses of it neither allocates nor
// locks, so it may be used in trap context; each function says so.
package probe
