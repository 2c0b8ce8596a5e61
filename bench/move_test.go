package main

import (
	"slices"
	"strings"
	"testing"
)

func TestAMoveThatChangedSomethingFails(t *testing.T) {
	filled := func() content {
		return content{lists: map[string]string{"export": "abc", "users": "{}", "keys": "{}"}, log: []byte("two\none\n")}
	}
	for name, c := range map[string]struct {
		want, got func(*content)
		different []string
	}{
		"the same with the entry of the move": {got: func(c *content) { c.log = []byte("moved\ntwo\none\n") }},
		"another export":                      {got: func(c *content) { c.lists["export"] = "abd" }, different: []string{"export of postgres"}},
		"no users":                            {got: func(c *content) { delete(c.lists, "users") }, different: []string{"users of postgres"}},
		"nothing there before":                {want: func(c *content) { c.lists["keys"] = "" }, got: func(c *content) { c.lists["keys"] = "" }, different: []string{"keys of postgres"}},
		"an earlier entry changed":            {got: func(c *content) { c.log = []byte("two\nONE\n") }, different: []string{"audit log of postgres"}},
		"the newest entry lost":               {got: func(c *content) { c.log = []byte("one\n") }, different: []string{"audit log of postgres"}},
		"no entries before":                   {want: func(c *content) { c.log = nil }, got: func(*content) {}, different: []string{"audit log of postgres"}},
	} {
		want, got := filled(), filled()
		if c.want != nil {
			c.want(&want)
		}
		c.got(&got)
		r := moved{Different: want.differences(got, "postgres")}
		if !slices.Equal(r.Different, c.different) {
			t.Errorf("%s: %q, want %q", name, r.Different, c.different)
		}
		if err := r.missed(); (err == nil) != (len(c.different) == 0) || (err != nil && !strings.Contains(err.Error(), c.different[0])) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
