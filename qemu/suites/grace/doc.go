// Package grace tests that memory of probes is not used again, and no jump is
// written, while a CPU stands where it would go wrong: in a probe's slot, in a
// detour, in a region. Each case holds a CPU there, by an interrupt, and then
// starts what only a grace period can delay until the CPU has left. Package stop tests grace
// periods themselves.
package grace
