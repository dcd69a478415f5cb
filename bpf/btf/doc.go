// Package btf reads, checks, prints and writes BTF, the description of types that eBPF objects and
// kernels carry.
//
// A section has a header, the types one after the other, and strings that end with a zero byte.
// The first type has id 1; id 0 is void. Types refer to each other by id, and to strings by their
// offset. All words are little-endian:
//
//	header: magic 0xeB9F, version 1, flags 0, its length; offset and length of types and of strings
//	type:   name | flag, kind, number of entries | size or type | what the kind adds
//	          4     1 bit     5           16             4          bytes
//
// [Read] takes what BTF_LOAD takes, [ReadObject] what is in the section .BTF of an object file.
// Both return a [Table] only if all its types are valid, so nothing that uses a Table has to
// check an id that comes from a type. [Builder] writes a section.
//
// The section .BTF.ext of an object says which function, which source line and which relocation
// belong to an instruction; [ReadExt] reads it.
//
// # What is checked
//
// What Linux checks: lengths and offsets, names, ids, that each type refers to kinds that make
// sense there, that members lie inside their structure and in order, and that no type contains
// itself. A chain of pointers, typedefs and qualifiers that leads back to itself is refused, too;
// a structure may point to itself. As in Linux, a type may contain at most 32 levels of types that
// come after it.
//
// # What is refused
//
// Big-endian sections, and sections that build on another one, as those of kernel modules do.
//
// Source: Linux, Documentation/bpf/btf.rst, "BPF Type Format (BTF)": "BTF Type and String Encoding",
// "Kernel Interface", "ELF File Format Interface".
package btf
