package lang

// basicTypes are the numbers of C and of the language.
var basicTypes = map[string]Type{
	"int8": integer(1, true), "int16": integer(2, true), "int32": integer(4, true), "int64": integer(8, true),
	"uint8": integer(1, false), "uint16": integer(2, false), "uint32": integer(4, false), "uint64": integer(8, false),
	"int8_t": integer(1, true), "int16_t": integer(2, true), "int32_t": integer(4, true), "int64_t": integer(8, true),
	"uint8_t": integer(1, false), "uint16_t": integer(2, false), "uint32_t": integer(4, false), "uint64_t": integer(8, false),
	"s8": integer(1, true), "s16": integer(2, true), "s32": integer(4, true), "s64": integer(8, true),
	"u8": integer(1, false), "u16": integer(2, false), "u32": integer(4, false), "u64": integer(8, false),
	"char": integer(1, true), "short": integer(2, true), "int": integer(4, true), "long": integer(8, true), "long long": integer(8, true), "long int": integer(8, true),
	"unsigned": integer(4, false), "signed": integer(4, true), "unsigned char": integer(1, false), "unsigned short": integer(2, false), "unsigned int": integer(4, false),
	"unsigned long": integer(8, false), "unsigned long long": integer(8, false), "size_t": integer(8, false), "ssize_t": integer(8, true), "uintptr_t": integer(8, false),
	"pid_t": integer(4, true), "uid_t": integer(4, false), "gid_t": integer(4, false), "bool": boolType, "void": voidType,
}

// isTypeName tells whether a word can only be a type.
func isTypeName(s string) bool {
	_, ok := basicTypes[s]
	return ok || s == "string" || s == "buffer"
}
