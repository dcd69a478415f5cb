package lang

// Script is a script as it was written.
type Script struct {
	Source  *Source
	Params  []string          // $1 and so on
	Named   map[string]string // --name=value, for getopt()
	Config  []Setting
	Maps    []MapDecl
	Structs []*Struct
	Enums   []*Enum
	Macros  []*Macro
	Probes  []*Probe

	known func(name string) *Struct // finds those that the script does not declare; nil: there are none
}

// Macro is "macro name(a, $b, @c) { … }": its body stands for its calls.
type Macro struct {
	Span
	Name   string
	Params []string // with the $ or @ of variables and maps
	Body   *Expr    // a BlockOf
}

// Setting is a line of config.
type Setting struct {
	Span
	Name  string
	Value string
}

// MapDecl is "let @name = hash(N);".
type MapDecl struct {
	Span
	Name    string
	Kind    string
	Entries uint64
}

// Probe is a list of attach points with what is done there.
type Probe struct {
	Points []*Point
	Filter *Expr // nil: none
	Body   []*Stmt
}

// Point is an attach point.
type Point struct {
	Span
	Text     string   // as it was written, with the provider's full name, and in quotes only what needs them
	Provider string   // its full name
	Options  []string // what stands between colons after it, without quotes
	Source   string   // of uprobe:FILE@SOURCE:LINE
	Loose    bool     // it is one of many that a pattern stands for: it may have no probe
}

// StmtKind is what a statement is.
type StmtKind uint8

// The kinds of statements.
const (
	Evaluate StmtKind = iota // Value
	Assign                   // Target Op Value; Op is "=", "+=" and so on
	Declare                  // let Target: Type = Value; Value may be nil
	If                       // Value, Body, Else
	While                    // Value, Body
	Unroll                   // Value times Body
	For                      // Target from Value to Limit, or over the keys of the map Value
	Block                    // Body
	Break
	Continue
	Return
)

// Stmt is a statement.
type Stmt struct {
	Span
	Kind       StmtKind
	Op         string
	Target     *Expr
	Value      *Expr
	Limit      *Expr
	Type       *TypeName
	Body, Else []*Stmt
	ended      bool // by a ";"
}

// ExprKind is what an expression is.
type ExprKind uint8

// The kinds of expressions.
const (
	Number    ExprKind = iota // Value
	Text                      // Name
	Variable                  // Name, with the $
	Parameter                 // Value; 0: how many there are
	MapValue                  // Name, with the @; Args are the parts of the key
	Builtin                   // Name
	Call                      // Name(Args)
	Unary                     // Op Args[0]
	Binary                    // Args[0] Op Args[1]
	Step                      // Op Args[0] or, with Postfix, Args[0] Op; Op is ++ or --
	Choice                    // Args[0] ? Args[1] : Args[2]
	Cast                      // (To)Args[0]
	Tuple                     // (Args), or (Names = Args)
	Field                     // Args[0].Name
	Index                     // Args[0][Args[1]]
	SizeOf                    // To, or Args[0]
	TypeOf                    // To, or Args[0]: what a macro is given
	BlockOf                   // Body, and then the value Args[0], if there is one
	OffsetOf                  // To, Name
)

// Expr is an expression. Compile fills in its type.
type Expr struct {
	Span
	Kind    ExprKind
	Name    string
	Op      string
	Value   uint64
	Args    []*Expr
	To      *TypeName
	Postfix bool
	Names   []string // of a Tuple: of its parts
	Body    []*Stmt
	Via     []Span // the calls of the macros that the expression is from

	Type Type
	m    *Map // of MapValue, and of functions that are given a map
}

// TypeName is a type as it is written in casts and declarations.
type TypeName struct {
	Span
	Name    string
	Struct  bool  // with "struct", "union" or "enum" before it
	Of      *Expr // typeof(Of)
	Stars   int
	Len     int // of an array or a string; -1: not given
	IsArray bool
	Inner   []int // of an array of arrays: how long these are, from outside
}
