package replay

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"sonde/internal/schema"
)

func readSchema(t *testing.T, file string) *schema.Schema {
	t.Helper()
	s, err := schema.Read(file)
	if err != nil {
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
		if why := s.Fits(b.Bytes()); why != "" {
			t.Errorf("%s: %s", name, why)
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
		if !strings.Contains(b.String(), old) {
			t.Fatal(old)
		}
		if why := s.Fits([]byte(strings.Replace(b.String(), old, bad, 1))); !strings.HasPrefix(why, "it ") && !strings.HasPrefix(why, "it.") {
			t.Errorf("%s: %q", bad, why)
		}
	}
}
