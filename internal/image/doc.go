// Package image builds the bootable kernel image on the host.
//
// The stock Go linker writes an ordinary static Linux executable. It needs three additions
// before QEMU (or another PVH loader) or GRUB (or another Multiboot2 loader) can start it
// and the kernel can look up its own symbols. Finish adds them to the linked file:
//
//   - a PT_NOTE with the Xen note PHYS32_ENTRY, the address where a PVH loader
//     enters in 32-bit mode;
//   - a Multiboot2 header in the first page, with another such address;
//   - the symbol table (package kallsyms) as another read-only PT_LOAD after the bss, with its address
//     and size stored in a variable of the kernel; and after it, if the kernel links package
//     kallsyms/entries, the addresses that are entered in hidden ways.
//
// The program headers grow in place; the section headers, which the linker puts right after
// them, move to the end of the file. Nothing else moves, so gdb and objdump read the result
// like the input.
//
// Rejected: an external linker with a linker script (needs a C toolchain and
// loses Go's own layout); a second link with the table as a Go variable
// (addresses change between the links, and the build takes twice as long).
package image
