package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A schema is what schema.json uses of JSON Schema.
type schema struct {
	Type       any                `json:"type"` // a string or several
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Additional json.RawMessage    `json:"additionalProperties"` // false, or a schema
	Items      *schema            `json:"items"`
	Enum       []any              `json:"enum"`
	Const      any                `json:"const"`
	Pattern    string             `json:"pattern"`
	Minimum    *float64           `json:"minimum"`
	Ref        string             `json:"$ref"`
	Defs       map[string]*schema `json:"$defs"`
}

// fits returns why v does not fit s, "" if it does; root has the definitions.
func (s *schema) fits(root *schema, at string, v any) string {
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

func (s *schema) object(root *schema, at string, v map[string]any) string {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Sprintf("%s has no %s", at, name)
		}
	}
	for name, member := range v {
		of := s.Properties[name]
		if of == nil {
			if of = new(schema); json.Unmarshal(s.Additional, of) != nil {
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

func readSchema(t *testing.T, file string) *schema {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := new(schema)
	if err := json.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestJSONFitsTheSchema(t *testing.T) {
	s := readSchema(t, "schema.json")
	for name, take := range takes {
		var b bytes.Buffer
		var v map[string]any
		if err := take.Recording().WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v: %s", name, err, b.Bytes())
		}
		if why := s.fits(s, name, v); why != "" {
			t.Error(why)
		}
		if v["explain"] != "TIERS\n\t\"quoted\"" {
			t.Errorf("explain: %q", v["explain"])
		}
	}
}

// TestSchemaRefuses: what does not fit is noticed.
func TestSchemaRefuses(t *testing.T) {
	s := readSchema(t, "schema.json")
	var b bytes.Buffer
	if err := stepped().Recording().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	for old, bad := range map[string]string{
		`"version":1`: `"version":2`, `"hit":2`: `"hit":"2"`, `"lost":0`: `"lost":-1`, `"stage":"trap"`: `"stage":"trapped"`,
		`"cpu":1,`: ``, `"complete":true`: `"complete":true,"more":1`, `"AX":"0x0"`: `"AX":0`, `"text":null`: `"text":"zz"`,
	} {
		var v any
		if err := json.Unmarshal([]byte(strings.Replace(b.String(), old, bad, 1)), &v); err != nil || !strings.Contains(b.String(), old) {
			t.Fatalf("%s: %v", old, err)
		}
		if s.fits(s, "", v) == "" {
			t.Errorf("%s fits", bad)
		}
	}
}
