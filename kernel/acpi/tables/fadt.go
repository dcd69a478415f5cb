package tables

// Names of bits of the FADT.
//
// Source: ACPI Specification 6.5, "Fixed ACPI Description Table Fixed Feature Flags" and "IA-PC Boot
// Architecture Flags".
var (
	fadtFlags = []string{"WBINVD", "WBINVD_FLUSH", "PROC_C1", "P_LVL2_UP", "PWR_BUTTON", "SLP_BUTTON", "FIX_RTC", "RTC_S4",
		"TMR_VAL_EXT", "DCK_CAP", "RESET_REG_SUP", "SEALED_CASE", "HEADLESS", "CPU_SW_SLP", "PCI_EXP_WAK", "USE_PLATFORM_CLOCK",
		"S4_RTC_STS_VALID", "REMOTE_POWER_ON_CAPABLE", "FORCE_APIC_CLUSTER_MODEL", "FORCE_APIC_PHYSICAL_DESTINATION_MODE",
		"HW_REDUCED_ACPI", "LOW_POWER_S0_IDLE_CAPABLE"}
	bootFlags = []string{"LEGACY_DEVICES", "8042", "VGA_NOT_PRESENT", "MSI_NOT_SUPPORTED", "PCIE_ASPM_CONTROLS", "CMOS_RTC_NOT_PRESENT"}
)

// profiles are what a board may be meant for.
var profiles = []string{"unspecified", "desktop", "mobile", "workstation", "enterprise server", "SOHO server", "appliance PC",
	"performance server", "tablet"}

// fadt prints the registers for power and time.
//
// Source: ACPI Specification 6.5, "Fixed ACPI Description Table (FADT)".
func (r *reader) fadt() {
	r.field("FACS", 36, 4, "%#x")
	r.field("DSDT", 40, 4, "%#x")
	if p, ok := r.t.number(45, 1); ok && p < uint64(len(profiles)) {
		r.line("  meant for: %s", profiles[p])
	}
	r.field("SCI", 46, 2, "ISA interrupt %d")
	r.field("SMI command", 48, 4, "port %#x")
	r.field("value to enable ACPI", 52, 1, "%#x")
	r.block("PM1a event", 56, 148, 88)
	r.block("PM1b event", 60, 160, 88)
	r.block("PM1a control", 64, 172, 89)
	r.block("PM1b control", 68, 184, 89)
	r.block("PM2 control", 72, 196, 90)
	r.block("PM timer", 76, 208, 91)
	r.block("GPE0", 80, 220, 92)
	r.block("GPE1", 84, 232, 93)
	r.field("century in the RTC", 108, 1, "%#x")
	r.flags("boot flags", 109, 2, bootFlags)
	r.flags("flags", 112, 4, fadtFlags)
	r.register("reset register", 116)
	r.field("value to reset", 128, 1, "%#x")
	r.register("sleep control", 244)
	r.register("sleep status", 256)
}

// block prints a block of registers: the wide field, or the old one with the length at size.
func (r *reader) block(name string, old, wide, size int) {
	if addr, ok := r.t.number(wide+4, 8); ok && addr != 0 {
		r.register(name, wide)
		return
	}
	port, _ := r.t.number(old, 4)
	n, _ := r.t.number(size, 1)
	if port != 0 {
		r.line("  %s: port %#x, %d bytes", name, port, n)
	}
}
