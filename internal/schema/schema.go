// Package schema tells whether JSON fits a schema, for tests.
package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// A Schema is what the schemas of this tree use of JSON Schema.
type Schema struct {
	Type       any                `json:"type"` // a string or several
	Properties map[string]*Schema `json:"properties"`
	Required   []string           `json:"required"`
	Additional json.RawMessage    `json:"additionalProperties"` // false, or a schema
	Items      *Schema            `json:"items"`
	Enum       []any              `json:"enum"`
	Const      any                `json:"const"`
	Pattern    string             `json:"pattern"`
	Minimum    *float64           `json:"minimum"`
	Ref        string             `json:"$ref"`
	Defs       map[string]*Schema `json:"$defs"`
}

// fits returns why v does not fit s, "" if it does; root has the definitions.
func (s *Schema) fits(root *Schema, at string, v any) string {
	if s.Ref != "" {
		return root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")].fits(root, at, v)
	}
	if s.Type != nil && !slices.Contains(strings.Fields(strings.Trim(fmt.Sprint(s.Type), "[]")), kind(v)) {
		return fmt.Sprintf("%s is %s, not %v", at, kind(v), s.Type)
	}
	if s.Const != nil && s.Const != v || s.Enum != nil && !slices.Contains(s.Enum, v) {
		return fmt.Sprintf("%s is %v", at, v)
	}
	switch v := v.(type) {
	case string:
		if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(v) {
			return fmt.Sprintf("%s is %q", at, v)
		}
	case float64:
		if s.Minimum != nil && v < *s.Minimum {
			return fmt.Sprintf("%s is %v", at, v)
		}
	case []any:
		for i, e := range v {
			if why := s.Items.fits(root, fmt.Sprintf("%s[%d]", at, i), e); why != "" {
				return why
			}
		}
	case map[string]any:
		return s.object(root, at, v)
	}
	return ""
}

func (s *Schema) object(root *Schema, at string, v map[string]any) string {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Sprintf("%s has no %s", at, name)
		}
	}
	for name, member := range v {
		of := s.Properties[name]
		if of == nil {
			if of = new(Schema); json.Unmarshal(s.Additional, of) != nil {
				return fmt.Sprintf("%s has %s", at, name)
			}
		}
		if why := of.fits(root, at+"."+name, member); why != "" {
			return why
		}
	}
	return ""
}

// kind is the name of v's type in a schema.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// Read reads a schema.
//
// Errors: those of reading the file, and of encoding/json.
func Read(file string) (*Schema, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := new(Schema)
	return s, json.Unmarshal(text, s)
}

// Fits returns why text is no JSON that fits s; "" if it is.
func (s *Schema) Fits(text []byte) string {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return fmt.Sprintf("%v: %s", err, text)
	}
	return s.fits(s, "it", v)
}
