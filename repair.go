package countersign

import (
	"bytes"
	"encoding/json"
)

// repairVersions puts quotes around bare versions, as in {"version": 1.2.3}, which some stores print and which is not
// JSON (spec 2, conventions). It changes nothing inside of strings and only values of members named "version"; valid
// JSON comes back as it is.
func repairVersions(b []byte) []byte {
	if json.Valid(b) {
		return b
	}
	var repaired []byte
	done := 0
	for i := 0; i < len(b); {
		if b[i] != '"' {
			i++
			continue
		}
		name := b[i:stringEnd(b, i)]
		i += len(name)
		if string(name) != `"version"` {
			continue
		}
		start, end, found := bareValue(b, i)
		if !found {
			continue
		}
		repaired = append(repaired, b[done:start]...)
		repaired = append(repaired, '"')
		repaired = append(repaired, b[start:end]...)
		repaired = append(repaired, '"')
		done, i = end, end
	}
	if repaired == nil {
		return b
	}
	return append(repaired, b[done:]...)
}

// stringEnd returns where the JSON string that begins at i ends: behind its closing quote, or at the end of b.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// bareValue finds the value of the member whose name ends at i, when it is bare text that is not JSON. It may be
// empty: a template without a value prints that.
func bareValue(b []byte, i int) (start, end int, found bool) {
	i = skipSpace(b, i)
	if i == len(b) || b[i] != ':' {
		return 0, 0, false
	}
	start = skipSpace(b, i+1)
	for end = start; end < len(b) && isVersionByte(b[end]); {
		end++
	}
	next := skipSpace(b, end)
	if next == len(b) || b[next] != ',' && b[next] != '}' {
		return 0, 0, false
	}
	return start, end, !json.Valid(b[start:end])
}

func skipSpace(b []byte, i int) int {
	return len(b) - len(bytes.TrimLeft(b[i:], " \t\n\r"))
}

func isVersionByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
		c == '.' || c == '-' || c == '+' || c == '_'
}
