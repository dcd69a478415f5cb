//go:build tamago

package kprobes

// Trap context. Where an instruction in a slot or in a detour belongs.

import "sonde/arch/amd64"

// inCopy reports whether ip is in a slot or in a detour.
func inCopy(ip uintptr) bool { return mach.slots.Contains(ip) || mach.detours.Contains(ip) }

// OriginalIP returns where the instruction at ip belongs: for a copy in a slot
// the probed address, or what is behind it; otherwise ip itself.
//
// Context: any.
func OriginalIP(ip uintptr) uintptr {
	switch {
	case mach.slots.Contains(ip):
		slot, addr := mach.slots.Find(ip)
		if addr == 0 {
			return ip
		}
		if s := sites.Find(addr); s != nil && ip != slot {
			return addr + uintptr(s.in.Len)
		}
		return addr
	case mach.detours.Contains(ip):
		_, addr := mach.detours.Find(ip)
		if addr == 0 {
			return ip
		}
		if s := sites.Find(addr); s != nil && s.detour != nil {
			return s.detour.Original(ip)
		}
		return addr
	}
	return ip
}

// toOriginal moves r from an instruction in a copy to the one it is a copy of.
func toOriginal(r *amd64.Regs) {
	ip := uintptr(r.IP)
	r.IP = uint64(OriginalIP(ip))
	if r.IP == uint64(ip) || !mach.detours.Contains(ip) {
		return
	}
	_, addr := mach.detours.Find(ip)
	if s := sites.Find(addr); s != nil && s.detour != nil && s.detour.Pushed(ip) {
		r.SP += 8
	}
}
